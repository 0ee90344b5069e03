//! New data was encoded into a sealed sector.

use blstrs::Scalar as Fr;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_update::{
    EmptySectorUpdate, EmptySectorUpdateCircuit, EmptySectorUpdateCompound, PartitionProof,
    PublicInputs, PublicParams,
};

use super::{Fault, Parts, UpstreamError, compound};
use crate::circuit::CircuitVisitor;
use crate::shape::SectorTree;
use crate::witness::{Block, BlockKinds, EmitError, UpdateBlocks, Values};

pub(crate) struct UpdateStatement<Tree: SectorTree> {
    pub(crate) params: PublicParams,
    pub(crate) inputs: PublicInputs,
    pub(crate) partitions: Vec<PartitionProof<Tree>>,
}

type Scheme<Tree> = EmptySectorUpdate<Tree>;
type Circuit<Tree> = EmptySectorUpdateCircuit<Tree>;
type Compound<Tree> = EmptySectorUpdateCompound<Tree>;

impl<Tree: SectorTree> Parts for UpdateStatement<Tree> {
    fn num_partitions(&self) -> usize {
        self.partitions.len()
    }

    fn public_inputs(&self, partition: usize) -> Result<Vec<Fr>, UpstreamError> {
        compound::public_inputs::<Scheme<Tree>, Circuit<Tree>, Compound<Tree>>(
            &self.inputs,
            &self.params,
            partition,
        )
    }

    fn visit<V: CircuitVisitor>(
        &self,
        partition: usize,
        visitor: V,
    ) -> Result<V::Output, UpstreamError> {
        compound::visit::<Scheme<Tree>, Circuit<Tree>, Compound<Tree>, V>(
            &self.inputs,
            &self.params,
            (partition, &self.partitions[partition]),
            visitor,
        )
    }

    fn emit(&self, partition: usize, kinds: &BlockKinds) -> Result<Values, EmitError> {
        let public = self.public_inputs(partition).map_err(EmitError::Upstream)?;
        let blocks = UpdateBlocks::new(&self.params, &public, &self.partitions[partition]);
        kinds.emit(&blocks.map_err(EmitError::vanilla(Block::Prologue))?)
    }

    fn first_fault(&self, partition: usize) -> Result<Option<Fault>, UpstreamError> {
        let inputs = Scheme::<Tree>::with_partition(self.inputs.clone(), Some(partition));
        let valid = Scheme::<Tree>::verify(&self.params, &inputs, &self.partitions[partition])?;
        Ok((!valid).then_some(Fault {
            what: "partition",
            index: partition as u64,
        }))
    }
}
