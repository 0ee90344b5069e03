//! From a sector size, known at run time, to the type of its trees, known at compile time.
//!
//! Upstream's proofs and circuits are generic over the shape of the replica tree. Three shapes
//! cover the published sizes: octary base trees alone, eight of them, and two times eight.

use filecoin_proofs::{SectorShape2KiB, SectorShape32GiB, SectorShape64GiB};
use storage_proofs_core::merkle::MerkleTreeTrait;
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
