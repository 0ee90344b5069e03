//! Poseidon as upstream's legacy circuit lays it out.
//!
//! The circuit allocates the input of each S-box (but for the first round's, which are the
//! preimage), its square and its fourth power, the output with the next round key added, and the
//! digest. Everything between two S-boxes is linear and allocates nothing.
//! <https://eprint.iacr.org/2019/458>, with the sparse matrices of its appendix B.

use std::sync::LazyLock;

use blstrs::Scalar as Fr;
use cuzk_r1cs::ProductSum;
use ff::Field;
use filecoin_hashers::{POSEIDON_CONSTANTS_2, POSEIDON_CONSTANTS_8, POSEIDON_CONSTANTS_11};
use neptune::Arity;
use neptune::poseidon::PoseidonConstants;
use storage_proofs_update::constants::POSEIDON_CONSTANTS_GEN_RANDOMNESS;

use super::sink::Sink;

/// Nodes of binary trees, and commitments made of two.
pub(super) static BINARY: LazyLock<Poseidon<3>> =
    LazyLock::new(|| Poseidon::new(&*POSEIDON_CONSTANTS_2));
/// Nodes of octary trees.
pub(super) static OCTARY: LazyLock<Poseidon<9>> =
    LazyLock::new(|| Poseidon::new(&*POSEIDON_CONSTANTS_8));
/// Columns of eleven labels.
pub(super) static COLUMN: LazyLock<Poseidon<12>> =
    LazyLock::new(|| Poseidon::new(&*POSEIDON_CONSTANTS_11));
/// Randomness of sector updates.
pub(super) static RANDOMNESS: LazyLock<Poseidon<3>> =
    LazyLock::new(|| Poseidon::new(&*POSEIDON_CONSTANTS_GEN_RANDOMNESS));

/// The permutation of `WIDTH` elements, one more than the arity, with its constants in the order
/// of their use.
pub(super) struct Poseidon<const WIDTH: usize> {
    /// First element after its S-box, which is the same in all hashes.
    tag: Fr,
    /// Added before the S-boxes of the first round; the key of the tag is not used.
    pre_keys: [Fr; WIDTH],
    /// One per S-box, but for those of the last round.
    full_keys_before: Vec<[Fr; WIDTH]>,
    partial_keys: Vec<Fr>,
    full_keys_after: Vec<[Fr; WIDTH]>,
    /// Rows are the coefficients of one output.
    dense: [[Fr; WIDTH]; WIDTH],
    /// The matrix of the last full round before the partial ones.
    pre_sparse: [[Fr; WIDTH]; WIDTH],
    sparse: Vec<Sparse<WIDTH>>,
}

/// A matrix whose first row and column are dense and which is the identity elsewhere.
struct Sparse<const WIDTH: usize> {
    /// Coefficients of the first output.
    row: [Fr; WIDTH],
    /// What the first input adds to the others; the first entry is not used.
    column: [Fr; WIDTH],
}

impl<const WIDTH: usize> Poseidon<WIDTH> {
    /// Rearranges upstream's constants, whose arity is `WIDTH - 1`.
    fn new<A: Arity<Fr>>(constants: &PoseidonConstants<Fr, A>) -> Self {
        let half = constants.half_full_rounds;
        let mut keys = constants.compressed_round_constants.iter().copied();
        let mut next = || keys.next().expect("upstream checks the number of keys");
        let pre_keys: [Fr; WIDTH] = std::array::from_fn(|_| next());
        let full_keys_before: Vec<[Fr; WIDTH]> =
            (0..half).map(|_| std::array::from_fn(|_| next())).collect();
        let partial_keys = (0..constants.partial_rounds).map(|_| next()).collect();
        let full_keys_after = (0..half - 1)
            .map(|_| std::array::from_fn(|_| next()))
            .collect();
        let transposed = |matrix: &[Vec<Fr>]| {
            std::array::from_fn(|output| std::array::from_fn(|input| matrix[input][output]))
        };
        let sparse = constants.sparse_matrixes.iter().map(|matrix| Sparse {
            row: std::array::from_fn(|input| matrix.w_hat[input]),
            column: std::array::from_fn(|output| match output.checked_sub(1) {
                Some(index) => matrix.v_rest[index],
                None => Fr::ZERO,
            }),
        });
        let tag = quintic(constants.domain_tag + pre_keys[0]) + full_keys_before[0][0];
        Self {
            tag,
            pre_keys,
            full_keys_before,
            partial_keys,
            full_keys_after,
            dense: transposed(&constants.mds_matrices.m),
            pre_sparse: transposed(&constants.pre_sparse_matrix),
            sparse: sparse.collect(),
        }
    }

    /// The digest of `WIDTH - 1` elements. `preimage` yields as many.
    pub(super) fn hash<S: Sink>(&self, sink: &mut S, preimage: &[Fr]) -> Fr {
        debug_assert_eq!(preimage.len() + 1, WIDTH);
        let mut state = [self.tag; WIDTH];
        let first_keys = &self.full_keys_before[0];
        for (i, element) in preimage.iter().enumerate() {
            let input = element + self.pre_keys[i + 1];
            state[i + 1] = powers(sink, input) + first_keys[i + 1];
            sink.push_wide(state[i + 1]);
        }
        let last_before = self.full_keys_before.len() - 1;
        for (round, keys) in self.full_keys_before.iter().enumerate() {
            if round > 0 {
                full_s_boxes(sink, &mut state, keys);
            }
            let matrix = if round == last_before {
                &self.pre_sparse
            } else {
                &self.dense
            };
            state = product(matrix, &state);
        }
        for (&key, matrix) in self.partial_keys.iter().zip(&self.sparse) {
            state[0] = s_box(sink, state[0], key);
            state = sparse_product(matrix, &state);
        }
        for keys in &self.full_keys_after {
            full_s_boxes(sink, &mut state, keys);
            state = product(&self.dense, &state);
        }
        full_s_boxes(sink, &mut state, &[Fr::ZERO; WIDTH]);
        // The other outputs are not part of the digest.
        let digest = dot(&self.dense[1], &state);
        sink.push_wide(digest);
        digest
    }
}

/// Allocates square and fourth power, and returns the fifth, which is not allocated as such.
fn powers<S: Sink>(sink: &mut S, input: Fr) -> Fr {
    let square = input.square();
    sink.push_wide(square);
    let fourth = square.square();
    sink.push_wide(fourth);
    fourth * input
}

/// An S-box whose input is a linear combination.
fn s_box<S: Sink>(sink: &mut S, input: Fr, key: Fr) -> Fr {
    sink.push_wide(input);
    let output = powers(sink, input) + key;
    sink.push_wide(output);
    output
}

fn full_s_boxes<S: Sink, const WIDTH: usize>(
    sink: &mut S,
    state: &mut [Fr; WIDTH],
    keys: &[Fr; WIDTH],
) {
    for (element, key) in state.iter_mut().zip(keys) {
        *element = s_box(sink, *element, *key);
    }
}

fn quintic(input: Fr) -> Fr {
    input.square().square() * input
}

fn dot<const WIDTH: usize>(a: &[Fr; WIDTH], b: &[Fr; WIDTH]) -> Fr {
    let mut sum = ProductSum::default();
    for (a, b) in a.iter().zip(b) {
        sum.add(*a, *b);
    }
    sum.value()
}

fn product<const WIDTH: usize>(matrix: &[[Fr; WIDTH]; WIDTH], state: &[Fr; WIDTH]) -> [Fr; WIDTH] {
    std::array::from_fn(|output| dot(&matrix[output], state))
}

fn sparse_product<const WIDTH: usize>(matrix: &Sparse<WIDTH>, state: &[Fr; WIDTH]) -> [Fr; WIDTH] {
    let first = state[0];
    std::array::from_fn(|output| match output {
        0 => dot(&matrix.row, state),
        _ => state[output] + first * matrix.column[output],
    })
}
