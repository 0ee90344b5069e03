//! What the trees of a synthetic sector have in common: they are never stored whole.
//!
//! A tree is anything that can say the value of a node, given its level and index. Opening a leaf
//! asks it for the siblings on the way up and yields the proof type of the published crates.

use filecoin_hashers::{HashFunction, Hasher, PoseidonArity};
use storage_proofs_core::merkle::{MerkleProof, MerkleTreeTrait, get_base_tree_count};
use storage_proofs_update::constants::TreeRHasher;

use crate::shape::SectorTree;

/// A path in a column or replica tree of a sector.
pub(super) type ReplicaProof<Tree> = MerkleProof<
    TreeRHasher,
    <Tree as MerkleTreeTrait>::Arity,
    <Tree as MerkleTreeTrait>::SubTreeArity,
    <Tree as MerkleTreeTrait>::TopTreeArity,
>;

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

/// Arities of the column and replica trees of a sector, from below; `num_leaves` is the number
/// of nodes of the sector.
pub(super) fn replica_arities<Tree: SectorTree>(num_leaves: usize) -> Vec<usize> {
    let base = arity::<Tree::Arity>();
    let num_base_leaves = num_leaves / get_base_tree_count::<Tree>();
    let mut arities = vec![base; num_base_leaves.ilog(base) as usize];
    arities.extend(
        [arity::<Tree::SubTreeArity>(), arity::<Tree::TopTreeArity>()]
            .into_iter()
            .filter(|&arity| arity > 0),
    );
    arities
}

/// Arities of the data tree of a sector, which is binary.
pub(super) fn data_arities(num_leaves: usize) -> Vec<usize> {
    vec![2; num_leaves.ilog2() as usize]
}

fn arity<A: PoseidonArity>() -> usize {
    A::to_usize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SectorSize;
    use crate::shape::with_tree;

    #[test]
    fn the_arities_of_every_size_multiply_to_its_number_of_nodes() {
        for size in SectorSize::ALL {
            let arities = with_tree!(size, Tree => replica_arities::<Tree>(size.num_nodes()));
            assert_eq!(arities.iter().product::<usize>(), size.num_nodes());
            assert_eq!(
                data_arities(size.num_nodes()).iter().product::<usize>(),
                size.num_nodes()
            );
        }
    }

    #[test]
    fn the_largest_tree_has_all_three_kinds_of_level() {
        let arities = with_tree!(SectorSize::Gib64, Tree => replica_arities::<Tree>(1 << 31));
        assert_eq!(arities, [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 2]);
    }
}
