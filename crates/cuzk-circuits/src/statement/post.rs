//! Sectors are still stored.
//!
//! Upstream proves the partitions of a call from one list of all its sectors. A request holds one
//! partition of a call most of the time, so the inputs and circuits are put together here from
//! upstream's parts, padded as upstream does: the last sector is repeated.

use std::iter::{repeat_n, repeat_with};

use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonDomain;
use rayon::prelude::*;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_core::sector::SectorId;
use storage_proofs_post::fallback::{
    FallbackPoSt, FallbackPoStCircuit, Proof, PublicInputs, PublicParams, PublicSector, Sector,
    SectorProof,
};

use super::{Fault, Parts, UpstreamError};
use crate::circuit::CircuitVisitor;
use crate::shape::SectorTree;
use crate::witness::{BlockKinds, EmitError, PoStBlocks, Values};

pub(crate) struct PoStStatement<Tree: SectorTree> {
    pub(crate) params: PublicParams,
    pub(crate) randomness: PoseidonDomain,
    pub(crate) prover_id: PoseidonDomain,
    /// Place of the first of `sectors` among the sectors of the client's call.
    pub(crate) first_sector: usize,
    pub(crate) sectors: Vec<OpenedSector<Tree>>,
}

/// What the circuit calls a sector: a replica commitment and some opened leaves.
pub(crate) struct OpenedSector<Tree: SectorTree> {
    pub(crate) id: SectorId,
    pub(crate) comm_r: PoseidonDomain,
    pub(crate) challenges: Vec<u64>,
    pub(crate) proof: SectorProof<Tree::Proof>,
}

impl<Tree: SectorTree> OpenedSector<Tree> {
    fn public(&self) -> PublicSector<PoseidonDomain> {
        PublicSector {
            id: self.id,
            comm_r: self.comm_r,
        }
    }
}

impl<Tree: SectorTree> PoStStatement<Tree> {
    /// The sectors of a partition, without its padding.
    pub(crate) fn partition(&self, partition: usize) -> &[OpenedSector<Tree>] {
        let per_partition = self.params.sector_count;
        let start = partition * per_partition;
        let end = (start + per_partition).min(self.sectors.len());
        &self.sectors[start..end]
    }
}

impl<Tree: SectorTree> Parts for PoStStatement<Tree> {
    fn num_partitions(&self) -> usize {
        self.sectors.len().div_ceil(self.params.sector_count)
    }

    fn public_inputs(&self, partition: usize) -> Result<Vec<Fr>, UpstreamError> {
        let sectors = self.partition(partition);
        let padding = self.params.sector_count - sectors.len();
        let inputs = sectors
            .iter()
            .chain(repeat_n(&sectors[sectors.len() - 1], padding))
            .flat_map(|sector| {
                let comm_r = Fr::from(sector.comm_r);
                std::iter::once(comm_r).chain(sector.challenges.iter().copied().map(Fr::from))
            })
            .collect();
        Ok(inputs)
    }

    fn visit<V: CircuitVisitor>(
        &self,
        partition: usize,
        visitor: V,
    ) -> Result<V::Output, UpstreamError> {
        let opened = self.partition(partition);
        let mut sectors = opened
            .iter()
            .map(|sector| Sector::circuit(&sector.public(), &sector.proof))
            .collect::<Result<Vec<_>, _>>()?;
        let last = sectors[sectors.len() - 1].clone();
        let padding = self.params.sector_count - sectors.len();
        sectors.extend(repeat_with(|| last.clone()).take(padding));
        Ok(visitor.visit(FallbackPoStCircuit::<Tree> {
            prover_id: Some(self.prover_id.into()),
            sectors,
        }))
    }

    fn emit(&self, partition: usize, kinds: &BlockKinds) -> Result<Values, EmitError> {
        kinds.emit(&PoStBlocks::new(self, partition))
    }

    /// Verifies sector by sector, as partitions of one sector each, so that it can be named.
    fn first_fault(&self, partition: usize) -> Result<Option<Fault>, UpstreamError> {
        let first = self.first_sector + partition * self.params.sector_count;
        let one_sector = PublicParams {
            sector_count: 1,
            ..self.params.clone()
        };
        let verdicts: Vec<_> = self
            .partition(partition)
            .par_iter()
            .enumerate()
            .map(|(index, sector)| {
                let inputs = PublicInputs {
                    randomness: self.randomness,
                    prover_id: self.prover_id,
                    sectors: vec![sector.public()],
                    k: Some(first + index),
                };
                let proof = Proof {
                    sectors: vec![sector.proof.clone()],
                };
                FallbackPoSt::<Tree>::verify(&one_sector, &inputs, &proof)
            })
            .collect();
        for (verdict, sector) in verdicts.into_iter().zip(self.partition(partition)) {
            if !verdict? {
                return Ok(Some(Fault {
                    what: "sector",
                    index: sector.id.into(),
                }));
            }
        }
        Ok(None)
    }
}
