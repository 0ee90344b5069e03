//! What is stored in a synthetic sector.
//!
//! `comm_d` has to be known before there are challenges, and it commits to all of the data. So the
//! data is short and repeats: its tree has few distinct nodes at any sector size.

use storage_proofs_update::constants::TreeDHasher;

use super::draw::{Draws, Purpose};
use super::patterned_tree::PatternedTree;
use crate::shape::data_arities;

/// Number of 32-byte nodes after which random data and an old replica repeat.
pub(super) const PATTERN_LEN: usize = 16;

/// What a synthetic sector stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SectorData {
    /// Zeros, as in a sector that was sealed empty.
    #[default]
    Zero,
    /// Sixteen pseudo-random nodes of 254 bits, repeated.
    Random,
}

impl SectorData {
    /// The nodes that repeat; their number is a power of two, at most [`PATTERN_LEN`].
    pub(super) fn pattern<Node: From<[u8; 32]>>(self, draws: &Draws) -> Vec<Node> {
        match self {
            Self::Zero => vec![Node::from([0; 32])],
            Self::Random => (0..PATTERN_LEN)
                .map(|index| draws.node(Purpose::DataNode, index, 0))
                .collect(),
        }
    }

    /// The data tree of a sector with `num_nodes` nodes.
    pub(super) fn tree(self, draws: &Draws, num_nodes: usize) -> PatternedTree<TreeDHasher> {
        PatternedTree::new(data_arities(num_nodes), vec![self.pattern(draws)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::merkle::MerkleNodes;
    use super::*;
    use crate::SectorSize;
    use filecoin_proofs_api::seal::compute_comm_d;
    use filecoin_proofs_api::{PaddedBytesAmount, PieceInfo, RegisteredSealProof};

    #[test]
    fn comm_d_of_two_equal_pieces_is_what_upstream_computes() {
        let draws = Draws::new("porep-2k".parse().expect("a circuit id"), 7);
        for data in [SectorData::Zero, SectorData::Random] {
            let half = data.tree(&draws, SectorSize::Kib2.num_nodes() / 2).root().0;
            let size = PaddedBytesAmount(1024).into();
            let piece = PieceInfo::new(half, size).expect("the commitment is not zero");
            let comm_d = compute_comm_d(
                RegisteredSealProof::StackedDrg2KiBV1_1,
                &[piece.clone(), piece],
            )
            .expect("two pieces fill the sector");
            assert_eq!(data.tree(&draws, 64).root().0, comm_d);
        }
    }

    #[test]
    fn zeros_at_32_gib_have_the_commitment_of_every_empty_sector() {
        let draws = Draws::new("porep-32g".parse().expect("a circuit id"), 7);
        let comm_d = SectorData::Zero
            .tree(&draws, SectorSize::Gib32.num_nodes())
            .root();
        assert_eq!(
            comm_d.0[..8],
            [0x07, 0x7e, 0x5f, 0xde, 0x35, 0xc5, 0x0a, 0x93]
        );
    }
}
