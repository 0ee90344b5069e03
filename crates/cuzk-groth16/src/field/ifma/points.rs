//! Sums of many pairs of points at once, eight per step, one inversion for all: λ = (y₂ − y₁)/(x₂ − x₁),
//! x₃ = λ² − x₁ − x₂, y₃ = λ·(x₁ − x₃) − y₁; for equal points λ = 3·x₁²/(2·y₁).
//!
//! The denominators of all groups of eight are multiplied up backwards; one inversion then serves every group, and a
//! forward pass peels off each group's inverses and finishes its sums.

use super::Ifma;
use super::element::{
    BaseField, Coefficients, Element, LIMBS, Packed, Sliced, broadcast, element_add_raw,
    element_mul, element_sub_raw, invert_lanes, load_sliced, mul_raw, pack, square_raw,
    store_sliced, to_factor, to_montgomery, to_small, unpack, zero_lanes,
};
use super::lanes::{Words, load, splat, store, transpose};
use super::montgomery::{Modulus, split};
use crate::curve::{Affine, CurveField, Pick, Sources};
use std::arch::x86_64::{
    __mmask8, _mm512_cmpeq_epi64_mask, _mm512_mask_blend_epi64, _mm512_mask_sub_epi64,
};

/// Points per vector.
pub(crate) const GROUP: usize = 8;

/// A point of N coefficients per coordinate in Montgomery form with R = 2^416; all zeros for infinity.
///
/// 128 bytes for G1, 256 for G2. The limbs of x are carried; those of y may be raw (a negated y is p − y limb by
/// limb).
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct PackedPoint<const N: usize> {
    x: Packed<N>,
    y: Packed<N>,
}

impl<const N: usize> PackedPoint<N> {
    pub(crate) const INFINITY: Self = Self {
        x: [Words::ZERO; N],
        y: [Words::ZERO; N],
    };

    /// Whether this is infinity; no other point stores a y of zeros.
    #[inline]
    pub(crate) fn is_infinity(&self) -> bool {
        // The lowest limb nearly always decides.
        self.y[0].0[0] == 0 && self.y.iter().all(|words| words.0 == [0; LIMBS])
    }

    /// The inverse point when `condition` holds, the point itself otherwise.
    #[inline]
    pub(crate) fn negate_if(&self, condition: bool) -> Self {
        let mut out = *self;
        if !condition || self.is_infinity() {
            return out;
        }
        for words in &mut out.y {
            for (word, p) in words.0.iter_mut().zip(BaseField::LIMBS) {
                *word = p.wrapping_sub(*word);
            }
        }
        out
    }

    pub(crate) fn from_affine<F: Coefficients<N>>(point: &Affine<F>) -> Self {
        Self {
            x: pack(&point.x),
            y: pack(&point.y),
        }
    }

    pub(crate) fn to_affine<F: Coefficients<N>>(self) -> Affine<F> {
        Affine {
            x: unpack(&self.x),
            y: unpack(&self.y),
        }
    }
}

/// What the forward pass needs of a group of eight pairs.
#[derive(Clone, Copy)]
struct Group<const N: usize> {
    /// Denominators.
    denominator: Sliced<N>,
    /// Products of the denominators of all later groups, lane by lane.
    later: Sliced<N>,
    numerator: Sliced<N>,
    x_sum: Sliced<N>,
    x: Sliced<N>,
    y: Sliced<N>,
    /// Lanes whose sum is not what the formula gives: an operand is infinity, or the sum is.
    special: __mmask8,
}

/// Reusable space of [`sum_pairs`].
#[derive(Clone)]
pub(crate) struct PairScratch<const N: usize> {
    groups: Vec<Group<N>>,
}

impl<const N: usize> PairScratch<N> {
    /// Space for batches of up to `pairs` pairs.
    pub(crate) fn new(pairs: usize) -> Self {
        Self {
            groups: Vec::with_capacity(pairs.div_ceil(GROUP)),
        }
    }

    /// Bytes that [`Self::new`] takes.
    pub(crate) const fn bytes(pairs: usize) -> usize {
        pairs.div_ceil(GROUP) * size_of::<Group<N>>()
    }
}

/// Puts the sum of each pair of picked points into `sums`, which is as long as `pairs`.
pub(crate) fn sum_pairs<F: Coefficients<N>, const N: usize>(
    _: Ifma,
    sources: Sources<'_, PackedPoint<N>>,
    pairs: &[[Pick; 2]],
    sums: &mut [PackedPoint<N>],
    scratch: &mut PairScratch<N>,
) {
    // SAFETY: the `Ifma` value proves that the processor has the instructions.
    unsafe { sum_pairs_detected::<F, N>(sources, pairs, sums, scratch) }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn sum_pairs_detected<F: Coefficients<N>, const N: usize>(
    sources: Sources<'_, PackedPoint<N>>,
    pairs: &[[Pick; 2]],
    sums: &mut [PackedPoint<N>],
    scratch: &mut PairScratch<N>,
) {
    let groups = &mut scratch.groups;
    groups.clear();
    let mut product = broadcast(&pack(&F::ONE));
    for pairs in pairs.chunks(GROUP).rev() {
        let mut group = open_group(sources, pairs);
        store_sliced(&product, &mut group.later);
        product = element_mul(&product, &load_sliced(&group.denominator));
        groups.push(group);
    }
    let mut inverse = invert_lanes::<F, N>(&product);
    let chunks = sums.chunks_mut(GROUP).zip(pairs.chunks(GROUP));
    for ((sums, pairs), group) in chunks.zip(groups.iter().rev()) {
        let own = element_mul(&inverse, &load_sliced(&group.later));
        inverse = element_mul(&inverse, &load_sliced(&group.denominator));
        close_group(group, &own, sums);
        if group.special != 0 {
            special_sums(group.special, sources, pairs, sums);
        }
    }
}

/// Loads up to eight pairs and computes numerators and denominators of their slopes.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn open_group<const N: usize>(
    sources: Sources<'_, PackedPoint<N>>,
    pairs: &[[Pick; 2]],
) -> Group<N> {
    let (x1, y1, infinite1) = load_picks::<N, 0>(sources, pairs);
    let (x2, y2, infinite2) = load_picks::<N, 1>(sources, pairs);
    let mut denominator = to_factor(&element_sub_raw(&x2, &x1));
    let mut numerator = to_factor(&element_sub_raw(&y2, &y1));
    // Lanes without a pair hold zeros, which is infinity.
    let mut special = infinite1 | infinite2;
    let equal_x = zero_lanes(&denominator) & !special;
    if equal_x != 0 {
        let equal = equal_x & zero_lanes(&numerator);
        double_lanes(equal, &x1, &y1, &mut numerator, &mut denominator);
        special |= equal_x & !equal;
    }
    if special != 0 {
        // Any denominator will do that is not zero.
        let filler = broadcast(&[Words([1; LIMBS]); N]);
        denominator = blend(special, &denominator, &filler);
    }
    let mut group = Group {
        denominator: [[Words::ZERO; LIMBS]; N],
        later: [[Words::ZERO; LIMBS]; N],
        numerator: [[Words::ZERO; LIMBS]; N],
        x_sum: [[Words::ZERO; LIMBS]; N],
        x: [[Words::ZERO; LIMBS]; N],
        y: [[Words::ZERO; LIMBS]; N],
        special,
    };
    store_sliced(&denominator, &mut group.denominator);
    store_sliced(&numerator, &mut group.numerator);
    store_sliced(&element_add_raw(&x1, &x2), &mut group.x_sum);
    store_sliced(&x1, &mut group.x);
    store_sliced(&y1, &mut group.y);
    group
}

/// Replaces the sums of pairs with infinity among their operands or as their result.
#[cold]
fn special_sums<const N: usize>(
    special: __mmask8,
    sources: Sources<'_, PackedPoint<N>>,
    pairs: &[[Pick; 2]],
    sums: &mut [PackedPoint<N>],
) {
    for (lane, ([left, right], sum)) in pairs.iter().zip(sums).enumerate() {
        if special >> lane & 1 == 0 {
            continue;
        }
        *sum = if left.of(&sources).is_infinity() {
            right.of(&sources).negate_if(right.is_negative())
        } else if right.of(&sources).is_infinity() {
            left.of(&sources).negate_if(left.is_negative())
        } else {
            PackedPoint::INFINITY
        };
    }
}

/// Puts the tangent's slope 3·x²/(2·y) into the given lanes.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma")]
fn double_lanes<const N: usize>(
    lanes: __mmask8,
    x: &Element<N>,
    y: &Element<N>,
    numerator: &mut Element<N>,
    denominator: &mut Element<N>,
) {
    let square = to_small(&square_raw(x));
    let triple = element_add_raw(&element_add_raw(&square, &square), &square);
    *numerator = blend(lanes, numerator, &to_factor(&triple));
    *denominator = blend(lanes, denominator, &to_factor(&element_add_raw(y, y)));
}

/// Finishes the sums of one group, given the inverses of its denominators.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn close_group<const N: usize>(
    group: &Group<N>,
    inverse: &Element<N>,
    sums: &mut [PackedPoint<N>],
) {
    let slope = element_mul(inverse, &load_sliced(&group.numerator));
    let square = square_raw(&slope);
    let x = to_small(&element_sub_raw(&square, &load_sliced(&group.x_sum)));
    let distance = to_factor(&element_sub_raw(&load_sliced(&group.x), &x));
    let product = mul_raw(&slope, &distance);
    let y = to_small(&element_sub_raw(&product, &load_sliced(&group.y)));
    store_points(&x, &y, sums);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn blend<const N: usize>(lanes: __mmask8, zero: &Element<N>, one: &Element<N>) -> Element<N> {
    let mut out = *zero;
    for k in 0..N {
        for j in 0..LIMBS {
            out[k][j] = _mm512_mask_blend_epi64(lanes, zero[k][j], one[k][j]);
        }
    }
    out
}

/// Loads one side of up to eight pairs: coordinates, y negated where the pick says so, and the lanes of infinity.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_picks<const N: usize, const SIDE: usize>(
    sources: Sources<'_, PackedPoint<N>>,
    pairs: &[[Pick; 2]],
) -> (Element<N>, Element<N>, __mmask8) {
    let infinity = PackedPoint::INFINITY;
    let mut points = [&infinity; GROUP];
    let mut negative: __mmask8 = 0;
    for (lane, (point, pair)) in points.iter_mut().zip(pairs).enumerate() {
        *point = pair[SIDE].of(&sources);
        negative |= __mmask8::from(pair[SIDE].is_negative()) << lane;
    }
    let (x, mut y) = load_points(&points);
    let mut infinite = _mm512_cmpeq_epi64_mask(y[0][0], splat(0));
    for limb in y.iter().flatten() {
        if infinite == 0 {
            break;
        }
        infinite &= _mm512_cmpeq_epi64_mask(*limb, splat(0));
    }
    for limbs in &mut y {
        for (limb, p) in limbs.iter_mut().zip(BaseField::LIMBS) {
            *limb = _mm512_mask_sub_epi64(*limb, negative, splat(p), *limb);
        }
    }
    (x, y, infinite)
}

/// Loads eight points.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_points<const N: usize>(points: &[&PackedPoint<N>; GROUP]) -> (Element<N>, Element<N>) {
    let mut x = [[splat(0); LIMBS]; N];
    let mut y = x;
    for k in 0..N {
        let mut x_rows = [splat(0); GROUP];
        let mut y_rows = [splat(0); GROUP];
        for (i, point) in points.iter().enumerate() {
            x_rows[i] = load(&point.x[k]);
            y_rows[i] = load(&point.y[k]);
        }
        x[k] = transpose(&x_rows);
        y[k] = transpose(&y_rows);
    }
    (x, y)
}

/// Stores the first lanes to up to eight points.
#[inline]
#[target_feature(enable = "avx512f")]
fn store_points<const N: usize>(x: &Element<N>, y: &Element<N>, points: &mut [PackedPoint<N>]) {
    for k in 0..N {
        let x_rows = transpose(&x[k]);
        let y_rows = transpose(&y[k]);
        for (i, point) in points.iter_mut().enumerate().take(GROUP) {
            store(x_rows[i], &mut point.x[k]);
            store(y_rows[i], &mut point.y[k]);
        }
    }
}

/// Decodes uncompressed points that were checked before; `points` and `encoded` have the same length.
pub(crate) fn decode<F: Coefficients<N> + CurveField, const N: usize>(
    _: Ifma,
    encoded: &[&[u8]],
    points: &mut [PackedPoint<N>],
) {
    for (encoded, points) in encoded.chunks(GROUP).zip(points.chunks_mut(GROUP)) {
        for (bytes, point) in encoded.iter().zip(points.iter_mut()) {
            let mut coefficients = bytes.chunks_exact(F::BYTES / N);
            let flags = coefficients
                .clone()
                .next()
                .map_or(0, |first| first[0] & 0xe0);
            for coordinate in [&mut point.x, &mut point.y] {
                // The coefficient of the highest power comes first.
                for (words, bytes) in coordinate.iter_mut().rev().zip(&mut coefficients) {
                    *words = Words(canonical_limbs(bytes));
                }
            }
            point.x[N - 1].0[LIMBS - 1] &= !(u64::from(flags) << (376 - 364));
        }
        // SAFETY: the `Ifma` value proves that the processor has the instructions.
        unsafe { points_to_montgomery(points) };
    }
}

/// Limbs of a 48-byte big-endian number.
fn canonical_limbs(bytes: &[u8]) -> [u64; LIMBS] {
    let mut words = [0; 6];
    for (word, chunk) in words.iter_mut().rev().zip(bytes.chunks_exact(8)) {
        let mut buffer = [0; 8];
        buffer.copy_from_slice(chunk);
        *word = u64::from_be_bytes(buffer);
    }
    split(words)
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn points_to_montgomery<const N: usize>(points: &mut [PackedPoint<N>]) {
    let infinity = PackedPoint::INFINITY;
    let mut rows = [&infinity; GROUP];
    for (row, point) in rows.iter_mut().zip(points.iter()) {
        *row = point;
    }
    let (mut x, mut y) = load_points(&rows);
    for limbs in x.iter_mut().chain(&mut y) {
        *limbs = to_montgomery(limbs);
    }
    store_points(&x, &y, points);
}
