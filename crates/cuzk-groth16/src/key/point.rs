//! A point read from a file must be a point of the group, not merely of the curve, and never infinity.

use blstrs::{G1Affine, G2Affine};
use thiserror::Error;

use crate::curve::{Affine, CurveField, PointError, decode_point};
use crate::field::{Fp, Fp2};

/// How thoroughly points are checked.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum PointCheck {
    /// Encoding, range of the coordinates, curve equation, not infinity.
    OnCurve,
    /// In addition membership in the subgroup of prime order (some hundred times dearer).
    Subgroup,
}

/// Why bytes are not an element of the group that they should encode.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PointDefect {
    /// The encoding is wrong or the point is not on the curve.
    #[error("{0}")]
    Encoding(PointError),
    /// The point at infinity, which no key and no proof contains.
    #[error("point at infinity")]
    Infinity,
    /// On the curve, but outside the subgroup of prime order.
    #[error("point on the curve but not in the subgroup of prime order")]
    NotInSubgroup,
}

/// A curve whose subgroup membership can be tested.
pub(crate) trait SubgroupField: CurveField {
    fn is_in_subgroup(point: &Self::BlstrsAffine) -> bool;
}

impl SubgroupField for Fp {
    fn is_in_subgroup(point: &G1Affine) -> bool {
        point.is_torsion_free().into()
    }
}

impl SubgroupField for Fp2 {
    fn is_in_subgroup(point: &G2Affine) -> bool {
        point.is_torsion_free().into()
    }
}

/// Decodes one uncompressed point and applies `check`.
///
/// # Errors
/// The first rule that the bytes break.
pub(crate) fn read_point<F: SubgroupField>(
    bytes: &[u8],
    check: PointCheck,
) -> Result<Affine<F>, PointDefect> {
    let point = decode_point::<F>(bytes).map_err(PointDefect::Encoding)?;
    if point.is_infinity() {
        return Err(PointDefect::Infinity);
    }
    if check == PointCheck::Subgroup && !F::is_in_subgroup(&point.to_blstrs()) {
        return Err(PointDefect::NotInSubgroup);
    }
    Ok(point)
}

#[cfg(test)]
mod tests {
    use group::prime::PrimeCurveAffine;

    use super::*;
    use crate::curve::encode_point;
    use crate::field::Coordinate;

    /// (0, 2) satisfies y² = x³ + 4 and has order 3.
    fn order_three() -> [u8; 96] {
        let two = Fp::ONE.double();
        let mut bytes = [0; 96];
        encode_point(
            &Affine {
                x: Fp::ZERO,
                y: two,
            },
            &mut bytes,
        );
        bytes
    }

    #[test]
    fn infinity_is_refused_at_both_levels() {
        let bytes = G1Affine::identity().to_uncompressed();
        for check in [PointCheck::OnCurve, PointCheck::Subgroup] {
            assert_eq!(read_point::<Fp>(&bytes, check), Err(PointDefect::Infinity));
        }
    }

    #[test]
    fn a_point_of_small_order_passes_the_curve_check_only() {
        let bytes = order_three();
        assert!(read_point::<Fp>(&bytes, PointCheck::OnCurve).is_ok());
        assert_eq!(
            read_point::<Fp>(&bytes, PointCheck::Subgroup),
            Err(PointDefect::NotInSubgroup)
        );
    }

    #[test]
    fn generators_pass_both_levels() {
        let g1 = G1Affine::generator();
        let g2 = G2Affine::generator();
        for check in [PointCheck::OnCurve, PointCheck::Subgroup] {
            assert_eq!(
                read_point::<Fp>(&g1.to_uncompressed(), check),
                Ok(g1.into())
            );
            assert_eq!(
                read_point::<Fp2>(&g2.to_uncompressed(), check),
                Ok(g2.into())
            );
        }
    }

    #[test]
    fn a_broken_encoding_is_named() {
        assert_eq!(
            read_point::<Fp2>(&[0; 192], PointCheck::OnCurve),
            Err(PointDefect::Encoding(PointError::NotOnCurve {
                group: "G2"
            }))
        );
    }
}
