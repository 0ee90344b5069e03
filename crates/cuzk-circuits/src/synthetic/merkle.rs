//! What the trees of a synthetic sector have in common: they are never stored whole.
//!
//! A tree is anything that can say the value of a node, given its level and index. Opening a leaf
//! asks it for the siblings on the way up and yields the proof type of the published crates.

use filecoin_hashers::{HashFunction, Hasher, PoseidonArity};
use storage_proofs_core::merkle::MerkleProof;

/// A Merkle tree whose nodes are computed or looked up on demand.
pub(super) trait MerkleNodes {
    /// Hash function of the tree.
    type Hasher: Hasher;

    /// Number of children of the nodes of each level above the leaves, from below.
    fn arities(&self) -> &[usize];

    /// Value of a node. Level 0 holds the leaves; the root is alone in level `arities().len()`.
    fn node(&self, level: usize, index: usize) -> <Self::Hasher as Hasher>::Domain;

    /// The commitment to all leaves.
    fn root(&self) -> <Self::Hasher as Hasher>::Domain {
        self.node(self.arities().len(), 0)
    }

    /// The proof that a leaf is where it is. The type's arities are those of the tree.
    fn open<Base, Sub, Top>(&self, leaf: usize) -> MerkleProof<Self::Hasher, Base, Sub, Top>
    where
        Base: 'static + PoseidonArity,
        Sub: 'static + PoseidonArity,
        Top: 'static + PoseidonArity,
    {
        let mut index = leaf;
        let path = self
            .arities()
            .iter()
            .enumerate()
            .map(|(level, &arity)| {
                let position = index % arity;
                let first = index - position;
                index /= arity;
                let siblings = (first..first + arity)
                    .filter(|&child| child != first + position)
                    .map(|child| self.node(level, child))
                    .collect();
                (siblings, position)
            })
            .collect();
        MerkleProof::from_parts(self.node(0, leaf), self.root(), path)
    }
}

/// Value of a node, given its children in order.
pub(super) fn parent<H: Hasher>(children: impl Iterator<Item = H::Domain>) -> H::Domain {
    let mut bytes = Vec::with_capacity(8 * 32);
    for child in children {
        bytes.extend_from_slice(child.as_ref());
    }
    <H::Function as HashFunction<H::Domain>>::hash(&bytes)
}
