//! The butterfly networks, depth first, so that all but the first levels of a large transform run within a cache.
//!
//! A block of 2m coefficients stands for a polynomial modulo X^2m − z². Splitting it gives the polynomial modulo
//! X^m − z in its lower half and modulo X^m + z in its upper half; after all levels position p holds the value at
//! ω^rev(p). The transposed network undoes nothing: it takes coefficients in bit-reversed order to values in natural
//! order. Two levels are done per pass over memory.

use blstrs::Scalar;
use rayon::prelude::*;

use super::Twiddles;

/// Blocks of this size are done level by level within the first-level cache.
const LEAF: usize = 1 << 9;
/// Blocks below this size are not worth another thread.
const PARALLEL: usize = 1 << 13;
/// Elements of each quarter that one task takes.
const TASK: usize = 1 << 11;

/// (Σᵢ xᵢ·ω^(ij)) at position rev(j) for xᵢ at position i, in place; `twiddles` are those of ω.
pub(crate) fn to_reversed(values: &mut [Scalar], twiddles: &Twiddles) {
    split_block(values, 0, twiddles);
}

/// (Σᵢ xᵢ·ω^(ij)) at position j for xᵢ at position rev(i), in place; `twiddles` are those of ω.
pub(crate) fn to_natural(values: &mut [Scalar], twiddles: &Twiddles) {
    merge_block(values, 0, twiddles);
}

/// The factors of a block and of its two halves.
struct Factors {
    whole: Scalar,
    lower: Scalar,
    upper: Scalar,
}

impl Factors {
    fn of(block: usize, twiddles: &Twiddles) -> Self {
        Self {
            whole: twiddles.get(block),
            lower: twiddles.get(2 * block),
            upper: twiddles.get(2 * block + 1),
        }
    }
}

fn split_block(values: &mut [Scalar], block: usize, twiddles: &Twiddles) {
    if values.len() <= LEAF {
        return split_leaf(values, block, twiddles);
    }
    let factors = Factors::of(block, twiddles);
    for_quarters(values, &|quarters| split_quarters(quarters, &factors));
    for_each_quarter(values, block, &|values, block| {
        split_block(values, block, twiddles);
    });
}

fn merge_block(values: &mut [Scalar], block: usize, twiddles: &Twiddles) {
    if values.len() <= LEAF {
        return merge_leaf(values, block, twiddles);
    }
    for_each_quarter(values, block, &|values, block| {
        merge_block(values, block, twiddles);
    });
    let factors = Factors::of(block, twiddles);
    for_quarters(values, &|quarters| merge_quarters(quarters, &factors));
}

/// Runs `work` on corresponding pieces of the four quarters.
fn for_quarters(values: &mut [Scalar], work: &(dyn Fn([&mut [Scalar]; 4]) + Sync)) {
    let parallel = values.len() >= PARALLEL;
    let (lower, upper) = values.split_at_mut(values.len() / 2);
    let (first, second) = lower.split_at_mut(lower.len() / 2);
    let (third, fourth) = upper.split_at_mut(upper.len() / 2);
    if !parallel {
        return work([first, second, third, fourth]);
    }
    (
        first.par_chunks_mut(TASK),
        second.par_chunks_mut(TASK),
        third.par_chunks_mut(TASK),
        fourth.par_chunks_mut(TASK),
    )
        .into_par_iter()
        .for_each(|(first, second, third, fourth)| work([first, second, third, fourth]));
}

/// Runs `work` on each quarter with its block index.
fn for_each_quarter(
    values: &mut [Scalar],
    block: usize,
    work: &(dyn Fn(&mut [Scalar], usize) + Sync),
) {
    let quarter = values.len() / 4;
    if values.len() >= PARALLEL {
        values
            .par_chunks_mut(quarter)
            .enumerate()
            .for_each(|(index, values)| work(values, 4 * block + index));
    } else {
        for (index, values) in values.chunks_mut(quarter).enumerate() {
            work(values, 4 * block + index);
        }
    }
}

fn split_quarters([first, second, third, fourth]: [&mut [Scalar]; 4], factors: &Factors) {
    let quarters = first.iter_mut().zip(second).zip(third).zip(fourth);
    for (((first, second), third), fourth) in quarters {
        let (low, high) = split(*first, *third, factors.whole);
        let (next_low, next_high) = split(*second, *fourth, factors.whole);
        (*first, *second) = split(low, next_low, factors.lower);
        (*third, *fourth) = split(high, next_high, factors.upper);
    }
}

fn merge_quarters([first, second, third, fourth]: [&mut [Scalar]; 4], factors: &Factors) {
    let quarters = first.iter_mut().zip(second).zip(third).zip(fourth);
    for (((first, second), third), fourth) in quarters {
        let (low, next_low) = merge(*first, *second, factors.lower);
        let (high, next_high) = merge(*third, *fourth, factors.upper);
        (*first, *third) = merge(low, high, factors.whole);
        (*second, *fourth) = merge(next_low, next_high, factors.whole);
    }
}

#[inline]
fn split(low: Scalar, high: Scalar, factor: Scalar) -> (Scalar, Scalar) {
    let high = high * factor;
    (low + high, low - high)
}

#[inline]
fn merge(low: Scalar, high: Scalar, factor: Scalar) -> (Scalar, Scalar) {
    (low + high, (low - high) * factor)
}

fn split_leaf(values: &mut [Scalar], block: usize, twiddles: &Twiddles) {
    let mut half = values.len() / 2;
    let mut first_block = block;
    while half > 0 {
        for (index, values) in values.chunks_exact_mut(2 * half).enumerate() {
            let factor = twiddles.get(first_block + index);
            let (low, high) = values.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = split(*low, *high, factor);
            }
        }
        half /= 2;
        first_block *= 2;
    }
}

fn merge_leaf(values: &mut [Scalar], block: usize, twiddles: &Twiddles) {
    let mut half = 1;
    while half < values.len() {
        let first_block = block * (values.len() / (2 * half));
        for (index, values) in values.chunks_exact_mut(2 * half).enumerate() {
            let factor = twiddles.get(first_block + index);
            let (low, high) = values.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = merge(*low, *high, factor);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::super::naive::transform_naive;
    use super::super::{inverse_size, reverse, root_of_unity};
    use super::*;

    fn random(len: usize, seed: u64) -> Vec<Scalar> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        (0..len).map(|_| Scalar::random(&mut rng)).collect()
    }

    fn reversed(values: &[Scalar]) -> Vec<Scalar> {
        let bits = values.len().trailing_zeros();
        (0..values.len())
            .map(|index| values[reverse(index, bits)])
            .collect()
    }

    #[test]
    fn both_networks_agree_with_the_sums_of_the_definition() {
        for log_size in 0..=11 {
            let omega = root_of_unity(log_size);
            let twiddles = Twiddles::new(omega, log_size);
            let values = random(1 << log_size, u64::from(log_size));
            let expected = transform_naive(&values, omega);

            let mut split = values.clone();
            to_reversed(&mut split, &twiddles);
            assert_eq!(
                reversed(&split),
                expected,
                "natural to reversed, 2^{log_size}"
            );

            let mut merged = reversed(&values);
            to_natural(&mut merged, &twiddles);
            assert_eq!(merged, expected, "reversed to natural, 2^{log_size}");
        }
    }

    #[test]
    fn forward_after_inverse_is_the_identity_in_blocks_larger_than_a_task() {
        for log_size in [13, 14, 17] {
            let omega = root_of_unity(log_size);
            let inverse = Twiddles::new(omega.invert().expect("a root is not zero"), log_size);
            let values = random(1 << log_size, 1);
            let mut there_and_back = values.clone();
            to_reversed(&mut there_and_back, &inverse);
            to_natural(&mut there_and_back, &Twiddles::new(omega, log_size));
            let factor = inverse_size(log_size);
            assert!(
                there_and_back
                    .iter()
                    .zip(&values)
                    .all(|(found, value)| found * factor == *value),
                "2^{log_size}"
            );
        }
    }

    #[test]
    fn every_number_of_threads_gives_the_same_values() {
        let log_size = 15;
        let twiddles = Twiddles::new(root_of_unity(log_size), log_size);
        let transform = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("threads can be started");
            let mut values = random(1 << log_size, 2);
            pool.install(|| to_reversed(&mut values, &twiddles));
            values
        };
        assert_eq!(transform(1), transform(3));
    }
}
