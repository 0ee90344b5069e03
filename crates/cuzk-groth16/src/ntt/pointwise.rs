//! Steps between transforms: products entry by entry, and factors that are powers in bit-reversed order.

use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use super::reverse;
use crate::curve::Arithmetic;
#[cfg(target_arch = "x86_64")]
use crate::field::ifma::{pointwise, scalar::GROUP};

/// Entries per task.
const LOG_TASK: u32 = 10;
/// Rows and columns of a tile of [`scaled_difference_to_natural`], which fills 128 KiB.
const LOG_TILE: u32 = 6;
/// Bytes that a thread needs for a tile.
pub(super) const TILE_BYTES: usize = size_of::<Scalar>() << (2 * LOG_TILE);

/// Multiplies `values[i]` by `factors[i]`.
pub(super) fn multiply_each(arithmetic: Arithmetic, values: &mut [Scalar], factors: &[Scalar]) {
    let tasks = values
        .par_chunks_mut(1 << LOG_TASK)
        .zip(factors.par_chunks(1 << LOG_TASK));
    tasks.for_each(|(values, factors)| {
        #[cfg(target_arch = "x86_64")]
        if let (Some(ifma), 0) = (arithmetic.vectorized(), values.len() % GROUP) {
            return pointwise::multiply_each(ifma, values, factors);
        }
        for (value, factor) in values.iter_mut().zip(factors) {
            *value *= factor;
        }
    });
}

/// Multiplies the value at each position p by factor·base^rev(p).
pub(super) fn scale_by_reversed_powers(
    arithmetic: Arithmetic,
    values: &mut [Scalar],
    factor: Scalar,
    base: Scalar,
) {
    let bits = values.len().trailing_zeros();
    let low_bits = bits.min(LOG_TASK);
    let high_bits = bits - low_bits;
    let powers = reversed_powers(base, low_bits, high_bits);
    values
        .par_chunks_mut(1 << low_bits)
        .enumerate()
        .for_each(|(chunk, values)| {
            let common = factor * base.pow_vartime([reverse(chunk, high_bits) as u64]);
            #[cfg(target_arch = "x86_64")]
            if let (Some(ifma), 0) = (arithmetic.vectorized(), values.len() % GROUP) {
                return pointwise::scale_each(ifma, values, &powers, common);
            }
            for (value, power) in values.iter_mut().zip(&powers) {
                *value *= common * power;
            }
        });
}

/// factor·(base^rev(p)·a − c) at position rev(p), for the entries of `a` and `c` at every position p.
pub(super) fn scaled_difference_to_natural(
    arithmetic: Arithmetic,
    a: &[Scalar],
    c: &[Scalar],
    factor: Scalar,
    base: Scalar,
) -> Vec<Scalar> {
    // An index is row, middle and column; a tile is all rows and columns of one middle, and so is its image.
    let bits = a.len().trailing_zeros();
    let tile_bits = (bits / 2).min(LOG_TILE);
    let middle_bits = bits - 2 * tile_bits;
    let side = 1 << tile_bits;
    let column_powers = reversed_powers(base, tile_bits, middle_bits + tile_bits);
    let row_powers = reversed_powers(base, tile_bits, 0);
    let mut out = vec![Scalar::ZERO; a.len()];
    let mut images: Vec<Vec<&mut [Scalar]>> = Vec::new();
    images.resize_with(1 << middle_bits, || Vec::with_capacity(side));
    for (index, row) in out.chunks_exact_mut(side).enumerate() {
        images[index & ((1 << middle_bits) - 1)].push(row);
    }
    images
        .into_par_iter()
        .enumerate()
        .for_each(|(middle, image)| {
            let common = factor * base.pow_vartime([(middle << tile_bits) as u64]);
            let mut tile = vec![Scalar::ZERO; side * side];
            for (row, tile) in tile.chunks_exact_mut(side).enumerate() {
                let start = ((row << middle_bits) | reverse(middle, middle_bits)) << tile_bits;
                let (a, c) = (&a[start..start + side], &c[start..start + side]);
                let common = common * row_powers[row];
                scaled_difference(arithmetic, [a, c, &column_powers], common, factor, tile);
            }
            for (row, image) in image.into_iter().enumerate() {
                for (column, value) in image.iter_mut().enumerate() {
                    *value = tile[reverse(column, tile_bits) * side + reverse(row, tile_bits)];
                }
            }
        });
    out
}

/// `a[i]`·common·`powers[i]` − `c[i]`·factor into `out[i]`.
fn scaled_difference(
    arithmetic: Arithmetic,
    [a, c, powers]: [&[Scalar]; 3],
    common: Scalar,
    factor: Scalar,
    out: &mut [Scalar],
) {
    #[cfg(target_arch = "x86_64")]
    if let (Some(ifma), 0) = (arithmetic.vectorized(), out.len() % GROUP) {
        return pointwise::scaled_difference(ifma, [a, c, powers], common, factor, out);
    }
    for (((out, a), c), power) in out.iter_mut().zip(a).zip(c).zip(powers) {
        *out = a * common * power - c * factor;
    }
}

/// base^(rev(i)·2^`shift`) for all i of `bits` bits.
fn reversed_powers(base: Scalar, bits: u32, shift: u32) -> Vec<Scalar> {
    let step = base.pow_vartime([1_u64 << shift]);
    (0..1_usize << bits)
        .map(|index| step.pow_vartime([reverse(index, bits) as u64]))
        .collect()
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::*;

    const BOTH: [Arithmetic; 2] = [Arithmetic::Fastest, Arithmetic::Portable];

    fn random(log_size: u32, seed: u64) -> Vec<Scalar> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        (0..1 << log_size)
            .map(|_| Scalar::random(&mut rng))
            .collect()
    }

    #[test]
    fn powers_are_those_of_the_reversed_position() {
        let (factor, base) = (Scalar::from(5), Scalar::from(7));
        for log_size in [0, 1, 2, 3, 7, 11] {
            for arithmetic in BOTH {
                let values = random(log_size, 1);
                let mut scaled = values.clone();
                scale_by_reversed_powers(arithmetic, &mut scaled, factor, base);
                for (position, (scaled, value)) in scaled.iter().zip(&values).enumerate() {
                    let power = base.pow_vartime([reverse(position, log_size) as u64]);
                    assert_eq!(
                        *scaled,
                        value * factor * power,
                        "2^{log_size} at {position}"
                    );
                }
            }
        }
    }

    #[test]
    fn differences_go_to_the_reversed_position() {
        let (factor, base) = (Scalar::from(5), Scalar::from(7));
        for log_size in [0, 1, 2, 3, 6, 7, 12, 13, 15] {
            let (a, c) = (random(log_size, 2), random(log_size, 3));
            for arithmetic in BOTH {
                let out = scaled_difference_to_natural(arithmetic, &a, &c, factor, base);
                let mut power = factor;
                for (index, out) in out.iter().enumerate() {
                    let position = reverse(index, log_size);
                    assert_eq!(*out, a[position] * power - c[position] * factor);
                    power *= base;
                }
            }
        }
    }

    #[test]
    fn products_are_entry_by_entry_for_lengths_that_fill_no_vector_too() {
        for len in [0, 1, 7, 8, 9, 1024, 1500] {
            let (a, b) = (random(11, 4), random(11, 5));
            let (a, b) = (&a[..len], &b[..len]);
            for arithmetic in BOTH {
                let mut product = a.to_vec();
                multiply_each(arithmetic, &mut product, b);
                let expected = a.iter().zip(b).map(|(a, b)| a * b);
                assert!(product.iter().copied().eq(expected), "{len} entries");
            }
        }
    }
}
