//! A sector update without a sector.
//!
//! Challenges depend on `comm_r_new`, so the new replica has to exist as a whole before anything is
//! challenged. It can: with periodic data and a periodic old replica, the new one is periodic
//! wherever the encoding's multiplier rho is constant, which is in each of 2^h chunks.

use blstrs::Scalar as Fr;
use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_hashers::{HashFunction, Hasher};
use rayon::prelude::*;
use storage_proofs_update::constants::{TreeDDomain, TreeRDomain, TreeRHasher, h_default};
use storage_proofs_update::{
    ChallengeProof, Challenges, PartitionProof, PublicInputs, PublicParams, phi, rho,
};

use super::data::{PATTERN_LEN, SectorData};
use super::draw::{Draws, Purpose};
use super::merkle::MerkleNodes;
use super::patterned_tree::PatternedTree;
use crate::SectorSize;
use crate::registry::update_params;
use crate::shape::{SectorTree, replica_arities};

/// A sector update: its commitments, and its vanilla proof of each partition.
pub(super) struct Update<Tree: SectorTree> {
    /// For partition 0.
    pub(super) inputs: PublicInputs,
    pub(super) partitions: Vec<PartitionProof<Tree>>,
}

/// Makes the update of a sector whose old replica was drawn.
pub(super) fn update<Tree: SectorTree>(
    size: SectorSize,
    data: SectorData,
    draws: &Draws,
) -> Update<Tree> {
    let params = update_params(size);
    let h = h_default(params.sector_nodes);
    let comm_c = draws.node(Purpose::CommC, 0, 0);
    let comm_r = |root| <TreeRHasher as Hasher>::Function::hash2(&comm_c, &root);
    let old_pattern: Vec<TreeRDomain> = (0..PATTERN_LEN)
        .map(|index| draws.node(Purpose::OldReplicaNode, index, 0))
        .collect();
    let arities = replica_arities::<Tree>(params.sector_nodes);
    let r_old = PatternedTree::<TreeRHasher>::new(arities.clone(), vec![old_pattern.clone()]);
    let d_new = data.tree(draws, params.sector_nodes);
    let (comm_r_old, comm_d_new) = (comm_r(r_old.root()), d_new.root());
    let new_patterns = new_replica(h, &old_pattern, &data.pattern(draws), |chunk| {
        rho(&phi(&comm_d_new, &comm_r_old), chunk)
    });
    let trees = Trees {
        r_old,
        d_new,
        r_new: PatternedTree::new(arities, new_patterns),
    };
    let comm_r_new = comm_r(trees.r_new.root());
    Update {
        inputs: PublicInputs {
            k: 0,
            comm_r_old,
            comm_d_new,
            comm_r_new,
            h,
        },
        partitions: (0..params.partition_count)
            .map(|partition| PartitionProof {
                comm_c,
                apex_leafs: trees.apex_leaves(&params, partition),
                challenge_proofs: Challenges::new(params.sector_nodes, comm_r_new, partition)
                    .collect::<Vec<_>>()
                    .into_par_iter()
                    .map(|node| trees.prove(node as usize))
                    .collect(),
            })
            .collect(),
    }
}

/// The pattern of the new replica in each chunk of nodes whose index has the same `h` high bits.
fn new_replica(
    h: usize,
    old: &[TreeRDomain],
    data: &[TreeDDomain],
    rho: impl Fn(u32) -> Fr + Sync,
) -> Vec<Vec<TreeRDomain>> {
    (0..1_u32 << h)
        .into_par_iter()
        .map(|chunk| {
            let rho = rho(chunk);
            old.iter()
                .zip(data.iter().cycle())
                .map(|(&old, &data)| (Fr::from(old) + Fr::from(data) * rho).into())
                .collect()
        })
        .collect()
}

/// Everything that challenges are answered from.
struct Trees {
    r_old: PatternedTree<TreeRHasher>,
    d_new: PatternedTree<Sha256Hasher>,
    r_new: PatternedTree<TreeRHasher>,
}

impl Trees {
    fn prove<Tree: SectorTree>(&self, node: usize) -> ChallengeProof<Tree> {
        ChallengeProof {
            proof_r_old: self.r_old.open(node),
            proof_d_new: self.d_new.open(node),
            proof_r_new: self.r_new.open(node),
        }
    }

    /// The nodes of the data tree from which a partition's circuit rebuilds its upper part.
    fn apex_leaves(&self, params: &PublicParams, partition: usize) -> Vec<TreeDDomain> {
        let level = params.challenge_bit_len - params.partition_bit_len - params.apex_leaf_bit_len;
        let first = partition * params.apex_leaf_count;
        (first..first + params.apex_leaf_count)
            .map(|index| self.d_new.node(level, index))
            .collect()
    }
}
