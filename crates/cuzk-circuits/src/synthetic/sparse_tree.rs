//! A tree of billions of leaves of which only a few are ever opened.
//!
//! The given leaves and the nodes above them are hashed and kept. Every other node is the root of
//! a subtree that no proof enters, so it may have any value: it is drawn by level and index.

use std::collections::BTreeMap;

use filecoin_hashers::Hasher;
use rayon::prelude::*;

use super::draw::{Draws, Purpose};
use super::merkle::{MerkleNodes, parent};

/// A Merkle tree with few explicit leaves.
///
/// Only these may be opened: the value of any other leaf is free, and so is its parent's, hence
/// they do not fit together.
pub(super) struct SparseTree<H: Hasher> {
    arities: Vec<usize>,
    levels: Vec<BTreeMap<usize, H::Domain>>,
    elsewhere: Elsewhere,
}

/// The nodes with no explicit leaf below them.
pub(super) struct Elsewhere {
    /// Where they are drawn from.
    pub(super) draws: Draws,
    /// Which tree they are in.
    pub(super) purpose: Purpose,
}

impl Elsewhere {
    /// Value of a node.
    pub(super) fn node<Node: From<[u8; 32]>>(&self, level: usize, index: usize) -> Node {
        self.draws.node(self.purpose, level, index)
    }
}

impl<H: Hasher> SparseTree<H> {
    /// Hashes the way up from each leaf.
    pub(super) fn new(
        arities: Vec<usize>,
        leaves: BTreeMap<usize, H::Domain>,
        elsewhere: Elsewhere,
    ) -> Self {
        let mut levels = vec![leaves];
        for (level, &arity) in arities.iter().enumerate() {
            let below = &levels[level];
            let mut parents: Vec<_> = below.keys().map(|index| index / arity).collect();
            parents.dedup();
            let above = parents
                .into_par_iter()
                .map(|index| {
                    let children = index * arity..(index + 1) * arity;
                    let value = parent::<H>(children.map(|child| {
                        let known = below.get(&child).copied();
                        known.unwrap_or_else(|| elsewhere.node(level, child))
                    }));
                    (index, value)
                })
                .collect();
            levels.push(above);
        }
        Self {
            arities,
            levels,
            elsewhere,
        }
    }
}

impl<H: Hasher> MerkleNodes for SparseTree<H> {
    type Hasher = H;

    fn arities(&self) -> &[usize] {
        &self.arities
    }

    fn node(&self, level: usize, index: usize) -> H::Domain {
        let known = self.levels[level].get(&index).copied();
        known.unwrap_or_else(|| self.elsewhere.node(level, index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SectorSize;
    use crate::shape::{ReplicaProof, SectorTree, SubTree, TopTree, replica_arities, with_tree};
    use storage_proofs_core::merkle::MerkleProofTrait;
    use storage_proofs_update::constants::{TreeRDomain, TreeRHasher};

    fn draws() -> Draws {
        Draws::new("porep-2k".parse().expect("a circuit id"), 7)
    }

    fn leaf(index: usize) -> TreeRDomain {
        draws().node(Purpose::DataNode, 0, index)
    }

    fn elsewhere() -> Elsewhere {
        Elsewhere {
            draws: draws(),
            purpose: Purpose::ReplicaTree,
        }
    }

    fn sparse(arities: &[usize], leaves: &[usize]) -> SparseTree<TreeRHasher> {
        let leaves = leaves.iter().map(|&index| (index, leaf(index))).collect();
        SparseTree::new(arities.to_vec(), leaves, elsewhere())
    }

    fn opens<Tree: SectorTree>(num_leaves: usize, leaves: &[usize]) {
        let tree = sparse(&replica_arities::<Tree>(num_leaves), leaves);
        for &index in leaves {
            let proof: ReplicaProof<Tree> = tree.open(index);
            assert!(proof.verify(), "leaf {index}");
            assert!(proof.proves_challenge(index), "leaf {index}");
            assert_eq!(proof.path().len(), proof.expected_len(num_leaves));
            assert_eq!((proof.leaf(), proof.root()), (leaf(index), tree.root()));
        }
    }

    #[test]
    fn a_tree_without_leaves_is_its_default_root() {
        assert_eq!(sparse(&[8, 8], &[]).root(), elsewhere().node(2, 0));
    }

    #[test]
    fn a_tree_of_one_leaf_and_no_level_is_that_leaf() {
        assert_eq!(sparse(&[], &[0]).root(), leaf(0));
    }

    #[test]
    fn the_first_and_the_last_leaf_open_at_every_size() {
        for size in SectorSize::ALL {
            let num_leaves = size.num_nodes();
            let leaves = [0, 1, num_leaves / 2, num_leaves - 1];
            with_tree!(size, Tree => opens::<Tree>(num_leaves, &leaves));
        }
    }

    #[test]
    fn sub_and_top_levels_open_too() {
        opens::<SubTree>(1 << 9, &[0, 63, 64, 511]);
        opens::<TopTree>(1 << 10, &[0, 511, 512, 1023]);
    }

    #[test]
    fn a_full_tree_is_the_dense_tree() {
        let all: Vec<_> = (0..64).collect();
        let dense = parent::<TreeRHasher>(
            (0..8).map(|i| parent::<TreeRHasher>((8 * i..8 * i + 8).map(leaf))),
        );
        assert_eq!(sparse(&[8, 8], &all).root(), dense);
    }

    #[test]
    fn another_leaf_makes_another_root() {
        assert_ne!(
            sparse(&[8, 8], &[3, 40]).root(),
            sparse(&[8, 8], &[3, 41]).root()
        );
    }
}
