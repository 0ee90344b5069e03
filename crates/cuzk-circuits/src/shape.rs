//! From a sector size, known at run time, to the type of its trees, known at compile time.
//!
//! Upstream's proofs and circuits are generic over the shape of the replica tree. Three shapes
//! cover the published sizes: octary base trees alone, eight of them, and two times eight.

use filecoin_hashers::PoseidonArity;
use filecoin_proofs::{SectorShape2KiB, SectorShape32GiB, SectorShape64GiB};
use storage_proofs_core::merkle::{MerkleProof, MerkleTreeTrait, get_base_tree_count};
use storage_proofs_update::constants::TreeRHasher;

/// A replica tree of one of the published shapes.
pub(crate) trait SectorTree: 'static + MerkleTreeTrait<Hasher = TreeRHasher> {}

impl<Tree: 'static + MerkleTreeTrait<Hasher = TreeRHasher>> SectorTree for Tree {}

/// 2 KiB, 8 MiB and 512 MiB: one base tree.
pub(crate) type BaseTree = SectorShape2KiB;
/// 32 GiB: eight base trees.
pub(crate) type SubTree = SectorShape32GiB;
/// 64 GiB: two times eight base trees.
pub(crate) type TopTree = SectorShape64GiB;

/// A path in a column or replica tree of a sector.
pub(crate) type ReplicaProof<Tree> = MerkleProof<
    TreeRHasher,
    <Tree as MerkleTreeTrait>::Arity,
    <Tree as MerkleTreeTrait>::SubTreeArity,
    <Tree as MerkleTreeTrait>::TopTreeArity,
>;

/// Evaluates an expression with a type alias for the tree of a sector size.
macro_rules! with_tree {
    ($size:expr, $tree:ident => $body:expr) => {
        match $size {
            $crate::SectorSize::Kib2 | $crate::SectorSize::Mib8 | $crate::SectorSize::Mib512 => {
                type $tree = $crate::shape::BaseTree;
                $body
            }
            $crate::SectorSize::Gib32 => {
                type $tree = $crate::shape::SubTree;
                $body
            }
            $crate::SectorSize::Gib64 => {
                type $tree = $crate::shape::TopTree;
                $body
            }
        }
    };
}

pub(crate) use with_tree;

/// Arities of the column and replica trees of a sector, from below; `num_leaves` is the number
/// of nodes of the sector.
pub(crate) fn replica_arities<Tree: SectorTree>(num_leaves: usize) -> Vec<usize> {
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
pub(crate) fn data_arities(num_leaves: usize) -> Vec<usize> {
    vec![2; num_leaves.ilog2() as usize]
}

fn arity<A: PoseidonArity>() -> usize {
    A::to_usize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SectorSize;

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
