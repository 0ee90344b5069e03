//! Eight scalars at a time, between the form of `blst` in memory and limbs in registers.
//!
//! In memory a scalar s is s·2^256 in four words. Products here divide by 2^260, so a factor is kept as f·2^260: the
//! product is then again in the form of `blst`, and no data is ever converted. Values in registers are sums of a few
//! reduced ones, at most 35·r; [`reduce`] brings them below r before they are stored.

use std::arch::x86_64::{
    _mm512_add_epi64, _mm512_and_si512, _mm512_cmpge_epu64_mask, _mm512_cvtepi64_pd,
    _mm512_cvttpd_epi64, _mm512_loadu_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_mul_pd, _mm512_or_si512, _mm512_permutex2var_epi64, _mm512_set_epi64, _mm512_set1_pd,
    _mm512_shuffle_i64x2, _mm512_slli_epi64, _mm512_srai_epi64, _mm512_srli_epi64,
    _mm512_storeu_si512, _mm512_sub_epi64,
};

use blst::blst_fr;
use blstrs::Scalar;

use super::lanes::{Lanes, Words, load, splat, store, transpose};
use super::montgomery::{
    LIMB_MASK, Modulus, add_modulus_raw, add_raw, join, normalize, split, sub_raw, wide_mul,
};

/// Limbs of a scalar.
pub(crate) const LIMBS: usize = 5;
/// Scalars per vector.
pub(crate) const GROUP: usize = 8;

const MODULUS_WORDS: [u64; 4] = [
    0xffff_ffff_0000_0001,
    0x53bd_a402_fffe_5bfe,
    0x3339_d808_09a1_d805,
    0x73ed_a753_299d_7d48,
];

/// r, the modulus of the scalar field.
pub(crate) struct ScalarField;

impl Modulus<LIMBS> for ScalarField {
    const LIMBS: [u64; LIMBS] = split(MODULUS_WORDS);
    const NEG_INVERSE: u64 = 0xf_fffe_ffff_ffff;
}

/// 2^260 − r.
const NEG_MODULUS: [u64; LIMBS] = [
    0x0_0000_ffff_ffff,
    0xf_d000_1a40_1000,
    0x6_5e27_faac_425b,
    0x8_2b7c_cc62_7f7f,
    0xf_8c12_58ac_d662,
];

/// Eight scalars, limb-sliced.
pub(crate) type Limbs = [Lanes; LIMBS];

/// The factor that turns `value`·2^256 into `value`·2^260.
pub(crate) fn scaled(value: Scalar) -> Scalar {
    value * Scalar::from(16)
}

/// Loads eight consecutive scalars.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_scalars(scalars: &[Scalar]) -> Limbs {
    assert!(scalars.len() >= GROUP, "eight scalars are read");
    let pointer = scalars.as_ptr();
    let mut rows = [splat(0); 4];
    for (index, row) in rows.iter_mut().enumerate() {
        // SAFETY: each row is two scalars of 32 bytes, and the slice has eight.
        *row = unsafe { _mm512_loadu_si512(pointer.add(2 * index).cast()) };
    }
    split_words(&gather_words(&rows))
}

/// Stores eight consecutive scalars; `limbs` are reduced.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_scalars(limbs: &Limbs, scalars: &mut [Scalar]) {
    assert!(scalars.len() >= GROUP, "eight scalars are written");
    let rows = scatter_words(&join_words(limbs));
    let pointer = scalars.as_mut_ptr();
    for (index, row) in rows.iter().enumerate() {
        // SAFETY: each row is two scalars of 32 bytes, and the slice has eight. A scalar is any four words below the
        // modulus.
        unsafe { _mm512_storeu_si512(pointer.add(2 * index).cast(), *row) };
    }
}

/// The same scalar in all lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn broadcast(scalar: Scalar) -> Limbs {
    let words: [u64; LIMBS] = split(blst_fr::from(scalar).l);
    let mut limbs = [splat(0); LIMBS];
    for (limb, word) in limbs.iter_mut().zip(words) {
        *limb = splat(word);
    }
    limbs
}

/// Word j of eight scalars from four rows of two scalars.
#[inline]
#[target_feature(enable = "avx512f")]
fn gather_words(rows: &[Lanes; 4]) -> [Lanes; 4] {
    const LOW: i32 = 0b01_00_01_00;
    const HIGH: i32 = 0b11_10_11_10;
    let first = _mm512_set_epi64(13, 9, 5, 1, 12, 8, 4, 0);
    let second = _mm512_set_epi64(15, 11, 7, 3, 14, 10, 6, 2);
    let low01 = _mm512_permutex2var_epi64(rows[0], first, rows[1]);
    let high01 = _mm512_permutex2var_epi64(rows[2], first, rows[3]);
    let low23 = _mm512_permutex2var_epi64(rows[0], second, rows[1]);
    let high23 = _mm512_permutex2var_epi64(rows[2], second, rows[3]);
    [
        _mm512_shuffle_i64x2::<LOW>(low01, high01),
        _mm512_shuffle_i64x2::<HIGH>(low01, high01),
        _mm512_shuffle_i64x2::<LOW>(low23, high23),
        _mm512_shuffle_i64x2::<HIGH>(low23, high23),
    ]
}

/// The inverse of [`gather_words`].
#[inline]
#[target_feature(enable = "avx512f")]
fn scatter_words(words: &[Lanes; 4]) -> [Lanes; 4] {
    const LOW: i32 = 0b01_00_01_00;
    const HIGH: i32 = 0b11_10_11_10;
    let low01 = _mm512_shuffle_i64x2::<LOW>(words[0], words[1]);
    let high01 = _mm512_shuffle_i64x2::<HIGH>(words[0], words[1]);
    let low23 = _mm512_shuffle_i64x2::<LOW>(words[2], words[3]);
    let high23 = _mm512_shuffle_i64x2::<HIGH>(words[2], words[3]);
    let even = _mm512_set_epi64(13, 9, 5, 1, 12, 8, 4, 0);
    let odd = _mm512_set_epi64(15, 11, 7, 3, 14, 10, 6, 2);
    [
        _mm512_permutex2var_epi64(low01, even, low23),
        _mm512_permutex2var_epi64(low01, odd, low23),
        _mm512_permutex2var_epi64(high01, even, high23),
        _mm512_permutex2var_epi64(high01, odd, high23),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn split_words(words: &[Lanes; 4]) -> Limbs {
    let mask = splat(LIMB_MASK);
    let [w0, w1, w2, w3] = *words;
    let l1 = _mm512_or_si512(_mm512_srli_epi64::<52>(w0), _mm512_slli_epi64::<12>(w1));
    let l2 = _mm512_or_si512(_mm512_srli_epi64::<40>(w1), _mm512_slli_epi64::<24>(w2));
    let l3 = _mm512_or_si512(_mm512_srli_epi64::<28>(w2), _mm512_slli_epi64::<36>(w3));
    [
        _mm512_and_si512(w0, mask),
        _mm512_and_si512(l1, mask),
        _mm512_and_si512(l2, mask),
        _mm512_and_si512(l3, mask),
        _mm512_srli_epi64::<16>(w3),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn join_words(limbs: &Limbs) -> [Lanes; 4] {
    let [l0, l1, l2, l3, l4] = *limbs;
    [
        _mm512_or_si512(l0, _mm512_slli_epi64::<52>(l1)),
        _mm512_or_si512(_mm512_srli_epi64::<12>(l1), _mm512_slli_epi64::<40>(l2)),
        _mm512_or_si512(_mm512_srli_epi64::<24>(l2), _mm512_slli_epi64::<28>(l3)),
        _mm512_or_si512(_mm512_srli_epi64::<36>(l3), _mm512_slli_epi64::<16>(l4)),
    ]
}

/// a·b/2^260 with raw limbs: below 2·r for a up to 35·r and b up to r.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn mul_raw(a: &Limbs, b: &Limbs) -> Limbs {
    super::montgomery::reduce::<LIMBS, ScalarField>(wide_mul(a, b))
}

/// a·b/2^260, carried: a valid factor.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn mul(a: &Limbs, b: &Limbs) -> Limbs {
    normalize(&mul_raw(a, b))
}

/// a + b, raw.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn add(a: &Limbs, b: &Limbs) -> Limbs {
    add_raw(a, b)
}

/// a − b + `times`·r, raw; not negative when b is at most `times`·r.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn sub(a: &Limbs, b: &Limbs, times: u64) -> Limbs {
    add_modulus_raw::<LIMBS, ScalarField>(&sub_raw(a, b), times)
}

/// The value below r that is congruent to raw limbs of a value in 0..35·r.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(crate) fn reduce(raw: &Limbs) -> Limbs {
    const TOP: usize = LIMBS - 1;
    let top_of_modulus = ScalarField::LIMBS[TOP] as f64;
    // From a lower bound of the value in units of 2^208: how often r fits in for certain.
    let carry = _mm512_srai_epi64::<52>(raw[TOP - 1]);
    let bound = _mm512_sub_epi64(_mm512_add_epi64(raw[TOP], carry), splat(1));
    let inverse = _mm512_set1_pd(1.0 / (top_of_modulus + 1.0));
    let times = _mm512_cvttpd_epi64(_mm512_mul_pd(_mm512_cvtepi64_pd(bound), inverse));
    let mut limbs = *raw;
    for j in 0..LIMBS {
        let limb = splat(NEG_MODULUS[j]);
        limbs[j] = _mm512_madd52lo_epu64(limbs[j], times, limb);
        if j + 1 < LIMBS {
            limbs[j + 1] = _mm512_madd52hi_epu64(limbs[j + 1], times, limb);
        }
    }
    let mut limbs = normalize(&limbs);
    limbs[TOP] = _mm512_and_si512(limbs[TOP], splat(LIMB_MASK));
    // Only values whose top limb is that of r can still be r or slightly more.
    if _mm512_cmpge_epu64_mask(limbs[TOP], splat(ScalarField::LIMBS[TOP])) != 0 {
        subtract_modulus(&mut limbs);
    }
    limbs
}

/// Subtracts r in the lanes that are not below it.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f")]
fn subtract_modulus(limbs: &mut Limbs) {
    let mut rows = [Words::ZERO; LIMBS];
    for (row, limb) in rows.iter_mut().zip(limbs.iter()) {
        store(*limb, row);
    }
    for lane in 0..GROUP {
        let value: [u64; LIMBS] = std::array::from_fn(|j| rows[j].0[lane]);
        if value.iter().rev().ge(ScalarField::LIMBS.iter().rev()) {
            let difference: [u64; LIMBS] =
                std::array::from_fn(|j| value[j].wrapping_sub(ScalarField::LIMBS[j]));
            let words: [u64; 4] = join(&difference);
            let value: [u64; LIMBS] = split(words);
            for (row, limb) in rows.iter_mut().zip(value) {
                row.0[lane] = limb;
            }
        }
    }
    for (row, limb) in rows.iter().zip(limbs.iter_mut()) {
        *limb = load(row);
    }
}

/// Lane i of vector j becomes lane j of vector i.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn transpose_lanes(vectors: &mut [Limbs; GROUP]) {
    for limb in 0..LIMBS {
        let mut rows = [splat(0); GROUP];
        for (row, vector) in rows.iter_mut().zip(vectors.iter()) {
            *row = vector[limb];
        }
        for (vector, row) in vectors.iter_mut().zip(transpose(&rows)) {
            vector[limb] = row;
        }
    }
}
