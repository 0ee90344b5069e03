//! Montgomery multiplication of eight pairs at once, generic over the modulus and its number of 52-bit limbs.
//!
//! A product is computed in full (independent multiply-adds keep both vector ports busy) and then reduced limb by
//! limb. With L limbs and R = 2^(52·L), inputs must have limbs in 0..2^52; the result is congruent to a·b/R and
//! below p + a·b/R, so that for inputs of a few p it exceeds p by a negligible amount only. "Raw" limbs are sums and
//! differences that were not carried: signed 64-bit words, to be normalized before they are multiplied.

use std::arch::x86_64::{
    _mm512_add_epi64, _mm512_and_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_setzero_si512, _mm512_srai_epi64, _mm512_sub_epi64,
};

use super::lanes::{Lanes, splat};

/// Bits per limb.
pub(crate) const LIMB_BITS: u32 = 52;
/// The largest limb.
pub(crate) const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;
/// Limbs of an unreduced product; smaller fields leave the upper ones untouched.
const WIDE_LIMBS: usize = 16;

/// An odd modulus of L limbs.
pub(crate) trait Modulus<const L: usize> {
    /// Its limbs, least significant first.
    const LIMBS: [u64; L];
    /// −p⁻¹ modulo 2^52.
    const NEG_INVERSE: u64;
}

/// An unreduced product, raw limbs.
pub(crate) type Wide = [Lanes; WIDE_LIMBS];

/// Splits little-endian 64-bit words into limbs.
pub(crate) const fn split<const W: usize, const L: usize>(words: [u64; W]) -> [u64; L] {
    let mut limbs = [0; L];
    let mut index = 0;
    while index < L {
        let bit = index * LIMB_BITS as usize;
        let (word, shift) = (bit / 64, bit % 64);
        let mut limb = if word < W { words[word] >> shift } else { 0 };
        if shift != 0 && word + 1 < W {
            limb |= words[word + 1] << (64 - shift);
        }
        limbs[index] = limb & LIMB_MASK;
        index += 1;
    }
    limbs
}

/// Joins limbs, which may be raw (signed and not carried) if their value is not negative, into 64-bit words.
pub(crate) fn join<const L: usize, const W: usize>(limbs: &[u64; L]) -> [u64; W] {
    let mut words = [0; W];
    let mut carry = 0_i64;
    for (index, limb) in limbs.iter().enumerate() {
        let value = limb.cast_signed() + carry;
        carry = value >> LIMB_BITS;
        let limb = value.cast_unsigned() & LIMB_MASK;
        let bit = index * LIMB_BITS as usize;
        let (word, shift) = (bit / 64, bit % 64);
        if word < W {
            words[word] |= limb << shift;
        }
        if shift > 64 - LIMB_BITS as usize && word + 1 < W {
            words[word + 1] |= limb >> (64 - shift);
        }
    }
    words
}

/// All products of limbs of `a` and `b`, added up by weight.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn wide_mul<const L: usize>(a: &[Lanes; L], b: &[Lanes; L]) -> Wide {
    let mut wide = [_mm512_setzero_si512(); WIDE_LIMBS];
    for i in 0..L {
        for j in 0..L {
            wide[i + j] = _mm512_madd52lo_epu64(wide[i + j], a[j], b[i]);
            wide[i + j + 1] = _mm512_madd52hi_epu64(wide[i + j + 1], a[j], b[i]);
        }
    }
    wide
}

/// As [`wide_mul`] with both factors equal: mixed products once and doubled.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn wide_square<const L: usize>(a: &[Lanes; L]) -> Wide {
    let mut wide = [_mm512_setzero_si512(); WIDE_LIMBS];
    for i in 0..L {
        for j in i + 1..L {
            wide[i + j] = _mm512_madd52lo_epu64(wide[i + j], a[j], a[i]);
            wide[i + j + 1] = _mm512_madd52hi_epu64(wide[i + j + 1], a[j], a[i]);
        }
    }
    for limb in wide.iter_mut().take(2 * L) {
        *limb = _mm512_add_epi64(*limb, *limb);
    }
    for i in 0..L {
        wide[2 * i] = _mm512_madd52lo_epu64(wide[2 * i], a[i], a[i]);
        wide[2 * i + 1] = _mm512_madd52hi_epu64(wide[2 * i + 1], a[i], a[i]);
    }
    wide
}

/// Montgomery reduction of an unreduced product to raw limbs; their value is `wide`/R plus less than p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn reduce<const L: usize, M: Modulus<L>>(mut wide: Wide) -> [Lanes; L] {
    let zero = _mm512_setzero_si512();
    let mask = splat(LIMB_MASK);
    let neg_inverse = splat(M::NEG_INVERSE);
    for i in 0..L {
        let quotient = _mm512_madd52lo_epu64(zero, wide[i], neg_inverse);
        // The lowest limb of quotient·p cancels that of `wide`: what it would carry is known without computing it.
        let carry = _mm512_srai_epi64::<LIMB_BITS>(_mm512_add_epi64(wide[i], mask));
        for j in 1..L {
            let limb = splat(M::LIMBS[j]);
            wide[i + j] = _mm512_madd52lo_epu64(wide[i + j], quotient, limb);
        }
        for j in 0..L {
            let limb = splat(M::LIMBS[j]);
            wide[i + j + 1] = _mm512_madd52hi_epu64(wide[i + j + 1], quotient, limb);
        }
        wide[i + 1] = _mm512_add_epi64(wide[i + 1], carry);
    }
    let mut limbs = [zero; L];
    limbs.copy_from_slice(&wide[L..2 * L]);
    limbs
}

/// Carries raw limbs so that all but the top one are in 0..2^52; the top one keeps the sign.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn normalize<const L: usize>(raw: &[Lanes; L]) -> [Lanes; L] {
    let mask = splat(LIMB_MASK);
    let mut limbs = *raw;
    for i in 0..L - 1 {
        let carry = _mm512_srai_epi64::<LIMB_BITS>(limbs[i]);
        limbs[i] = _mm512_and_si512(limbs[i], mask);
        limbs[i + 1] = _mm512_add_epi64(limbs[i + 1], carry);
    }
    limbs
}

/// Sum limb by limb, raw.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn add_raw<const L: usize>(a: &[Lanes; L], b: &[Lanes; L]) -> [Lanes; L] {
    let mut sum = *a;
    for i in 0..L {
        sum[i] = _mm512_add_epi64(a[i], b[i]);
    }
    sum
}

/// Difference limb by limb, raw.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn sub_raw<const L: usize>(a: &[Lanes; L], b: &[Lanes; L]) -> [Lanes; L] {
    let mut difference = *a;
    for i in 0..L {
        difference[i] = _mm512_sub_epi64(a[i], b[i]);
    }
    difference
}

/// `value` + `times`·p limb by limb, raw.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn add_modulus_raw<const L: usize, M: Modulus<L>>(
    value: &[Lanes; L],
    times: u64,
) -> [Lanes; L] {
    let mut sum = *value;
    for i in 0..L {
        sum[i] = _mm512_add_epi64(value[i], splat(times * M::LIMBS[i]));
    }
    sum
}
