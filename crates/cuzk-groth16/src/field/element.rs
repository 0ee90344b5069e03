//! Fp and Fp2 exist in `blst` as C functions over raw pointers; here they become values with methods.
//!
//! The representation is `blst`'s own (six 64-bit limbs, Montgomery form, reduced), so a pair of elements has the
//! layout of an affine point of `blst` and converts without arithmetic.

#![allow(
    unsafe_code,
    reason = "blst offers its field arithmetic only as C functions over pointers"
)]

use blst::{blst_fp, blst_fp2};

use super::Coordinate;

const LIMBS: usize = 6;
const FP_BYTES: usize = 48;

/// The modulus, least significant limb first.
const MODULUS: [u64; LIMBS] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// 2^384 modulo the modulus: one in Montgomery form.
const ONE: [u64; LIMBS] = [
    0x7609_0000_0002_fffd,
    0xebf4_000b_c40c_0002,
    0x5f48_9857_53c7_58ba,
    0x77ce_5853_7052_5745,
    0x5c07_1a97_a256_ec6d,
    0x15f6_5ec3_fa80_e493,
];

/// An element of the base field of BLS12-381, in Montgomery form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Fp(pub(crate) blst_fp);

/// An element c0 + c1·u of the quadratic extension, u² = −1, in Montgomery form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Fp2(pub(crate) blst_fp2);

impl Fp2 {
    /// The element `c0 + c1·u`.
    pub const fn new(c0: Fp, c1: Fp) -> Self {
        Self(blst_fp2 { fp: [c0.0, c1.0] })
    }

    /// The coefficient of 1.
    pub const fn c0(&self) -> Fp {
        Fp(self.0.fp[0])
    }

    /// The coefficient of u.
    pub const fn c1(&self) -> Fp {
        Fp(self.0.fp[1])
    }
}

/// Implements the arithmetic methods of [`Coordinate`] by the `blst` functions of one field.
macro_rules! arithmetic_by_blst {
    ($raw:ident, $add:ident, $sub:ident, $mul:ident, $sqr:ident, $cneg:ident, $inverse:ident) => {
        #[inline(always)]
        fn add(&self, other: &Self) -> Self {
            let mut out = blst::$raw::default();
            // SAFETY: the three pointers refer to live elements of the type that blst expects.
            unsafe { blst::$add(&raw mut out, &raw const self.0, &raw const other.0) };
            Self(out)
        }

        #[inline(always)]
        fn sub(&self, other: &Self) -> Self {
            let mut out = blst::$raw::default();
            // SAFETY: the three pointers refer to live elements of the type that blst expects.
            unsafe { blst::$sub(&raw mut out, &raw const self.0, &raw const other.0) };
            Self(out)
        }

        #[inline(always)]
        fn mul(&self, other: &Self) -> Self {
            let mut out = blst::$raw::default();
            // SAFETY: the three pointers refer to live elements of the type that blst expects.
            unsafe { blst::$mul(&raw mut out, &raw const self.0, &raw const other.0) };
            Self(out)
        }

        #[inline(always)]
        fn set_mul(&mut self, left: &Self, right: &Self) {
            // SAFETY: the three pointers refer to live elements of the type that blst expects.
            unsafe { blst::$mul(&raw mut self.0, &raw const left.0, &raw const right.0) };
        }

        #[inline(always)]
        fn set_sub(&mut self, left: &Self, right: &Self) {
            // SAFETY: the three pointers refer to live elements of the type that blst expects.
            unsafe { blst::$sub(&raw mut self.0, &raw const left.0, &raw const right.0) };
        }

        #[inline(always)]
        fn mul_assign(&mut self, other: &Self) {
            let own = &raw mut self.0;
            // SAFETY: both elements are live; blst allows its output to be an input.
            unsafe { blst::$mul(own, own, &raw const other.0) };
        }

        #[inline(always)]
        fn sub_assign(&mut self, other: &Self) {
            let own = &raw mut self.0;
            // SAFETY: both elements are live; blst allows its output to be an input.
            unsafe { blst::$sub(own, own, &raw const other.0) };
        }

        #[inline(always)]
        fn square(&self) -> Self {
            let mut out = blst::$raw::default();
            // SAFETY: the two pointers refer to live elements of the type that blst expects.
            unsafe { blst::$sqr(&raw mut out, &raw const self.0) };
            Self(out)
        }

        #[inline(always)]
        fn negate_if(&self, condition: bool) -> Self {
            let mut out = blst::$raw::default();
            // SAFETY: the two pointers refer to live elements of the type that blst expects.
            unsafe { blst::$cneg(&raw mut out, &raw const self.0, condition) };
            Self(out)
        }

        fn inverse(&self) -> Self {
            let mut out = blst::$raw::default();
            // SAFETY: the two pointers refer to live elements of the type that blst expects.
            unsafe { blst::$inverse(&raw mut out, &raw const self.0) };
            Self(out)
        }
    };
}

/// Limbs of a 48-byte big-endian number, least significant first.
fn limbs_from_bytes(bytes: &[u8]) -> [u64; LIMBS] {
    let mut limbs = [0; LIMBS];
    for (limb, chunk) in limbs.iter_mut().rev().zip(bytes.chunks_exact(8)) {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        *limb = u64::from_be_bytes(word);
    }
    limbs
}

fn is_below_modulus(limbs: &[u64; LIMBS]) -> bool {
    limbs.iter().rev().lt(MODULUS.iter().rev())
}

impl Coordinate for Fp {
    const ZERO: Self = Self(blst_fp { l: [0; LIMBS] });
    const ONE: Self = Self(blst_fp { l: ONE });
    const BYTES: usize = FP_BYTES;

    arithmetic_by_blst!(
        blst_fp,
        blst_fp_add,
        blst_fp_sub,
        blst_fp_mul,
        blst_fp_sqr,
        blst_fp_cneg,
        blst_fp_eucl_inverse
    );

    fn from_bytes_reduced(bytes: &[u8]) -> Self {
        let limbs = limbs_from_bytes(bytes);
        let mut out = blst_fp::default();
        // SAFETY: `limbs` is the array of six 64-bit words that blst reads, `out` the element that it writes.
        unsafe { blst::blst_fp_from_uint64(&raw mut out, limbs.as_ptr()) };
        Self(out)
    }

    fn is_canonical(bytes: &[u8]) -> bool {
        is_below_modulus(&limbs_from_bytes(bytes))
    }

    fn write_bytes(&self, bytes: &mut [u8]) {
        let mut limbs = [0; LIMBS];
        // SAFETY: `limbs` is the array of six 64-bit words that blst writes.
        unsafe { blst::blst_uint64_from_fp(limbs.as_mut_ptr(), &raw const self.0) };
        for (limb, chunk) in limbs.iter().rev().zip(bytes.chunks_exact_mut(8)) {
            chunk.copy_from_slice(&limb.to_be_bytes());
        }
    }
}

impl Coordinate for Fp2 {
    const ZERO: Self = Self::new(Fp::ZERO, Fp::ZERO);
    const ONE: Self = Self::new(Fp::ONE, Fp::ZERO);
    const BYTES: usize = 2 * FP_BYTES;

    arithmetic_by_blst!(
        blst_fp2,
        blst_fp2_add,
        blst_fp2_sub,
        blst_fp2_mul,
        blst_fp2_sqr,
        blst_fp2_cneg,
        blst_fp2_eucl_inverse
    );

    fn from_bytes_reduced(bytes: &[u8]) -> Self {
        let (c1, c0) = bytes.split_at(FP_BYTES);
        Self::new(Fp::from_bytes_reduced(c0), Fp::from_bytes_reduced(c1))
    }

    fn is_canonical(bytes: &[u8]) -> bool {
        bytes.chunks_exact(FP_BYTES).all(Fp::is_canonical)
    }

    fn write_bytes(&self, bytes: &mut [u8]) {
        let (c1, c0) = bytes.split_at_mut(FP_BYTES);
        self.c0().write_bytes(c0);
        self.c1().write_bytes(c1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modulus_bytes() -> [u8; FP_BYTES] {
        let mut bytes = [0; FP_BYTES];
        for (limb, chunk) in MODULUS.iter().rev().zip(bytes.chunks_exact_mut(8)) {
            chunk.copy_from_slice(&limb.to_be_bytes());
        }
        bytes
    }

    fn small(value: u8) -> Fp {
        let mut bytes = [0; FP_BYTES];
        bytes[FP_BYTES - 1] = value;
        Fp::from_bytes_reduced(&bytes)
    }

    #[test]
    fn one_is_the_encoding_of_one_and_neutral() {
        assert_eq!(small(1), Fp::ONE);
        assert_eq!(small(7).mul(&Fp::ONE), small(7));
        let x = Fp2::new(small(3), small(5));
        assert_eq!(x.mul(&Fp2::ONE), x);
    }

    #[test]
    fn the_modulus_is_not_canonical_and_reduces_to_zero() {
        let mut bytes = modulus_bytes();
        assert!(!Fp::is_canonical(&bytes));
        assert_eq!(Fp::from_bytes_reduced(&bytes), Fp::ZERO);
        bytes[FP_BYTES - 1] -= 1;
        assert!(Fp::is_canonical(&bytes));
        assert_eq!(Fp::from_bytes_reduced(&bytes), Fp::ONE.neg());
    }

    #[test]
    fn an_extension_is_canonical_only_when_both_coefficients_are() {
        let mut bytes = [0; 2 * FP_BYTES];
        assert!(Fp2::is_canonical(&bytes));
        bytes[FP_BYTES..].copy_from_slice(&modulus_bytes());
        assert!(!Fp2::is_canonical(&bytes));
        bytes.rotate_left(FP_BYTES);
        assert!(!Fp2::is_canonical(&bytes));
    }

    #[test]
    fn the_square_of_u_is_minus_one() {
        let u = Fp2::new(Fp::ZERO, Fp::ONE);
        assert_eq!(u.square(), Fp2::ONE.neg());
        assert_eq!(u.inverse(), u.neg());
    }

    #[test]
    fn zero_has_the_inverse_zero_and_is_its_own_negative() {
        assert_eq!(Fp::ZERO.inverse(), Fp::ZERO);
        assert_eq!(Fp2::ZERO.inverse(), Fp2::ZERO);
        assert_eq!(Fp::ZERO.neg(), Fp::ZERO);
    }

    #[test]
    fn bytes_survive_a_round_trip_with_the_coefficient_of_u_first() {
        let x = Fp2::new(small(3), small(5).neg());
        let mut bytes = [0; 2 * FP_BYTES];
        x.write_bytes(&mut bytes);
        assert_eq!(bytes[2 * FP_BYTES - 1], 3);
        assert_eq!(Fp2::from_bytes_reduced(&bytes), x);
    }
}
