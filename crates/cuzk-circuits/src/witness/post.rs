//! Proofs of spacetime: one block per sector, and no prologue.

use blstrs::Scalar as Fr;
use ff::Field;
use storage_proofs_core::util::NODE_SIZE;
use storage_proofs_post::fallback::PublicParams;

use super::blocks::Blocks;
use super::error::VanillaFault;
use super::path::{Path, TreeHash, element, expect_count};
use super::poseidon;
use super::sink::Sink;
use crate::shape::{SectorTree, replica_arities};
use crate::statement::{OpenedSector, PoStStatement};

/// A partition of a proof of spacetime, or the circuit without values.
pub(crate) struct PoStBlocks<'a, Tree: SectorTree> {
    tree_arities: Vec<usize>,
    num_challenges: usize,
    /// Sectors of the circuit; those beyond the partition's own repeat the last one.
    num_sectors: usize,
    /// `None` where values do not matter.
    sectors: Option<&'a [OpenedSector<Tree>]>,
}

/// The values of one sector.
struct Sector {
    comm_r: Fr,
    comm_c: Fr,
    comm_r_last: Fr,
    paths: Vec<Path>,
}

impl<'a, Tree: SectorTree> PoStBlocks<'a, Tree> {
    /// The circuit without values.
    pub(super) fn blank(params: &PublicParams) -> Self {
        let num_nodes = params.sector_size as usize / NODE_SIZE;
        Self {
            tree_arities: replica_arities::<Tree>(num_nodes),
            num_challenges: params.challenge_count,
            num_sectors: params.sector_count,
            sectors: None,
        }
    }

    /// A partition with its values.
    pub(crate) fn new(statement: &'a PoStStatement<Tree>, partition: usize) -> Self {
        Self {
            sectors: Some(statement.partition(partition)),
            ..Self::blank(&statement.params)
        }
    }

    fn read(&self, sector: &OpenedSector<Tree>) -> Result<Sector, VanillaFault> {
        let proof = &sector.proof;
        expect_count("paths", self.num_challenges, proof.inclusion_proofs.len())?;
        let paths = proof
            .inclusion_proofs
            .iter()
            .map(|path| Path::read(path, &self.tree_arities, "replica path"));
        Ok(Sector {
            comm_r: element(&sector.comm_r, "replica commitment")?,
            comm_c: element(&proof.comm_c, "root of the column tree")?,
            comm_r_last: element(&proof.comm_r_last, "root of the replica tree")?,
            paths: paths.collect::<Result<_, _>>()?,
        })
    }

    fn blank_sector(&self) -> Sector {
        let paths = (0..self.num_challenges).map(|_| Path::blank(&self.tree_arities));
        Sector {
            comm_r: Fr::ZERO,
            comm_c: Fr::ZERO,
            comm_r_last: Fr::ZERO,
            paths: paths.collect(),
        }
    }
}

impl<Tree: SectorTree> Blocks for PoStBlocks<'_, Tree> {
    type Shared = ();

    fn num_blocks(&self) -> usize {
        self.num_sectors
    }

    fn num_distinct(&self) -> usize {
        self.sectors.map_or(self.num_sectors, <[_]>::len)
    }

    fn prologue<S: Sink>(&self, _: &mut S) -> Result<(), VanillaFault> {
        Ok(())
    }

    fn block<S: Sink>(&self, (): &(), index: usize, sink: &mut S) -> Result<(), VanillaFault> {
        let sector = match self.sectors {
            Some(sectors) => self.read(&sectors[index])?,
            None => self.blank_sector(),
        };
        sector.emit(sink);
        Ok(())
    }
}

impl Sector {
    fn emit<S: Sink>(&self, sink: &mut S) {
        for commitment in [self.comm_r_last, self.comm_c, self.comm_r] {
            sink.push_wide(commitment);
        }
        sink.push_input(self.comm_r);
        poseidon::BINARY.hash(sink, &[self.comm_c, self.comm_r_last]);
        for path in &self.paths {
            sink.push_wide(path.leaf);
            path.include(sink, TreeHash::Poseidon, path.leaf);
        }
    }
}
