//! New data was encoded into a sealed sector.

use blstrs::Scalar as Fr;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_update::{
    EmptySectorUpdate, EmptySectorUpdateCircuit, EmptySectorUpdateCompound, PartitionProof,
    PublicInputs, PublicParams,
};

use super::{Fault, Parts, UpstreamError};
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
        let inputs =
            <Compound<Tree> as CompoundProof<Scheme<Tree>, Circuit<Tree>>>::generate_public_inputs(
                &self.inputs,
                &self.params,
                Some(partition),
            )?;
        Ok(inputs)
    }

    fn visit<V: CircuitVisitor>(
        &self,
        partition: usize,
        visitor: V,
    ) -> Result<V::Output, UpstreamError> {
        let circuit = <Compound<Tree> as CompoundProof<Scheme<Tree>, Circuit<Tree>>>::circuit(
            &self.inputs,
            (),
            &self.partitions[partition],
            &self.params,
            Some(partition),
        )?;
        Ok(visitor.visit(circuit))
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
