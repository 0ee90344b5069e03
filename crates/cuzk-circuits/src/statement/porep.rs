//! A sector was sealed.

use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_hashers::sha256::Sha256Domain;
use filecoin_proofs::DefaultPieceHasher;
use rayon::prelude::*;
use storage_proofs_core::drgraph::Graph;
use storage_proofs_core::merkle::MerkleProofTrait;
use storage_proofs_porep::stacked::{
    Proof, PublicInputs, PublicParams, StackedCircuit, StackedCompound, StackedDrg,
};

use super::{Fault, Parts, UpstreamError, compound};
use crate::circuit::CircuitVisitor;
use crate::shape::SectorTree;
use crate::witness::{Block, BlockKinds, EmitError, PoRepBlocks, Values};

pub(crate) struct PoRepStatement<Tree: SectorTree> {
    pub(crate) params: PublicParams<Tree>,
    pub(crate) inputs: PublicInputs<PoseidonDomain, Sha256Domain>,
    pub(crate) partitions: Vec<Vec<Proof<Tree, DefaultPieceHasher>>>,
}

type Drg<'a, Tree> = StackedDrg<'a, Tree, DefaultPieceHasher>;
type Circuit<Tree> = StackedCircuit<Tree, DefaultPieceHasher>;
type Compound<Tree> = StackedCompound<Tree, DefaultPieceHasher>;

impl<Tree: SectorTree> Parts for PoRepStatement<Tree> {
    fn num_partitions(&self) -> usize {
        self.partitions.len()
    }

    fn public_inputs(&self, partition: usize) -> Result<Vec<Fr>, UpstreamError> {
        compound::public_inputs::<Drg<'_, Tree>, Circuit<Tree>, Compound<Tree>>(
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
        compound::visit::<Drg<'_, Tree>, Circuit<Tree>, Compound<Tree>, V>(
            &self.inputs,
            &self.params,
            (partition, &self.partitions[partition]),
            visitor,
        )
    }

    fn emit(&self, partition: usize, kinds: &BlockKinds) -> Result<Values, EmitError> {
        let blocks = PoRepBlocks::new(self, partition);
        kinds.emit(&blocks.map_err(EmitError::vanilla(Block::Prologue))?)
    }

    /// Upstream's verifier compares the roots and indices of the data and replica paths, but does
    /// not hash along them; the circuit does.
    fn first_fault(&self, partition: usize) -> Result<Option<Fault>, UpstreamError> {
        let graph = &self.params.graph;
        let challenges =
            self.inputs
                .challenges(&self.params.challenges, graph.size(), Some(partition));
        let index = self.partitions[partition]
            .par_iter()
            .zip(challenges)
            .position_first(|(proof, challenge)| {
                !(proof.comm_d_proofs.verify()
                    && proof.comm_r_last_proof.verify()
                    && proof.verify(&self.params, &self.inputs, challenge, graph))
            });
        Ok(index.map(|index| Fault {
            what: "challenge",
            index: index as u64,
        }))
    }
}
