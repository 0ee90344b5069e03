//! Butterflies of transforms over the scalar field, on vectors of eight scalars.
//!
//! While a block's halves have eight scalars or more, all butterflies of a block share a factor and a vector is eight
//! neighbours. A leaf of 64 scalars does its last three levels transposed: a vector then holds one position of eight
//! neighbouring blocks of eight, and the factors differ by lane.
//!
//! Bounds, in multiples of r: values in memory are below 1, products below 2. `split` adds at most 2 per level to the
//! half that is not multiplied; `merge` doubles it.

use blstrs::Scalar;

use super::Ifma;
use super::montgomery::normalize;
use super::scalar::{
    GROUP, Limbs, add, broadcast, load_scalars, mul, mul_raw, reduce, scaled, store_scalars, sub,
    transpose_lanes,
};

/// Scalars per leaf.
pub(crate) const LEAF: usize = 64;

/// Factors of blocks: entry i of a table for the low bits of the index times an entry for the high bits.
pub(crate) struct ScaledFactors {
    log_low: u32,
    /// f·2^260 in memory.
    low: Vec<Scalar>,
    high: Vec<Scalar>,
}

impl ScaledFactors {
    /// From tables of plain factors; the low one has 2^`log_low` entries.
    pub(crate) fn new(log_low: u32, mut low: Vec<Scalar>, high: Vec<Scalar>) -> Self {
        for factor in &mut low {
            *factor = scaled(*factor);
        }
        Self { log_low, low, high }
    }

    fn low_index(&self, index: usize) -> usize {
        index & ((1 << self.log_low) - 1)
    }

    /// The factor of one block in all lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn of_block(&self, index: usize) -> Limbs {
        let high = index >> self.log_low;
        let low = self.low[self.low_index(index)];
        broadcast(if high == 0 {
            low
        } else {
            low * self.high[high]
        })
    }

    /// The factors of blocks `first + stride·i` for lanes i; they have the same high bits.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn of_lanes(&self, first: usize, stride: usize) -> Limbs {
        let low = &self.low[self.low_index(first)..];
        let mut picked = [low[0]; GROUP];
        for (lane, factor) in picked.iter_mut().enumerate() {
            *factor = low[stride * lane];
        }
        let factors = load_scalars(&picked);
        let high = first >> self.log_low;
        if high == 0 {
            factors
        } else {
            mul(&factors, &broadcast(scaled(self.high[high])))
        }
    }
}

/// (low + factor·high, low − factor·high), raw, for a carried `high`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn split(low: &Limbs, high: &Limbs, factor: &Limbs) -> [Limbs; 2] {
    let product = mul_raw(high, factor);
    [add(low, &product), sub(low, &product, 2)]
}

/// (low + high, factor·(low − high)), raw, for values below `bound`·r.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn merge(low: &Limbs, high: &Limbs, factor: &Limbs, bound: u64) -> [Limbs; 2] {
    let difference = normalize(&sub(low, high, bound));
    [add(low, high), mul_raw(&difference, factor)]
}

/// Two levels of splitting: a block and its two halves, given as four quarters of equal length, a multiple of eight.
pub(crate) fn split_quarters(
    _: Ifma,
    quarters: [&mut [Scalar]; 4],
    factors: &ScaledFactors,
    block: usize,
) {
    // SAFETY: the `Ifma` value proves that the processor has the instructions.
    unsafe { split_quarters_detected(quarters, factors, block) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn split_quarters_detected(
    [first, second, third, fourth]: [&mut [Scalar]; 4],
    factors: &ScaledFactors,
    block: usize,
) {
    let whole = factors.of_block(block);
    let lower = factors.of_block(2 * block);
    let upper = factors.of_block(2 * block + 1);
    let vectors = first
        .chunks_exact_mut(GROUP)
        .zip(second.chunks_exact_mut(GROUP))
        .zip(third.chunks_exact_mut(GROUP))
        .zip(fourth.chunks_exact_mut(GROUP));
    for (((first, second), third), fourth) in vectors {
        let [low, high] = split(&load_scalars(first), &load_scalars(third), &whole);
        let [next_low, next_high] = split(&load_scalars(second), &load_scalars(fourth), &whole);
        let [sum, difference] = split(&low, &normalize(&next_low), &lower);
        store_scalars(&reduce(&sum), first);
        store_scalars(&reduce(&difference), second);
        let [sum, difference] = split(&high, &normalize(&next_high), &upper);
        store_scalars(&reduce(&sum), third);
        store_scalars(&reduce(&difference), fourth);
    }
}

/// Two levels of merging: the halves of a block, then the block, given as four quarters.
pub(crate) fn merge_quarters(
    _: Ifma,
    quarters: [&mut [Scalar]; 4],
    factors: &ScaledFactors,
    block: usize,
) {
    // SAFETY: the `Ifma` value proves that the processor has the instructions.
    unsafe { merge_quarters_detected(quarters, factors, block) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn merge_quarters_detected(
    [first, second, third, fourth]: [&mut [Scalar]; 4],
    factors: &ScaledFactors,
    block: usize,
) {
    let whole = factors.of_block(block);
    let lower = factors.of_block(2 * block);
    let upper = factors.of_block(2 * block + 1);
    let vectors = first
        .chunks_exact_mut(GROUP)
        .zip(second.chunks_exact_mut(GROUP))
        .zip(third.chunks_exact_mut(GROUP))
        .zip(fourth.chunks_exact_mut(GROUP));
    for (((first, second), third), fourth) in vectors {
        let [low, next_low] = merge(&load_scalars(first), &load_scalars(second), &lower, 1);
        let [high, next_high] = merge(&load_scalars(third), &load_scalars(fourth), &upper, 1);
        let [sum, product] = merge(&low, &high, &whole, 2);
        store_scalars(&reduce(&sum), first);
        store_scalars(&reduce(&product), third);
        let [sum, product] = merge(&next_low, &next_high, &whole, 2);
        store_scalars(&reduce(&sum), second);
        store_scalars(&reduce(&product), fourth);
    }
}

/// One level of splitting, for halves of equal length, a multiple of eight.
pub(crate) fn split_halves(
    _: Ifma,
    halves: [&mut [Scalar]; 2],
    factors: &ScaledFactors,
    block: usize,
) {
    // SAFETY: the `Ifma` value proves that the processor has the instructions.
    unsafe { split_halves_detected(halves, factors, block) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn split_halves_detected(
    [lower, upper]: [&mut [Scalar]; 2],
    factors: &ScaledFactors,
    block: usize,
) {
    let factor = factors.of_block(block);
    let vectors = lower
        .chunks_exact_mut(GROUP)
        .zip(upper.chunks_exact_mut(GROUP));
    for (lower, upper) in vectors {
        let [sum, difference] = split(&load_scalars(lower), &load_scalars(upper), &factor);
        store_scalars(&reduce(&sum), lower);
        store_scalars(&reduce(&difference), upper);
    }
}

/// One level of merging.
pub(crate) fn merge_halves(
    _: Ifma,
    halves: [&mut [Scalar]; 2],
    factors: &ScaledFactors,
    block: usize,
) {
    // SAFETY: the `Ifma` value proves that the processor has the instructions.
    unsafe { merge_halves_detected(halves, factors, block) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn merge_halves_detected(
    [lower, upper]: [&mut [Scalar]; 2],
    factors: &ScaledFactors,
    block: usize,
) {
    let factor = factors.of_block(block);
    let vectors = lower
        .chunks_exact_mut(GROUP)
        .zip(upper.chunks_exact_mut(GROUP));
    for (lower, upper) in vectors {
        let [sum, product] = merge(&load_scalars(lower), &load_scalars(upper), &factor, 1);
        store_scalars(&reduce(&sum), lower);
        store_scalars(&reduce(&product), upper);
    }
}

/// All levels of a block of [`LEAF`] scalars.
pub(crate) fn split_leaf(_: Ifma, values: &mut [Scalar], factors: &ScaledFactors, block: usize) {
    // SAFETY: the `Ifma` value proves that the processor has the instructions.
    unsafe { split_leaf_detected(values, factors, block) }
}

/// Butterflies of one level between vectors: pairs at distance `half` within each run of `2·half` vectors.
macro_rules! for_pairs {
    ($vectors:ident, $half:literal, |$run:ident| $factor:expr, |$low:ident, $high:ident, $by:ident| $butterfly:expr) => {
        for $run in 0..GROUP / (2 * $half) {
            let $by = $factor;
            for index in 2 * $half * $run..2 * $half * $run + $half {
                let ($low, $high) = ($vectors[index], $vectors[index + $half]);
                let [first, second] = $butterfly;
                ($vectors[index], $vectors[index + $half]) = (first, second);
            }
        }
    };
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn split_leaf_detected(values: &mut [Scalar], factors: &ScaledFactors, block: usize) {
    let mut v = load_leaf(values);
    for_pairs!(
        v,
        4,
        |run| factors.of_block(block + run),
        |low, high, by| { split(&low, &normalize(&high), &by) }
    );
    for_pairs!(
        v,
        2,
        |run| factors.of_block(2 * block + run),
        |low, high, by| { split(&low, &normalize(&high), &by) }
    );
    for_pairs!(
        v,
        1,
        |run| factors.of_block(4 * block + run),
        |low, high, by| { split(&low, &normalize(&high), &by) }
    );
    transpose_lanes(&mut v);
    for_pairs!(
        v,
        4,
        |run| factors.of_lanes(8 * block + run, 1),
        |low, high, by| { split(&low, &normalize(&high), &by) }
    );
    for_pairs!(
        v,
        2,
        |run| factors.of_lanes(16 * block + run, 2),
        |low, high, by| { split(&low, &normalize(&high), &by) }
    );
    for_pairs!(
        v,
        1,
        |run| factors.of_lanes(32 * block + run, 4),
        |low, high, by| { split(&low, &normalize(&high), &by) }
    );
    transpose_lanes(&mut v);
    store_leaf(&v, values);
}

/// All levels of a block of [`LEAF`] scalars.
pub(crate) fn merge_leaf(_: Ifma, values: &mut [Scalar], factors: &ScaledFactors, block: usize) {
    // SAFETY: the `Ifma` value proves that the processor has the instructions.
    unsafe { merge_leaf_detected(values, factors, block) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn merge_leaf_detected(values: &mut [Scalar], factors: &ScaledFactors, block: usize) {
    let mut v = load_leaf(values);
    transpose_lanes(&mut v);
    for_pairs!(
        v,
        1,
        |run| factors.of_lanes(32 * block + run, 4),
        |low, high, by| { merge(&low, &high, &by, 1) }
    );
    for_pairs!(
        v,
        2,
        |run| factors.of_lanes(16 * block + run, 2),
        |low, high, by| { merge(&low, &high, &by, 2) }
    );
    for_pairs!(
        v,
        4,
        |run| factors.of_lanes(8 * block + run, 1),
        |low, high, by| { merge(&low, &high, &by, 4) }
    );
    for vector in &mut v {
        *vector = reduce(vector);
    }
    transpose_lanes(&mut v);
    for_pairs!(
        v,
        1,
        |run| factors.of_block(4 * block + run),
        |low, high, by| { merge(&low, &high, &by, 1) }
    );
    for_pairs!(
        v,
        2,
        |run| factors.of_block(2 * block + run),
        |low, high, by| { merge(&low, &high, &by, 2) }
    );
    for_pairs!(
        v,
        4,
        |run| factors.of_block(block + run),
        |low, high, by| { merge(&low, &high, &by, 4) }
    );
    store_leaf(&v, values);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_leaf(values: &[Scalar]) -> [Limbs; GROUP] {
    let mut vectors = [load_scalars(values); GROUP];
    for (vector, values) in vectors.iter_mut().zip(values.chunks_exact(GROUP)) {
        *vector = load_scalars(values);
    }
    vectors
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn store_leaf(vectors: &[Limbs; GROUP], values: &mut [Scalar]) {
    for (vector, values) in vectors.iter().zip(values.chunks_exact_mut(GROUP)) {
        store_scalars(&reduce(vector), values);
    }
}
