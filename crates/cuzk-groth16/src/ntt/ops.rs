//! What a transform does to its data, in two implementations with the same results.
//!
//! [`Portable`] works scalar by scalar, [`Vectorized`] on eight scalars at a time where the processor can.

use blstrs::Scalar;

use super::Twiddles;

/// Butterflies of the two networks.
///
/// Factors are chosen by the index of a block within its level; see [`Twiddles`].
pub(super) trait ButterflyOps: Sync {
    /// Blocks up to this size are leaves.
    const LEAF: usize;

    /// All levels of a leaf, natural to reversed.
    fn split_leaf(&self, values: &mut [Scalar], block: usize);
    /// All levels of a leaf, reversed to natural.
    fn merge_leaf(&self, values: &mut [Scalar], block: usize);
    /// The level of a block and that of its halves.
    fn split_quarters(&self, quarters: [&mut [Scalar]; 4], block: usize);
    /// The level of a block's halves and that of the block.
    fn merge_quarters(&self, quarters: [&mut [Scalar]; 4], block: usize);
}

/// One butterfly after the other through `blst`.
pub(super) struct Portable<'a>(pub(super) &'a Twiddles);

#[inline]
fn split(low: Scalar, high: Scalar, factor: Scalar) -> (Scalar, Scalar) {
    let high = high * factor;
    (low + high, low - high)
}

#[inline]
fn merge(low: Scalar, high: Scalar, factor: Scalar) -> (Scalar, Scalar) {
    (low + high, (low - high) * factor)
}

impl ButterflyOps for Portable<'_> {
    /// Fits into a first-level cache of 32 KiB.
    const LEAF: usize = 1 << 9;

    fn split_leaf(&self, values: &mut [Scalar], block: usize) {
        let mut half = values.len() / 2;
        let mut first_block = block;
        while half > 0 {
            for (index, values) in values.chunks_exact_mut(2 * half).enumerate() {
                let factor = self.0.get(first_block + index);
                let (low, high) = values.split_at_mut(half);
                for (low, high) in low.iter_mut().zip(high) {
                    (*low, *high) = split(*low, *high, factor);
                }
            }
            half /= 2;
            first_block *= 2;
        }
    }

    fn merge_leaf(&self, values: &mut [Scalar], block: usize) {
        let mut half = 1;
        while half < values.len() {
            let first_block = block * (values.len() / (2 * half));
            for (index, values) in values.chunks_exact_mut(2 * half).enumerate() {
                let factor = self.0.get(first_block + index);
                let (low, high) = values.split_at_mut(half);
                for (low, high) in low.iter_mut().zip(high) {
                    (*low, *high) = merge(*low, *high, factor);
                }
            }
            half *= 2;
        }
    }

    fn split_quarters(&self, [first, second, third, fourth]: [&mut [Scalar]; 4], block: usize) {
        let (whole, lower, upper) = self.0.factors(block);
        let quarters = first.iter_mut().zip(second).zip(third).zip(fourth);
        for (((first, second), third), fourth) in quarters {
            let (low, high) = split(*first, *third, whole);
            let (next_low, next_high) = split(*second, *fourth, whole);
            (*first, *second) = split(low, next_low, lower);
            (*third, *fourth) = split(high, next_high, upper);
        }
    }

    fn merge_quarters(&self, [first, second, third, fourth]: [&mut [Scalar]; 4], block: usize) {
        let (whole, lower, upper) = self.0.factors(block);
        let quarters = first.iter_mut().zip(second).zip(third).zip(fourth);
        for (((first, second), third), fourth) in quarters {
            let (low, next_low) = merge(*first, *second, lower);
            let (high, next_high) = merge(*third, *fourth, upper);
            (*first, *third) = merge(low, high, whole);
            (*second, *fourth) = merge(next_low, next_high, whole);
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use vectorized::Vectorized;

#[cfg(target_arch = "x86_64")]
mod vectorized {
    use blstrs::Scalar;

    use super::ButterflyOps;
    use crate::field::ifma::Ifma;
    use crate::field::ifma::butterflies::{
        LEAF, ScaledFactors, merge_halves, merge_leaf, merge_quarters, split_halves, split_leaf,
        split_quarters,
    };

    /// Eight butterflies at a time; transforms of at least 64 scalars.
    pub(in crate::ntt) struct Vectorized<'a> {
        pub(in crate::ntt) ifma: Ifma,
        pub(in crate::ntt) factors: &'a ScaledFactors,
    }

    impl ButterflyOps for Vectorized<'_> {
        /// 64 scalars, or 128 with a level before.
        const LEAF: usize = 2 * LEAF;

        fn split_leaf(&self, values: &mut [Scalar], block: usize) {
            if values.len() <= LEAF {
                return split_leaf(self.ifma, values, self.factors, block);
            }
            let (lower, upper) = values.split_at_mut(LEAF);
            split_halves(self.ifma, [lower, upper], self.factors, block);
            split_leaf(self.ifma, lower, self.factors, 2 * block);
            split_leaf(self.ifma, upper, self.factors, 2 * block + 1);
        }

        fn merge_leaf(&self, values: &mut [Scalar], block: usize) {
            if values.len() <= LEAF {
                return merge_leaf(self.ifma, values, self.factors, block);
            }
            let (lower, upper) = values.split_at_mut(LEAF);
            merge_leaf(self.ifma, lower, self.factors, 2 * block);
            merge_leaf(self.ifma, upper, self.factors, 2 * block + 1);
            merge_halves(self.ifma, [lower, upper], self.factors, block);
        }

        fn split_quarters(&self, quarters: [&mut [Scalar]; 4], block: usize) {
            split_quarters(self.ifma, quarters, self.factors, block);
        }

        fn merge_quarters(&self, quarters: [&mut [Scalar]; 4], block: usize) {
            merge_quarters(self.ifma, quarters, self.factors, block);
        }
    }
}
