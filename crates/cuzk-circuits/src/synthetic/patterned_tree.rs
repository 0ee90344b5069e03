//! A tree of billions of leaves of which all may be opened, because they repeat.
//!
//! The leaves fall into chunks of equal size. Within a chunk they repeat with a short period, so a
//! level of it has few distinct nodes; above the chunks the tree is small enough to be kept whole.
//! A periodic tree is the case of one chunk.

use filecoin_hashers::Hasher;
use rayon::prelude::*;

use super::merkle::{MerkleNodes, parent};

/// A Merkle tree over chunks of periodic leaves.
pub(super) struct PatternedTree<H: Hasher> {
    arities: Vec<usize>,
    levels: Vec<Level<H::Domain>>,
}

/// One level of the tree. Node `i` is in chunk `i / chunk_len` and equals entry
/// `i % chunk_len` of that chunk's pattern, which repeats.
struct Level<Node> {
    chunk_len: usize,
    patterns: Vec<Vec<Node>>,
}

impl<Node: Copy + Send + Sync> Level<Node> {
    fn node(&self, index: usize) -> Node {
        let pattern = &self.patterns[index / self.chunk_len];
        pattern[index % self.chunk_len % pattern.len()]
    }

    /// The level above, whose nodes have `arity` children.
    fn above(&self, arity: usize, hash: impl Fn(Vec<Node>) -> Node + Sync) -> Self {
        let children = |index: usize| index * arity..(index + 1) * arity;
        if self.chunk_len >= arity {
            let chunk_len = self.chunk_len / arity;
            let patterns = self.patterns.par_iter().map(|pattern| {
                (0..(pattern.len() / arity).max(1))
                    .map(|index| {
                        let of_pattern = |child: usize| pattern[child % pattern.len()];
                        hash(children(index).map(of_pattern).collect())
                    })
                    .collect()
            });
            Self {
                chunk_len,
                patterns: patterns.collect(),
            }
        } else {
            let chunk_len = self.chunk_len * self.patterns.len() / arity;
            let nodes = (0..chunk_len)
                .into_par_iter()
                .map(|index| hash(children(index).map(|child| self.node(child)).collect()));
            Self {
                chunk_len,
                patterns: vec![nodes.collect()],
            }
        }
    }
}

impl<H: Hasher> PatternedTree<H> {
    /// A tree with one chunk per pattern. Arities, chunk length, number of patterns and their
    /// equal lengths are powers of two, and a pattern is at most as long as a chunk.
    pub(super) fn new(arities: Vec<usize>, patterns: Vec<Vec<H::Domain>>) -> Self {
        let num_leaves: usize = arities.iter().product();
        let mut levels = vec![Level {
            chunk_len: num_leaves / patterns.len(),
            patterns,
        }];
        for (level, &arity) in arities.iter().enumerate() {
            let above = levels[level].above(arity, |nodes| parent::<H>(nodes.into_iter()));
            levels.push(above);
        }
        Self { arities, levels }
    }
}

impl<H: Hasher> MerkleNodes for PatternedTree<H> {
    type Hasher = H;

    fn arities(&self) -> &[usize] {
        &self.arities
    }

    fn node(&self, level: usize, index: usize) -> H::Domain {
        self.levels[level].node(index)
    }
}

#[cfg(test)]
mod tests {
    use super::super::draw::{Draws, Purpose};
    use super::*;
    use storage_proofs_update::constants::{TreeRDomain, TreeRHasher};

    fn pattern(chunk: usize, len: usize) -> Vec<TreeRDomain> {
        let draws = Draws::new("snap-2k".parse().expect("a circuit id"), 7);
        (0..len)
            .map(|index| draws.node(Purpose::DataNode, chunk, index))
            .collect()
    }

    fn dense_levels(arities: &[usize], leaves: Vec<TreeRDomain>) -> Vec<Vec<TreeRDomain>> {
        let mut levels = vec![leaves];
        for (level, &arity) in arities.iter().enumerate() {
            let above = levels[level]
                .chunks(arity)
                .map(|children| parent::<TreeRHasher>(children.iter().copied()))
                .collect();
            levels.push(above);
        }
        levels
    }

    fn is_dense(arities: &[usize], num_chunks: usize, period: usize) {
        let num_leaves: usize = arities.iter().product();
        let patterns: Vec<_> = (0..num_chunks).map(|i| pattern(i, period)).collect();
        let leaves = patterns
            .iter()
            .flat_map(|pattern| pattern.iter().cycle().take(num_leaves / num_chunks))
            .copied()
            .collect();
        let tree = PatternedTree::<TreeRHasher>::new(arities.to_vec(), patterns);
        for (level, nodes) in dense_levels(arities, leaves).iter().enumerate() {
            for (index, node) in nodes.iter().enumerate() {
                assert_eq!(tree.node(level, index), *node, "level {level} node {index}");
            }
        }
    }

    #[test]
    fn one_chunk_of_equal_leaves_is_the_dense_tree() {
        is_dense(&[8, 8, 8], 1, 1);
    }

    #[test]
    fn a_period_that_is_no_power_of_the_arity_is_the_dense_tree() {
        is_dense(&[8, 8, 8], 1, 16);
        is_dense(&[8, 8, 2], 1, 2);
    }

    #[test]
    fn chunks_that_are_no_subtrees_are_the_dense_tree() {
        is_dense(&[8, 8, 8], 2, 16);
        is_dense(&[8, 8, 8, 2], 16, 16);
        is_dense(&[8, 8, 4, 2], 32, 4);
    }

    #[test]
    fn chunks_that_are_subtrees_or_leaves_are_the_dense_tree() {
        is_dense(&[8, 8, 8], 8, 8);
        is_dense(&[8, 8], 64, 1);
        is_dense(&[8, 8], 16, 4);
    }
}
