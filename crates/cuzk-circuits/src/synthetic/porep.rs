//! A replication proof without replication.
//!
//! Challenges depend on the replica id, which depends on the data, but on nothing that sealing
//! computes. So they are known first, and only what they touch is made: the labels of challenged
//! nodes, the columns of these and of their parents, and the encoded nodes. Everything else in
//! the column and replica trees is free.

use std::collections::BTreeSet;

use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_hashers::{HashFunction, Hasher};
use filecoin_proofs::{Commitment, PoRepConfig, SealCommitPhase1Output, VanillaSealProof};
use rayon::prelude::*;
use storage_proofs_core::drgraph::Graph;
use storage_proofs_core::error::Result as UpstreamResult;
use storage_proofs_porep::stacked::{
    Column, ColumnProof, EncodingProof, LabelingProof, Proof, PublicInputs, PublicParams,
    ReplicaColumnProof, generate_replica_id,
};
use storage_proofs_update::constants::{TreeRDomain, TreeRHasher};

use super::data::SectorData;
use super::draw::{Draws, Purpose};
use super::labels::Columns;
use super::merkle::MerkleNodes;
use super::patterned_tree::PatternedTree;

use super::sparse_tree::{Elsewhere, SparseTree};
use crate::registry::stacked_params;
use crate::shape::{ReplicaProof, SectorTree, replica_arities};

/// What identifies the replica.
pub(super) struct Replica {
    pub(super) prover_id: [u8; 32],
    pub(super) sector_number: u64,
    pub(super) data: SectorData,
}

/// Makes what the first phase of the commitment gives for a sealed sector, for all partitions.
///
/// # Errors
/// What upstream's graph says, which cannot happen for a published sector size.
pub(super) fn phase1_output<Tree: SectorTree>(
    config: &PoRepConfig,
    replica: &Replica,
    draws: &Draws,
) -> UpstreamResult<SealCommitPhase1Output<Tree>> {
    let params = stacked_params::<Tree>(config);
    let num_nodes = params.graph.size();
    let data_tree = replica.data.tree(draws, num_nodes);
    let comm_d = data_tree.root();
    let ticket: [u8; 32] = draws.node(Purpose::Ticket, 0, 0);
    let seed: [u8; 32] = draws.node(Purpose::InteractiveSeed, 0, 0);
    let replica_id = generate_replica_id::<TreeRHasher, _>(
        &replica.prover_id,
        replica.sector_number,
        &ticket,
        comm_d,
        &config.porep_id,
    );
    let partitions = challenges(&params, replica_id, seed, usize::from(config.partitions));
    let challenged: BTreeSet<_> = partitions.iter().flatten().copied().collect();
    let columns = Columns::new(
        &params.graph,
        &replica_id,
        &challenged,
        params.num_layers,
        draws,
    )?;
    let trees = Trees {
        column: column_tree::<Tree>(&columns, num_nodes, draws)?,
        replica: replica_tree::<Tree>(&columns, &challenged, &data_tree, draws),
        data: data_tree,
        columns,
    };
    let comm_r =
        <TreeRHasher as Hasher>::Function::hash2(&trees.column.root(), &trees.replica.root());
    let vanilla_proofs = partitions
        .iter()
        .map(|challenges| {
            let proofs = challenges.par_iter().map(|&node| trees.prove::<Tree>(node));
            proofs.collect::<UpstreamResult<Vec<_>>>()
        })
        .collect::<UpstreamResult<Vec<_>>>()?;
    Ok(SealCommitPhase1Output {
        vanilla_proofs,
        comm_r: Commitment::from(comm_r),
        comm_d: Commitment::from(comm_d),
        replica_id,
        seed,
        ticket,
    })
}

/// Challenged nodes of each partition.
fn challenges<Tree: SectorTree>(
    params: &PublicParams<Tree>,
    replica_id: TreeRDomain,
    seed: [u8; 32],
    num_partitions: usize,
) -> Vec<Vec<u32>> {
    let inputs = PublicInputs::<TreeRDomain, <Sha256Hasher as Hasher>::Domain> {
        replica_id,
        seed: Some(seed),
        tau: None,
        k: None,
    };
    (0..num_partitions)
        .map(|partition| {
            inputs
                .challenges(&params.challenges, params.graph.size(), Some(partition))
                .into_iter()
                .map(|node| node as u32)
                .collect()
        })
        .collect()
}

/// The tree over the hashes of all columns; its root is `comm_c`.
fn column_tree<Tree: SectorTree>(
    columns: &Columns,
    num_nodes: usize,
    draws: &Draws,
) -> UpstreamResult<SparseTree<TreeRHasher>> {
    let all: Vec<_> = columns.iter().collect();
    let leaves = all
        .into_par_iter()
        .map(|(node, labels)| {
            let column = Column::<TreeRHasher>::new(node, labels.to_vec())?;
            Ok((node as usize, column.hash().into()))
        })
        .collect::<UpstreamResult<_>>()?;
    let elsewhere = Elsewhere {
        draws: draws.clone(),
        purpose: Purpose::ColumnTree,
    };
    Ok(SparseTree::new(
        replica_arities::<Tree>(num_nodes),
        leaves,
        elsewhere,
    ))
}

/// The tree over the encoded nodes; its root is `comm_r_last`.
fn replica_tree<Tree: SectorTree>(
    columns: &Columns,
    challenged: &BTreeSet<u32>,
    data: &PatternedTree<Sha256Hasher>,
    draws: &Draws,
) -> SparseTree<TreeRHasher> {
    let num_nodes = data.arities().iter().product();
    let leaves = challenged
        .iter()
        .filter_map(|&node| {
            let key = *columns.of(node).last()?;
            Some((
                node as usize,
                encode(key, data.node(0, node as usize).into()),
            ))
        })
        .collect();
    let elsewhere = Elsewhere {
        draws: draws.clone(),
        purpose: Purpose::ReplicaTree,
    };
    SparseTree::new(replica_arities::<Tree>(num_nodes), leaves, elsewhere)
}

/// A node of the replica: key plus data, as field elements.
fn encode(key: TreeRDomain, data: blstrs::Scalar) -> TreeRDomain {
    (blstrs::Scalar::from(key) + data).into()
}

/// Everything that challenges are answered from.
struct Trees {
    data: PatternedTree<Sha256Hasher>,
    column: SparseTree<TreeRHasher>,
    replica: SparseTree<TreeRHasher>,
    columns: Columns,
}

impl Trees {
    /// Answers the challenge of one node.
    fn prove<Tree: SectorTree>(&self, node: u32) -> UpstreamResult<VanillaSealProof<Tree>> {
        let (drg, expander) = self.columns.parents(node);
        let open_all = |nodes: &[u32]| {
            let proofs = nodes.iter().map(|&node| self.open_column::<Tree>(node));
            proofs.collect::<UpstreamResult<Vec<_>>>()
        };
        let num_layers = self.columns.of(node).len();
        let labelings: Vec<_> = (1..=num_layers)
            .map(|layer| (layer as u32, self.columns.parent_labels(node, layer)))
            .collect();
        let (last_layer, last_parents) = labelings.last().cloned().unwrap_or_default();
        Ok(Proof {
            comm_d_proofs: self.data.open(node as usize),
            comm_r_last_proof: self.replica.open(node as usize),
            replica_column_proofs: ReplicaColumnProof {
                c_x: self.open_column::<Tree>(node)?,
                drg_parents: open_all(drg)?,
                exp_parents: open_all(expander)?,
            },
            labeling_proofs: labelings
                .into_iter()
                .map(|(layer, labels)| LabelingProof::new(layer, node.into(), labels))
                .collect(),
            encoding_proof: EncodingProof::new(last_layer, node.into(), last_parents),
        })
    }

    fn open_column<Tree: SectorTree>(
        &self,
        node: u32,
    ) -> UpstreamResult<ColumnProof<ReplicaProof<Tree>>> {
        let column = Column::new(node, self.columns.of(node).to_vec())?;
        ColumnProof::from_column(column, self.column.open(node as usize))
    }
}
