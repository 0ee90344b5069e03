//! Key files hold points uncompressed: 96 bytes for G1, 192 for G2, big-endian, with flag bits in the first byte.
//!
//! Encoding of the Zcash protocol: x then y, the coefficient of u first in G2; the top bit of the first byte says
//! "compressed", the next "infinity", the third "y is the larger root" (compressed form only).

use thiserror::Error;

use super::{Affine, CurveField};

const COMPRESSED: u8 = 0x80;
const INFINITY: u8 = 0x40;
const LARGER_ROOT: u8 = 0x20;
const FLAGS: u8 = COMPRESSED | INFINITY | LARGER_ROOT;

/// Why bytes are not an uncompressed point.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PointError {
    /// The slice has the wrong length.
    #[error("{group} point of {found} bytes, expected {expected}")]
    Length {
        /// "G1" or "G2".
        group: &'static str,
        /// Bytes that the encoding has.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// The flag bits say compressed or carry the root flag, which only the compressed form has.
    #[error("{group} point with flag byte {flags:#04x}, which an uncompressed point cannot have")]
    Flags {
        /// "G1" or "G2".
        group: &'static str,
        /// The three flag bits in place.
        flags: u8,
    },
    /// Infinity is flagged but some other bit is set.
    #[error("{group} point flagged as infinity with coordinates that are not zero")]
    InfinityWithCoordinates {
        /// "G1" or "G2".
        group: &'static str,
    },
    /// A coordinate is not below the modulus.
    #[error("{group} point with a coordinate that is not below the field modulus")]
    NotReduced {
        /// "G1" or "G2".
        group: &'static str,
    },
    /// The coordinates do not satisfy the curve equation.
    #[error("{group} point that is not on the curve")]
    NotOnCurve {
        /// "G1" or "G2".
        group: &'static str,
    },
}

/// Decodes an uncompressed point and checks flags, range of the coordinates and the curve equation.
///
/// Membership in the subgroup of prime order is not checked.
///
/// # Errors
/// [`PointError`] with the first rule that the bytes break.
pub fn decode_point<F: CurveField>(bytes: &[u8]) -> Result<Affine<F>, PointError> {
    let group = F::NAME;
    let expected = 2 * F::BYTES;
    if bytes.len() != expected {
        return Err(PointError::Length {
            group,
            expected,
            found: bytes.len(),
        });
    }
    let flags = bytes[0] & FLAGS;
    if flags & !INFINITY != 0 {
        return Err(PointError::Flags { group, flags });
    }
    if flags == INFINITY {
        let rest_is_zero = bytes[0] == INFINITY && bytes[1..].iter().all(|byte| *byte == 0);
        return if rest_is_zero {
            Ok(Affine::INFINITY)
        } else {
            Err(PointError::InfinityWithCoordinates { group })
        };
    }
    let (x, y) = bytes.split_at(F::BYTES);
    if !F::is_canonical(x) || !F::is_canonical(y) {
        return Err(PointError::NotReduced { group });
    }
    let point = decode_point_unchecked::<F>(bytes);
    // (0, 0) would read as infinity although its flag is missing; it is not on the curve.
    if point.is_infinity() || !point.is_on_curve() {
        return Err(PointError::NotOnCurve { group });
    }
    Ok(point)
}

/// Decodes `2 * F::BYTES` bytes that passed [`decode_point`] before, without repeating its checks.
///
/// For other bytes the result is some pair of field elements, not necessarily a point.
#[inline]
pub fn decode_point_unchecked<F: CurveField>(bytes: &[u8]) -> Affine<F> {
    if bytes[0] & INFINITY != 0 {
        return Affine::INFINITY;
    }
    let (x, y) = bytes.split_at(F::BYTES);
    Affine {
        x: F::from_bytes_reduced(x),
        y: F::from_bytes_reduced(y),
    }
}

/// Writes the uncompressed encoding of `point` into `2 * F::BYTES` bytes.
pub fn encode_point<F: CurveField>(point: &Affine<F>, bytes: &mut [u8]) {
    let (x, y) = bytes.split_at_mut(F::BYTES);
    point.x.write_bytes(x);
    point.y.write_bytes(y);
    if point.is_infinity() {
        bytes[0] |= INFINITY;
    }
}

#[cfg(test)]
mod tests {
    use blstrs::{G1Affine, G2Affine};
    use group::prime::PrimeCurveAffine;

    use super::*;
    use crate::field::{Fp, Fp2};

    fn encoded<F: CurveField>(point: &Affine<F>) -> Vec<u8> {
        let mut bytes = vec![0; 2 * F::BYTES];
        encode_point(point, &mut bytes);
        bytes
    }

    #[test]
    fn encodings_equal_those_of_blstrs() {
        let g1 = G1Affine::generator();
        assert_eq!(encoded::<Fp>(&g1.into()), g1.to_uncompressed());
        let g2 = G2Affine::generator();
        assert_eq!(encoded::<Fp2>(&g2.into()), g2.to_uncompressed());
        let infinity = G2Affine::identity();
        assert_eq!(encoded::<Fp2>(&infinity.into()), infinity.to_uncompressed());
        assert_eq!(decode_point::<Fp>(&g1.to_uncompressed()), Ok(g1.into()));
        assert_eq!(decode_point::<Fp2>(&g2.to_uncompressed()), Ok(g2.into()));
        assert_eq!(
            decode_point::<Fp2>(&infinity.to_uncompressed()),
            Ok(Affine::INFINITY)
        );
    }

    #[test]
    fn a_short_slice_is_refused_with_both_lengths() {
        let error = PointError::Length {
            group: "G1",
            expected: 96,
            found: 95,
        };
        assert_eq!(decode_point::<Fp>(&[0; 95]), Err(error));
    }

    #[test]
    fn flags_of_the_compressed_form_are_refused() {
        for flag in [COMPRESSED, LARGER_ROOT, COMPRESSED | INFINITY, FLAGS] {
            let mut bytes = G1Affine::generator().to_uncompressed();
            bytes[0] |= flag;
            assert!(matches!(
                decode_point::<Fp>(&bytes),
                Err(PointError::Flags { flags, .. }) if flags == flag
            ));
        }
    }

    #[test]
    fn infinity_with_any_other_bit_is_refused() {
        for index in 0..96 {
            let mut bytes = [0; 96];
            bytes[0] = INFINITY;
            bytes[index] |= 1;
            assert_eq!(
                decode_point::<Fp>(&bytes),
                Err(PointError::InfinityWithCoordinates { group: "G1" })
            );
        }
    }

    #[test]
    fn zero_coordinates_without_the_flag_are_not_a_point() {
        assert_eq!(
            decode_point::<Fp2>(&[0; 192]),
            Err(PointError::NotOnCurve { group: "G2" })
        );
    }

    #[test]
    fn unreduced_coordinates_and_points_off_the_curve_are_refused() {
        let mut bytes = [0xff; 96];
        bytes[0] = 0x1f;
        assert_eq!(
            decode_point::<Fp>(&bytes),
            Err(PointError::NotReduced { group: "G1" })
        );
        let mut bytes = G2Affine::generator().to_uncompressed();
        bytes[191] ^= 1;
        assert_eq!(
            decode_point::<Fp2>(&bytes),
            Err(PointError::NotOnCurve { group: "G2" })
        );
    }
}
