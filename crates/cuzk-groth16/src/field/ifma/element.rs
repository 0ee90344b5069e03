//! Eight elements of Fp (N = 1) or Fp2 (N = 2) per value, so that one source serves G1 and G2.
//!
//! Ranges: "small" means in 0..p + 2^366, the form in which points are stored; sums of a few small values are valid
//! factors. Products are below p plus a negligible excess. Equality is decided modulo p where it matters.

use std::arch::x86_64::{
    __mmask8, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_cmpeq_epi64_mask,
    _mm512_permutexvar_epi64, _mm512_set_epi64, _mm512_srai_epi64, _mm512_sub_epi64,
};

use super::lanes::{Lanes, Words, load, splat, store};
use super::montgomery::{
    Modulus, Wide, add_modulus_raw, add_raw, join, normalize, reduce, split, sub_raw, wide_mul,
    wide_square,
};
use crate::field::{Coordinate, Fp, Fp2};
use blst::blst_fp;

/// Limbs of a base-field element.
pub(crate) const LIMBS: usize = 8;

/// The base field's modulus.
pub(crate) struct BaseField;

impl Modulus<LIMBS> for BaseField {
    const LIMBS: [u64; LIMBS] = split([
        0xb9fe_ffff_ffff_aaab,
        0x1eab_fffe_b153_ffff,
        0x6730_d2a0_f6b0_f624,
        0x6477_4b84_f385_12bf,
        0x4b1b_a7b6_434b_acd7,
        0x1a01_11ea_397f_e69a,
    ]);
    const NEG_INVERSE: u64 = 0x3_fffc_fffc_fffd;
}

/// 2^832 modulo p: the factor that takes a canonical value into Montgomery form here (R = 2^416).
const CANONICAL_TO_MONTGOMERY: [u64; LIMBS] = split([
    0x1a2a_5bf4_cb89_af51,
    0xec71_f13a_fbba_7ca3,
    0x7104_6590_3264_6160,
    0x480a_4a18_8311_a84d,
    0x6698_e590_7ad9_1f53,
    0x0874_6207_5d74_5072,
]);

/// 2^32 in `blst`'s Montgomery form: the quotient of the two radices.
const RADIX_QUOTIENT: Fp = Fp(blst_fp {
    l: [
        0x44f6_480e_a8e9_b9af,
        0xa96f_7d65_766c_8fe4,
        0xe82e_fd42_28b5_40fe,
        0x6723_e5f0_ade5_3b2e,
        0x25ff_6eb6_fdd4_230a,
        0x14c8_ee06_ef23_c24a,
    ],
});

/// 2^−32 in `blst`'s Montgomery form.
const RADIX_QUOTIENT_INVERSE: Fp = Fp(blst_fp {
    l: [0, 0, 0, 0, 0, 1 << 32],
});

/// Eight base-field elements, limb-sliced.
pub(crate) type Limbs = [Lanes; LIMBS];
/// Eight field elements of N coefficients each, limb-sliced.
pub(crate) type Element<const N: usize> = [Limbs; N];
/// One element in memory: limbs of each coefficient, possibly raw.
pub(crate) type Packed<const N: usize> = [Words; N];
/// Eight elements in memory, limb-sliced.
pub(crate) type Sliced<const N: usize> = [[Words; LIMBS]; N];

/// A field whose elements are N base-field coefficients.
pub(crate) trait Coefficients<const N: usize>: Coordinate {
    fn from_coefficients(coefficients: [Fp; N]) -> Self;
    fn coefficients(&self) -> [Fp; N];
}

impl Coefficients<1> for Fp {
    fn from_coefficients([c0]: [Fp; 1]) -> Self {
        c0
    }

    fn coefficients(&self) -> [Fp; 1] {
        [*self]
    }
}

impl Coefficients<2> for Fp2 {
    fn from_coefficients([c0, c1]: [Fp; 2]) -> Self {
        Self::new(c0, c1)
    }

    fn coefficients(&self) -> [Fp; 2] {
        [self.c0(), self.c1()]
    }
}

/// The stored form of a scalar value.
pub(crate) fn pack<F: Coefficients<N>, const N: usize>(value: &F) -> Packed<N> {
    value
        .coefficients()
        .map(|coefficient| Words(split(coefficient.mul(&RADIX_QUOTIENT).0.l)))
}

/// The scalar value of a stored form whose limbs may be raw and whose value is in 0..2^384.
pub(crate) fn unpack<F: Coefficients<N>, const N: usize>(packed: &Packed<N>) -> F {
    F::from_coefficients(
        packed.map(|words| Fp(blst_fp { l: join(&words.0) }).mul(&RADIX_QUOTIENT_INVERSE)),
    )
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_sliced<const N: usize>(words: &Sliced<N>) -> Element<N> {
    let mut element = [[splat(0); LIMBS]; N];
    for (limbs, words) in element.iter_mut().zip(words) {
        for (limb, words) in limbs.iter_mut().zip(words) {
            *limb = load(words);
        }
    }
    element
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_sliced<const N: usize>(element: &Element<N>, words: &mut Sliced<N>) {
    for (limbs, words) in element.iter().zip(words) {
        for (limb, words) in limbs.iter().zip(words) {
            store(*limb, words);
        }
    }
}

/// The same element in all lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn broadcast<const N: usize>(packed: &Packed<N>) -> Element<N> {
    let mut element = [[splat(0); LIMBS]; N];
    for (limbs, words) in element.iter_mut().zip(packed) {
        for (limb, word) in limbs.iter_mut().zip(&words.0) {
            *limb = splat(*word);
        }
    }
    element
}

/// Limb by limb difference, raw.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn element_sub_raw<const N: usize>(a: &Element<N>, b: &Element<N>) -> Element<N> {
    let mut out = *a;
    for k in 0..N {
        out[k] = sub_raw(&a[k], &b[k]);
    }
    out
}

/// Limb by limb sum, raw.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn element_add_raw<const N: usize>(a: &Element<N>, b: &Element<N>) -> Element<N> {
    let mut out = *a;
    for k in 0..N {
        out[k] = add_raw(&a[k], &b[k]);
    }
    out
}

/// Adds 4·p to raw limbs above −4·p and normalizes: a valid factor.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn to_factor<const N: usize>(raw: &Element<N>) -> Element<N> {
    let mut out = *raw;
    for k in 0..N {
        out[k] = normalize(&add_modulus_raw::<LIMBS, BaseField>(&raw[k], 4));
    }
    out
}

/// Brings raw limbs of a value in −3·p..2·p to the small form.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn to_small<const N: usize>(raw: &Element<N>) -> Element<N> {
    const TOP: usize = LIMBS - 1;
    const P: [u64; LIMBS] = BaseField::LIMBS;
    let mut out = *raw;
    for k in 0..N {
        // A lower bound of the value in units of 2^364 tells how many p to add: −1 to 3.
        let carry = _mm512_srai_epi64::<52>(raw[k][TOP - 1]);
        let bound = _mm512_add_epi64(raw[k][TOP], carry);
        let excess = _mm512_sub_epi64(bound, splat(P[TOP] + 2));
        let mut minus_count = _mm512_srai_epi64::<63>(excess);
        for times in 0..3 {
            let shortage = _mm512_add_epi64(bound, splat(times * P[TOP]));
            let shortage = _mm512_sub_epi64(shortage, splat(1));
            minus_count = _mm512_add_epi64(minus_count, _mm512_srai_epi64::<63>(shortage));
        }
        let mut limbs = raw[k];
        for j in 0..LIMBS {
            let p = P[j].cast_signed();
            let multiples = _mm512_set_epi64(0, p, 2 * p, 3 * p, 0, 0, 0, -p);
            let addend = _mm512_permutexvar_epi64(minus_count, multiples);
            limbs[j] = _mm512_add_epi64(limbs[j], addend);
        }
        out[k] = normalize(&limbs);
    }
    out
}

/// a·b with raw limbs, in −2^366..p + 2^366.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn mul_raw<const N: usize>(a: &Element<N>, b: &Element<N>) -> Element<N> {
    if N == 1 {
        return [reduce::<LIMBS, BaseField>(wide_mul(&a[0], &b[0])); N];
    }
    let low = wide_mul(&a[0], &b[0]);
    let high = wide_mul(&a[1], &b[1]);
    let a_sum = normalize(&add_raw(&a[0], &a[1]));
    let b_sum = normalize(&add_raw(&b[0], &b[1]));
    let mixed = wide_sub(&wide_sub(&wide_mul(&a_sum, &b_sum), &low), &high);
    let mut out = [reduce::<LIMBS, BaseField>(wide_sub(&low, &high)); N];
    out[1] = reduce::<LIMBS, BaseField>(mixed);
    out
}

/// a² with raw limbs, in −2^366..p + 2^366.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn square_raw<const N: usize>(a: &Element<N>) -> Element<N> {
    if N == 1 {
        return [reduce::<LIMBS, BaseField>(wide_square(&a[0])); N];
    }
    let sum = normalize(&add_raw(&a[0], &a[1]));
    let difference = sub_raw(&a[0], &a[1]);
    let difference = normalize(&add_modulus_raw::<LIMBS, BaseField>(&difference, 16));
    let twice = normalize(&add_raw(&a[0], &a[0]));
    let mut out = [reduce::<LIMBS, BaseField>(wide_mul(&sum, &difference)); N];
    out[1] = reduce::<LIMBS, BaseField>(wide_mul(&twice, &a[1]));
    out
}

/// a·b as a valid factor.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn element_mul<const N: usize>(a: &Element<N>, b: &Element<N>) -> Element<N> {
    let raw = mul_raw(a, b);
    let mut out = raw;
    for k in 0..N {
        // Only a difference of products can be negative.
        out[k] = if N == 1 {
            normalize(&raw[k])
        } else {
            normalize(&add_modulus_raw::<LIMBS, BaseField>(&raw[k], 1))
        };
    }
    out
}

#[inline]
#[target_feature(enable = "avx512f")]
fn wide_sub(a: &Wide, b: &Wide) -> Wide {
    let mut out = *a;
    for i in 0..out.len() {
        out[i] = _mm512_sub_epi64(a[i], b[i]);
    }
    out
}

/// Canonical values (normalized limbs) to Montgomery form.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn to_montgomery(canonical: &Limbs) -> Limbs {
    let factor = broadcast(&[Words(CANONICAL_TO_MONTGOMERY)]);
    normalize(&reduce::<LIMBS, BaseField>(wide_mul(canonical, &factor[0])))
}

/// Lanes in which a difference of two small values, made a factor by [`to_factor`], is zero modulo p.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn zero_lanes<const N: usize>(difference: &Element<N>) -> __mmask8 {
    let mut zero = 0xff;
    for limbs in difference {
        zero &=
            multiple_lanes(limbs, 3, 1) | multiple_lanes(limbs, 4, 1) | multiple_lanes(limbs, 5, 1);
        if zero == 0 {
            return 0;
        }
        zero &= multiple_lanes(limbs, 3, LIMBS)
            | multiple_lanes(limbs, 4, LIMBS)
            | multiple_lanes(limbs, 5, LIMBS);
    }
    zero
}

/// Lanes whose lowest `count` limbs are those of `times`·p.
#[inline]
#[target_feature(enable = "avx512f")]
fn multiple_lanes(limbs: &Limbs, times: u64, count: usize) -> __mmask8 {
    let mut multiple = [0; LIMBS];
    let mut carry = 0;
    for (out, limb) in multiple.iter_mut().zip(BaseField::LIMBS) {
        let value = times * limb + carry;
        *out = value & super::montgomery::LIMB_MASK;
        carry = value >> super::montgomery::LIMB_BITS;
    }
    let mut equal = 0xff;
    for j in 0..count {
        equal &= _mm512_cmpeq_epi64_mask(limbs[j], splat(multiple[j]));
    }
    equal
}

/// Moves lane i + BY to lane i, cyclically.
#[inline]
#[target_feature(enable = "avx512f")]
fn rotate<const N: usize, const BY: i32>(element: &Element<N>) -> Element<N> {
    let mut out = *element;
    for limbs in &mut out {
        for limb in limbs {
            *limb = _mm512_alignr_epi64::<BY>(*limb, *limb);
        }
    }
    out
}

/// The inverses of eight non-zero elements, with one scalar inversion.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn invert_lanes<F: Coefficients<N>, const N: usize>(element: &Element<N>) -> Element<N> {
    let halves = rotate::<N, 4>(element);
    let pairs = element_mul(element, &halves);
    let other_pairs = rotate::<N, 2>(&pairs);
    let quads = element_mul(&pairs, &other_pairs);
    let other_quads = rotate::<N, 1>(&quads);
    let product = element_mul(&quads, &other_quads);
    let others = element_mul(&element_mul(&halves, &other_pairs), &other_quads);

    let mut sliced = [[Words::ZERO; LIMBS]; N];
    store_sliced(&product, &mut sliced);
    let product: Packed<N> = sliced.map(|limbs| Words(limbs.map(|words| words.0[0])));
    let inverse = unpack::<F, N>(&product).inverse();
    element_mul(&broadcast(&pack(&inverse)), &others)
}

#[cfg(test)]
mod tests {
    use super::super::Ifma;
    use super::*;

    /// Coordinates at the edges of the range and some powers.
    fn samples<F: Coordinate>(generator: F) -> Vec<F> {
        let mut samples = vec![F::ZERO, F::ONE, F::ONE.neg(), F::ONE.double(), generator];
        while samples.len() < 16 {
            let last = samples[samples.len() - 1];
            samples.push(last.square().mul(&generator));
        }
        samples
    }

    #[target_feature(enable = "avx512f")]
    fn unpack_lanes<F: Coefficients<N>, const N: usize>(element: &Element<N>) -> Vec<F> {
        let mut sliced = [[Words::ZERO; LIMBS]; N];
        store_sliced(element, &mut sliced);
        (0..8)
            .map(|lane| unpack(&sliced.map(|limbs| Words(limbs.map(|words| words.0[lane])))))
            .collect()
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn check<F: Coefficients<N>, const N: usize>(samples: &[F]) {
        for a in samples {
            for b in samples {
                let (va, vb) = (broadcast(&pack(a)), broadcast(&pack(b)));
                let all = |value: F| vec![value; 8];
                assert_eq!(unpack_lanes::<F, N>(&element_mul(&va, &vb)), all(a.mul(b)));
                let sum = element_add_raw(&va, &vb);
                let difference = element_sub_raw(&va, &vb);
                let small = to_small(&difference);
                assert_eq!(unpack_lanes::<F, N>(&small), all(a.sub(b)));
                let product = element_mul(&to_factor(&sum), &to_factor(&difference));
                let expected = a.add(b).mul(&a.sub(b));
                assert_eq!(unpack_lanes::<F, N>(&product), all(expected));
                let square = to_small(&square_raw(&to_factor(&sum)));
                assert_eq!(unpack_lanes::<F, N>(&square), all(a.add(b).square()));
                let zero = zero_lanes(&to_factor(&difference));
                assert_eq!(zero == 0xff, a == b);
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn check_inverses<F: Coefficients<N>, const N: usize>(values: &[F]) {
        let mut sliced = [[Words::ZERO; LIMBS]; N];
        for (lane, value) in values.iter().enumerate() {
            let packed: Packed<N> = pack(value);
            for (limbs, words) in sliced.iter_mut().zip(packed) {
                for (limb, word) in limbs.iter_mut().zip(words.0) {
                    limb.0[lane] = word;
                }
            }
        }
        let inverses = invert_lanes::<F, N>(&load_sliced(&sliced));
        let expected: Vec<F> = values.iter().map(F::inverse).collect();
        assert_eq!(unpack_lanes::<F, N>(&inverses), expected);
    }

    #[test]
    fn arithmetic_is_that_of_blst_at_the_edges_of_the_range_too() {
        let Some(_) = Ifma::detect() else { return };
        let generator = Fp::ONE.double().double().add(&Fp::ONE);
        let extension = Fp2::new(generator, generator.neg());
        // SAFETY: the instructions were detected above.
        unsafe {
            check(&samples(generator));
            check(&samples(extension));
            check_inverses(&samples(generator)[5..13]);
            check_inverses(&samples(extension)[5..13]);
        }
    }
}
