//! The butterfly networks, depth first, so that all but the first levels of a large transform run within a cache.
//!
//! A block of 2m coefficients stands for a polynomial modulo X^2m − z². Splitting it gives the polynomial modulo
//! X^m − z in its lower half and modulo X^m + z in its upper half; after all levels position p holds the value at
//! ω^rev(p). The transposed network undoes nothing: it takes coefficients in bit-reversed order to values in natural
//! order. Two levels are done per pass over memory.

use blstrs::Scalar;
use rayon::prelude::*;

use super::Twiddles;
#[cfg(target_arch = "x86_64")]
use super::ops::Vectorized;
use super::ops::{ButterflyOps, Portable};
use crate::curve::Arithmetic;
#[cfg(target_arch = "x86_64")]
use crate::field::ifma::{
    Ifma,
    butterflies::{LEAF, ScaledFactors},
};

/// Blocks below this size are not worth another thread.
const PARALLEL: usize = 1 << 13;
/// Elements of each quarter that one task takes.
const TASK: usize = 1 << 11;

/// Both networks for one size and one root ω.
pub(crate) enum Network {
    /// For any processor and size.
    Portable(Twiddles),
    /// Eight butterflies at a time.
    #[cfg(target_arch = "x86_64")]
    Vectorized(Ifma, ScaledFactors),
}

impl Network {
    /// Entries of a table of factors, 64 MiB, when a factor is used for one butterfly.
    const LOG_TABLE: u32 = 21;
    /// The same, 1 MiB, when the product of two factors serves eight butterflies.
    #[cfg(target_arch = "x86_64")]
    const LOG_VECTOR_TABLE: u32 = 15;

    /// Networks for vectors of 2^`log_size` scalars and `omega` of that order.
    pub(crate) fn new(omega: Scalar, log_size: u32, arithmetic: Arithmetic) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(ifma) = arithmetic.vectorized()
            && 1 << log_size >= LEAF
        {
            let twiddles = Twiddles::new(omega, log_size, Self::LOG_VECTOR_TABLE);
            let (log_low, low, high) = twiddles.into_tables();
            return Self::Vectorized(ifma, ScaledFactors::new(log_low, low, high));
        }
        Self::Portable(Twiddles::new(omega, log_size, Self::LOG_TABLE))
    }

    /// Bytes of factors that [`Self::new`] keeps.
    pub(crate) fn table_bytes(log_size: u32, arithmetic: Arithmetic) -> usize {
        let log_table = match arithmetic.vectorized() {
            #[cfg(target_arch = "x86_64")]
            Some(_) if 1 << log_size >= LEAF => Self::LOG_VECTOR_TABLE,
            _ => Self::LOG_TABLE,
        };
        let bits = log_size.saturating_sub(1);
        let low = bits.min(log_table);
        size_of::<Scalar>() * ((1 << low) + (1 << (bits - low)))
    }

    /// (Σᵢ xᵢ·ω^(ij)) at position rev(j) for xᵢ at position i, in place.
    pub(crate) fn to_reversed(&self, values: &mut [Scalar]) {
        match self {
            Self::Portable(twiddles) => split_block(values, 0, &Portable(twiddles)),
            #[cfg(target_arch = "x86_64")]
            Self::Vectorized(ifma, factors) => split_block(
                values,
                0,
                &Vectorized {
                    ifma: *ifma,
                    factors,
                },
            ),
        }
    }

    /// (Σᵢ xᵢ·ω^(ij)) at position j for xᵢ at position rev(i), in place.
    pub(crate) fn to_natural(&self, values: &mut [Scalar]) {
        match self {
            Self::Portable(twiddles) => merge_block(values, 0, &Portable(twiddles)),
            #[cfg(target_arch = "x86_64")]
            Self::Vectorized(ifma, factors) => merge_block(
                values,
                0,
                &Vectorized {
                    ifma: *ifma,
                    factors,
                },
            ),
        }
    }
}

fn split_block<O: ButterflyOps>(values: &mut [Scalar], block: usize, ops: &O) {
    if values.len() <= O::LEAF {
        return ops.split_leaf(values, block);
    }
    for_quarters(values, &|quarters| ops.split_quarters(quarters, block));
    for_each_quarter(values, block, &|values, block| {
        split_block(values, block, ops);
    });
}

fn merge_block<O: ButterflyOps>(values: &mut [Scalar], block: usize, ops: &O) {
    if values.len() <= O::LEAF {
        return ops.merge_leaf(values, block);
    }
    for_each_quarter(values, block, &|values, block| {
        merge_block(values, block, ops);
    });
    for_quarters(values, &|quarters| ops.merge_quarters(quarters, block));
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

    const BOTH: [Arithmetic; 2] = [Arithmetic::Fastest, Arithmetic::Portable];

    #[test]
    fn both_networks_agree_with_the_sums_of_the_definition() {
        for log_size in 0..=11 {
            let omega = root_of_unity(log_size);
            let values = random(1 << log_size, u64::from(log_size));
            let expected = transform_naive(&values, omega);
            for arithmetic in BOTH {
                let network = Network::new(omega, log_size, arithmetic);
                let mut split = values.clone();
                network.to_reversed(&mut split);
                assert_eq!(reversed(&split), expected, "to reversed, 2^{log_size}");

                let mut merged = reversed(&values);
                network.to_natural(&mut merged);
                assert_eq!(merged, expected, "to natural, 2^{log_size}");
            }
        }
    }

    #[test]
    fn extreme_values_agree_with_the_sums_of_the_definition() {
        let omega = root_of_unity(9);
        let network = Network::new(omega, 9, Arithmetic::Fastest);
        for value in [Scalar::ZERO, Scalar::ONE, -Scalar::ONE] {
            let expected = transform_naive(&vec![value; 512], omega);
            let mut split = vec![value; 512];
            network.to_reversed(&mut split);
            assert_eq!(reversed(&split), expected);
            let mut merged = vec![value; 512];
            network.to_natural(&mut merged);
            assert_eq!(merged, expected);
        }
    }

    #[test]
    fn forward_after_inverse_is_the_identity_in_blocks_larger_than_a_task() {
        for log_size in [13, 14, 17, 18] {
            let omega = root_of_unity(log_size);
            let omega_inverse = omega.invert().expect("a root is not zero");
            let values = random(1 << log_size, 1);
            for arithmetic in BOTH {
                let mut there_and_back = values.clone();
                Network::new(omega_inverse, log_size, arithmetic).to_reversed(&mut there_and_back);
                Network::new(omega, log_size, arithmetic).to_natural(&mut there_and_back);
                let factor = inverse_size(log_size);
                let same = there_and_back
                    .iter()
                    .zip(&values)
                    .all(|(found, value)| found * factor == *value);
                assert!(same, "2^{log_size} {arithmetic:?}");
            }
        }
    }

    #[test]
    fn every_arithmetic_and_number_of_threads_gives_the_same_values() {
        // Large enough for a second table of factors where vectors are used.
        let log_size = 18;
        let transform = |threads, arithmetic| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("threads can be started");
            let network = Network::new(root_of_unity(log_size), log_size, arithmetic);
            let mut values = random(1 << log_size, 2);
            pool.install(|| network.to_reversed(&mut values));
            values
        };
        let one = transform(1, Arithmetic::Portable);
        assert!(one == transform(3, Arithmetic::Portable));
        assert!(one == transform(1, Arithmetic::Fastest));
        assert!(one == transform(3, Arithmetic::Fastest));
    }
}
