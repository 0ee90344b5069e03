//! The affine point type shared by both groups and its conversions to `blstrs`.

use std::fmt::Debug;

use blst::{blst_p1_affine, blst_p2_affine};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::prime::{PrimeCurve, PrimeCurveAffine};

use super::kernel::Kernels;
use crate::field::{Coordinate, Fp, Fp2};

/// A point (x, y) of G1 (over [`Fp`]) or G2 (over [`Fp2`]), or infinity, which is stored as (0, 0).
///
/// 96 bytes for G1, 192 for G2; Montgomery form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Affine<F> {
    /// The x coordinate, zero for infinity.
    pub x: F,
    /// The y coordinate, zero for infinity.
    pub y: F,
}

/// A point of G1.
pub type G1Point = Affine<Fp>;
/// A point of G2.
pub type G2Point = Affine<Fp2>;

/// A coordinate field together with the curve y² = x³ + b over it.
pub trait CurveField: Coordinate + Kernels {
    /// The affine point type of `blstrs` for this curve.
    type BlstrsAffine: PrimeCurveAffine<Scalar = Scalar, Curve = Self::Projective>
        + Debug
        + Default
        + Into<Self::Projective>;
    /// The projective point type of `blstrs` for this curve.
    type Projective: PrimeCurve<Scalar = Scalar, Affine = Self::BlstrsAffine>
        + Into<Self::BlstrsAffine>;

    /// "G1" or "G2", for messages.
    const NAME: &'static str;

    /// The constant b of the curve equation.
    fn curve_b() -> Self;
    /// The same point as `blstrs` spells it.
    fn to_blstrs(point: &Affine<Self>) -> Self::BlstrsAffine;
    /// The same point as this crate spells it.
    fn from_blstrs(point: &Self::BlstrsAffine) -> Affine<Self>;
}

impl<F: Coordinate> Affine<F> {
    /// The neutral element.
    pub const INFINITY: Self = Self {
        x: F::ZERO,
        y: F::ZERO,
    };

    /// Whether this is the neutral element.
    #[inline]
    pub fn is_infinity(&self) -> bool {
        self.x.is_zero() && self.y.is_zero()
    }

    /// The inverse point when `condition` holds, the point itself otherwise.
    #[inline]
    #[must_use]
    pub fn negate_if(&self, condition: bool) -> Self {
        Self {
            x: self.x,
            y: self.y.negate_if(condition),
        }
    }
}

impl<F: CurveField> Affine<F> {
    /// Whether the point is infinity or satisfies the curve equation.
    pub fn is_on_curve(&self) -> bool {
        let cube = self.x.square().mul(&self.x);
        self.is_infinity() || self.y.square() == cube.add(&F::curve_b())
    }

    /// The same point as a `blstrs` affine point.
    pub fn to_blstrs(&self) -> F::BlstrsAffine {
        F::to_blstrs(self)
    }

    /// The same point as a `blstrs` projective point.
    pub fn to_projective(&self) -> F::Projective {
        self.to_blstrs().into()
    }

    /// The affine form of a projective point (one inversion).
    pub fn from_projective(point: &F::Projective) -> Self {
        F::from_blstrs(&(*point).into())
    }
}

/// 4, the constant of G1's curve.
fn four() -> Fp {
    Fp::ONE.double().double()
}

impl CurveField for Fp {
    type BlstrsAffine = G1Affine;
    type Projective = G1Projective;

    const NAME: &'static str = "G1";

    fn curve_b() -> Self {
        four()
    }

    #[inline]
    fn to_blstrs(point: &Affine<Self>) -> G1Affine {
        let mut out = G1Affine::default();
        *out.as_mut() = blst_p1_affine {
            x: point.x.0,
            y: point.y.0,
        };
        out
    }

    #[inline]
    fn from_blstrs(point: &G1Affine) -> Affine<Self> {
        let raw = point.as_ref();
        Affine {
            x: Fp(raw.x),
            y: Fp(raw.y),
        }
    }
}

impl CurveField for Fp2 {
    type BlstrsAffine = G2Affine;
    type Projective = G2Projective;

    const NAME: &'static str = "G2";

    fn curve_b() -> Self {
        Self::new(four(), four())
    }

    #[inline]
    fn to_blstrs(point: &Affine<Self>) -> G2Affine {
        let mut out = G2Affine::default();
        *out.as_mut() = blst_p2_affine {
            x: point.x.0,
            y: point.y.0,
        };
        out
    }

    #[inline]
    fn from_blstrs(point: &G2Affine) -> Affine<Self> {
        let raw = point.as_ref();
        Affine {
            x: Fp2(raw.x),
            y: Fp2(raw.y),
        }
    }
}

macro_rules! conversions {
    ($field:ty, $affine:ty) => {
        impl From<&$affine> for Affine<$field> {
            fn from(point: &$affine) -> Self {
                <$field>::from_blstrs(point)
            }
        }

        impl From<$affine> for Affine<$field> {
            fn from(point: $affine) -> Self {
                <$field>::from_blstrs(&point)
            }
        }

        impl From<Affine<$field>> for $affine {
            fn from(point: Affine<$field>) -> Self {
                point.to_blstrs()
            }
        }
    };
}

conversions!(Fp, G1Affine);
conversions!(Fp2, G2Affine);

#[cfg(test)]
mod tests {
    use group::Group;

    use super::*;

    fn check<F: CurveField>() {
        let infinity = F::from_blstrs(&F::BlstrsAffine::identity());
        assert_eq!(infinity, Affine::INFINITY);
        assert!(infinity.is_infinity() && infinity.is_on_curve());
        assert!(bool::from(infinity.to_blstrs().is_identity()));

        let generator = F::from_blstrs(&F::BlstrsAffine::generator());
        assert!(!generator.is_infinity() && generator.is_on_curve());
        assert_eq!(generator.to_blstrs(), F::BlstrsAffine::generator());
        let minus = Affine::<F>::from_projective(&-F::Projective::generator());
        assert_eq!(generator.negate_if(true), minus);

        let off = Affine {
            x: generator.x,
            y: generator.y.double(),
        };
        assert!(!off.is_on_curve());
    }

    #[test]
    fn infinity_generator_and_negative_agree_with_blstrs() {
        check::<Fp>();
        check::<Fp2>();
    }
}
