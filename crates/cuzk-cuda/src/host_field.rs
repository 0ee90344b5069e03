//! blstrs hides its base field, but the device's results are coordinates. This is the one place that calls blst's
//! arithmetic and gives coordinates blstrs' types.
#![allow(
    unsafe_code,
    reason = "blst's arithmetic is a C interface, and blstrs has no constructor from coordinates"
)]

use blst::{blst_fp, blst_fp2, blst_p1, blst_p1_affine, blst_p2, blst_p2_affine};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};

/// Limbs of a base-field element in Montgomery form, least significant first.
pub type Fp = [u64; 6];
/// Real and imaginary part of an element of the quadratic extension.
pub type Fp2 = [Fp; 2];

/// The field of a group's coordinates, and the group's points made from them.
pub trait Coordinate: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// Points of the group.
    type Point: group::Group;

    /// The product of two elements.
    #[must_use]
    fn multiply(self, other: Self) -> Self;

    /// The point (x, y); (0, 0) is infinity.
    fn affine(x: Self, y: Self) -> Self::Point;

    /// The point (x / z^2, y / z^3).
    fn projective(x: Self, y: Self, z: Self) -> Self::Point;
}

fn fp2(value: Fp2) -> blst_fp2 {
    blst_fp2 {
        fp: value.map(|l| blst_fp { l }),
    }
}

impl Coordinate for Fp {
    type Point = G1Projective;

    fn multiply(self, other: Self) -> Self {
        let (a, b) = (blst_fp { l: self }, blst_fp { l: other });
        let mut product = blst_fp::default();
        // SAFETY: the three pointers come from live locals of the type that the function takes.
        unsafe { blst::blst_fp_mul(&raw mut product, &raw const a, &raw const b) };
        product.l
    }

    fn affine(x: Self, y: Self) -> G1Projective {
        let raw = blst_p1_affine {
            x: blst_fp { l: x },
            y: blst_fp { l: y },
        };
        // SAFETY: `G1Affine` is `repr(transparent)` over `blst_p1_affine`; any limbs are valid memory for it.
        unsafe { std::mem::transmute::<blst_p1_affine, G1Affine>(raw) }.into()
    }

    fn projective(x: Self, y: Self, z: Self) -> G1Projective {
        let raw = blst_p1 {
            x: blst_fp { l: x },
            y: blst_fp { l: y },
            z: blst_fp { l: z },
        };
        // SAFETY: `G1Projective` is `repr(transparent)` over `blst_p1`; any limbs are valid memory for it.
        unsafe { std::mem::transmute::<blst_p1, G1Projective>(raw) }
    }
}

impl Coordinate for Fp2 {
    type Point = G2Projective;

    fn multiply(self, other: Self) -> Self {
        let (a, b) = (fp2(self), fp2(other));
        let mut product = blst_fp2::default();
        // SAFETY: the three pointers come from live locals of the type that the function takes.
        unsafe { blst::blst_fp2_mul(&raw mut product, &raw const a, &raw const b) };
        product.fp.map(|part| part.l)
    }

    fn affine(x: Self, y: Self) -> G2Projective {
        let raw = blst_p2_affine {
            x: fp2(x),
            y: fp2(y),
        };
        // SAFETY: `G2Affine` is `repr(transparent)` over `blst_p2_affine`; any limbs are valid memory for it.
        unsafe { std::mem::transmute::<blst_p2_affine, G2Affine>(raw) }.into()
    }

    fn projective(x: Self, y: Self, z: Self) -> G2Projective {
        let raw = blst_p2 {
            x: fp2(x),
            y: fp2(y),
            z: fp2(z),
        };
        // SAFETY: `G2Projective` is `repr(transparent)` over `blst_p2`; any limbs are valid memory for it.
        unsafe { std::mem::transmute::<blst_p2, G2Projective>(raw) }
    }
}
