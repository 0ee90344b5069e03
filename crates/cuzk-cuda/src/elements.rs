//! Values as the kernels see them. blst keeps the same Montgomery form (R = 2^256 and 2^384), so host and device share
//! them without conversion.

use blst::{blst_fr, blst_p1_affine, blst_p2_affine};
use blstrs::{G1Affine, G2Affine, Scalar};
use group::Group;

use crate::host_field::{Coordinate, Fp, Fp2};

/// A scalar: four limbs, least significant first, Montgomery or canonical form by context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C, align(32))]
pub struct RawScalar(pub [u64; 4]);

impl From<Scalar> for RawScalar {
    /// Montgomery form.
    fn from(scalar: Scalar) -> Self {
        Self(blst_fr::from(scalar).l)
    }
}

impl RawScalar {
    /// Canonical form, below the modulus.
    pub fn canonical(scalar: &Scalar) -> Self {
        let bytes = scalar.to_bytes_le();
        let mut limbs = [0; 4];
        for (limb, chunk) in limbs.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            *limb = u64::from_le_bytes(word);
        }
        Self(limbs)
    }

    /// The scalar of a reduced Montgomery form.
    pub fn to_scalar(self) -> Scalar {
        Scalar::from(blst_fr { l: self.0 })
    }
}

/// An affine point in Montgomery form; infinity is all zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C, align(16))]
pub struct Base<C> {
    /// First coordinate.
    pub x: C,
    /// Second coordinate.
    pub y: C,
}

/// A base of G1.
pub type G1Base = Base<Fp>;
/// A base of G2.
pub type G2Base = Base<Fp2>;

impl From<&G1Affine> for G1Base {
    fn from(point: &G1Affine) -> Self {
        let raw: &blst_p1_affine = point.as_ref();
        Self {
            x: raw.x.l,
            y: raw.y.l,
        }
    }
}

impl From<&G2Affine> for G2Base {
    fn from(point: &G2Affine) -> Self {
        let raw: &blst_p2_affine = point.as_ref();
        Self {
            x: raw.x.fp.map(|part| part.l),
            y: raw.y.fp.map(|part| part.l),
        }
    }
}

impl<C: Coordinate> Base<C> {
    /// The point, which the device's arithmetic keeps on the curve.
    pub fn to_point(self) -> C::Point {
        C::affine(self.x, self.y)
    }
}

/// A point with denominators ZZ and ZZZ, Montgomery form; infinity has ZZ = 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C, align(16))]
pub struct Xyzz<C> {
    x: C,
    y: C,
    zz: C,
    zzz: C,
}

impl<C: Coordinate> Xyzz<C> {
    fn to_point(self) -> C::Point {
        if self.zz == C::default() {
            return C::Point::identity();
        }
        // With Z = ZZ: X ZZ / ZZ^2 = X / ZZ, and Y ZZZ / ZZ^3 = Y / ZZZ since ZZ^3 = ZZZ^2.
        C::projective(self.x.multiply(self.zz), self.y.multiply(self.zzz), self.zz)
    }
}

/// An entry of the reduction: entry q stands for `weighted + q * unit * plain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C, align(16))]
pub struct Partial<C> {
    plain: Xyzz<C>,
    weighted: Xyzz<C>,
}

/// The sum over windows of 2^low times the window's entries, whose unit is 2^`log_unit`, where low is the number of bits
/// of the windows before.
///
/// `entries` holds the windows one after the other, all of equal length; `bits` tells each window's bits.
pub fn combine_windows<C: Coordinate>(
    entries: &[Partial<C>],
    bits: &[u32],
    log_unit: u32,
) -> C::Point {
    let per_window = entries.len() / bits.len();
    let mut total = C::Point::identity();
    for (window, bits) in entries.chunks_exact(per_window).zip(bits).rev() {
        for _ in 0..*bits {
            total = total.double();
        }
        let mut plain = C::Point::identity();
        let mut weighted = C::Point::identity();
        let mut sum = C::Point::identity();
        for entry in window.iter().rev() {
            weighted += plain;
            plain += entry.plain.to_point();
            sum += entry.weighted.to_point();
        }
        for _ in 0..log_unit {
            weighted = weighted.double();
        }
        total += sum + weighted;
    }
    total
}

#[cfg(test)]
mod tests {
    use blstrs::{G1Projective, G2Projective};
    use group::Curve;

    use super::*;

    fn multiple(k: u64) -> G1Affine {
        (G1Projective::generator() * Scalar::from(k)).to_affine()
    }

    // Any field element serves as Z; the generator's coordinates are at hand.
    fn xyzz(k: u64) -> Xyzz<Fp> {
        if k == 0 {
            return Xyzz::default();
        }
        let base = G1Base::from(&multiple(k));
        let z = G1Base::from(&multiple(k + 1)).x;
        let zz = z.multiply(z);
        let zzz = zz.multiply(z);
        Xyzz {
            x: base.x.multiply(zz),
            y: base.y.multiply(zzz),
            zz,
            zzz,
        }
    }

    #[test]
    fn infinity_survives_the_round_trip() {
        let infinity = G1Affine::from(G1Projective::identity());
        assert_eq!(G1Base::from(&infinity), G1Base::default());
        assert_eq!(G1Base::default().to_point(), G1Projective::identity());
        assert_eq!(Xyzz::<Fp>::default().to_point(), G1Projective::identity());
        assert_eq!(G2Base::default().to_point(), G2Projective::identity());
    }

    #[test]
    fn points_survive_the_round_trip() {
        assert_eq!(G1Base::from(&multiple(5)).to_point(), multiple(5).into());
        assert_eq!(xyzz(7).to_point(), multiple(7).into());
        let point = G2Projective::generator() * Scalar::from(11);
        assert_eq!(G2Base::from(&point.to_affine()).to_point(), point);
    }

    #[test]
    fn scalars_keep_both_forms() {
        let scalar = -Scalar::from(3);
        assert_eq!(RawScalar::from(scalar).to_scalar(), scalar);
        assert_eq!(RawScalar::canonical(&Scalar::from(258)).0, [258, 0, 0, 0]);
    }

    #[test]
    fn windows_and_units_weigh_as_defined() {
        let partial = |plain, weighted| Partial {
            plain: xyzz(plain),
            weighted: xyzz(weighted),
        };
        let entries = [partial(1, 2), partial(0, 3), partial(4, 5), partial(6, 0)];
        // Window 0: 2 + 3 + 4 * (0 * 1 + 1 * 0); window 1, times 8: 5 + 0 + 4 * (0 * 4 + 1 * 6).
        let expected = 5 + 8 * (5 + 4 * 6);
        assert_eq!(
            combine_windows(&entries, &[3, 5], 2),
            multiple(expected).into()
        );
    }
}
