//! A proof on the wire is 192 bytes that anybody may have made; only elements of the groups become a [`Proof`].

use blstrs::{G1Affine, G2Affine};
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;
use thiserror::Error;

/// Bytes of one proof: A (48), B (96), C (48), compressed.
pub const PROOF_BYTES: usize = 192;

const G1_BYTES: usize = 48;
const G2_BYTES: usize = 96;
const COMPRESSED: u8 = 0x80;
const INFINITY: u8 = 0x40;

/// A Groth16 proof (Groth 2016, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// A, in G1.
    pub a: G1Affine,
    /// B, in G2.
    pub b: G2Affine,
    /// C, in G1.
    pub c: G1Affine,
}

/// One of the three elements of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofElement {
    /// A, in G1.
    A,
    /// B, in G2.
    B,
    /// C, in G1.
    C,
}

impl std::fmt::Display for ProofElement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::A => "a",
            Self::B => "b",
            Self::C => "c",
        })
    }
}

/// Why bytes are not a proof.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProofError {
    /// Not a positive multiple of 192 bytes.
    #[error("{found} bytes, expected a positive multiple of {PROOF_BYTES}")]
    Length {
        /// Bytes given.
        found: usize,
    },
    /// Another number of proofs than asked for.
    #[error("{found} proofs, expected {expected}")]
    Count {
        /// Proofs asked for.
        expected: usize,
        /// Proofs given.
        found: usize,
    },
    /// The compressed form must be flagged as such.
    #[error("proof {proof}, element {element}: first byte {byte:#04x} lacks the compressed flag")]
    NotCompressed {
        /// Position of the proof.
        proof: usize,
        /// Element of it.
        element: ProofElement,
        /// The element's first byte.
        byte: u8,
    },
    /// The point at infinity, with which no honest proof is made.
    #[error("proof {proof}, element {element}: point at infinity")]
    Infinity {
        /// Position of the proof.
        proof: usize,
        /// Element of it.
        element: ProofElement,
    },
    /// The coordinate is not below the modulus, or no point of the curve has it.
    #[error("proof {proof}, element {element}: not a point of the curve")]
    NotOnCurve {
        /// Position of the proof.
        proof: usize,
        /// Element of it.
        element: ProofElement,
    },
    /// On the curve, but outside the subgroup of prime order.
    #[error("proof {proof}, element {element}: not in the subgroup of prime order")]
    NotInSubgroup {
        /// Position of the proof.
        proof: usize,
        /// Element of it.
        element: ProofElement,
    },
}

impl Proof {
    /// The compressed encoding.
    pub fn to_bytes(&self) -> [u8; PROOF_BYTES] {
        let mut bytes = [0; PROOF_BYTES];
        let (a, rest) = bytes.split_at_mut(G1_BYTES);
        let (b, c) = rest.split_at_mut(G2_BYTES);
        a.copy_from_slice(&self.a.to_compressed());
        b.copy_from_slice(&self.b.to_compressed());
        c.copy_from_slice(&self.c.to_compressed());
        bytes
    }

    /// Decodes a proof; each element must be canonical, on the curve and in the subgroup.
    ///
    /// # Errors
    /// [`ProofError`] with the first element that is not; proof number 0.
    pub fn from_bytes(bytes: &[u8; PROOF_BYTES]) -> Result<Self, ProofError> {
        Self::decode(bytes, 0)
    }

    /// Decodes proofs that follow each other, in parallel.
    ///
    /// # Errors
    /// [`ProofError::Length`] if `bytes` is empty or not a whole number of proofs, else the error of the first
    /// proof that is bad.
    pub fn parse_many(bytes: &[u8]) -> Result<Vec<Self>, ProofError> {
        let (proofs, rest) = bytes.as_chunks::<PROOF_BYTES>();
        if proofs.is_empty() || !rest.is_empty() {
            return Err(ProofError::Length { found: bytes.len() });
        }
        let decoded: Vec<Result<Self, ProofError>> = proofs
            .par_iter()
            .enumerate()
            .map(|(index, bytes)| Self::decode(bytes, index))
            .collect();
        decoded.into_iter().collect()
    }

    /// Decodes exactly `expected` proofs.
    ///
    /// # Errors
    /// [`ProofError::Count`] with both numbers, or an error of [`Proof::parse_many`].
    pub fn parse_exactly(bytes: &[u8], expected: usize) -> Result<Vec<Self>, ProofError> {
        let found = bytes.len() / PROOF_BYTES;
        if bytes.len() % PROOF_BYTES == 0 && found != expected {
            return Err(ProofError::Count { expected, found });
        }
        Self::parse_many(bytes)
    }

    /// Encodes proofs one after the other.
    pub fn write_many(proofs: &[Self]) -> Vec<u8> {
        proofs.iter().flat_map(Self::to_bytes).collect()
    }

    fn decode(bytes: &[u8; PROOF_BYTES], proof: usize) -> Result<Self, ProofError> {
        let (a, rest) = bytes.split_at(G1_BYTES);
        let (b, c) = rest.split_at(G2_BYTES);
        Ok(Self {
            a: decode_g1(a, proof, ProofElement::A)?,
            b: decode_g2(b, proof, ProofElement::B)?,
            c: decode_g1(c, proof, ProofElement::C)?,
        })
    }
}

fn check_flags(byte: u8, proof: usize, element: ProofElement) -> Result<(), ProofError> {
    if byte & COMPRESSED == 0 {
        return Err(ProofError::NotCompressed {
            proof,
            element,
            byte,
        });
    }
    if byte & INFINITY != 0 {
        return Err(ProofError::Infinity { proof, element });
    }
    Ok(())
}

/// Implements the decoding of one compressed element by the `blstrs` type of its group.
macro_rules! decode_element {
    ($name:ident, $point:ty, $bytes:ident) => {
        fn $name(bytes: &[u8], proof: usize, element: ProofElement) -> Result<$point, ProofError> {
            let mut encoding = [0; $bytes];
            encoding.copy_from_slice(bytes);
            check_flags(encoding[0], proof, element)?;
            let point: Option<$point> = <$point>::from_compressed_unchecked(&encoding).into();
            let point = point.ok_or(ProofError::NotOnCurve { proof, element })?;
            if bool::from(point.is_identity()) {
                return Err(ProofError::Infinity { proof, element });
            }
            if !bool::from(point.is_torsion_free()) {
                return Err(ProofError::NotInSubgroup { proof, element });
            }
            Ok(point)
        }
    };
}

decode_element!(decode_g1, G1Affine, G1_BYTES);
decode_element!(decode_g2, G2Affine, G2_BYTES);

#[cfg(test)]
mod tests {
    use blstrs::{G1Projective, G2Projective, Scalar};
    use group::{Curve, Group};

    use super::*;

    fn proof(k: u64) -> Proof {
        Proof {
            a: (G1Projective::generator() * Scalar::from(k)).to_affine(),
            b: (G2Projective::generator() * Scalar::from(k + 1)).to_affine(),
            c: (G1Projective::generator() * -Scalar::from(k + 2)).to_affine(),
        }
    }

    const PLACES: [(usize, ProofElement); 3] = [
        (0, ProofElement::A),
        (G1_BYTES, ProofElement::B),
        (G1_BYTES + G2_BYTES, ProofElement::C),
    ];

    #[test]
    fn nothing_and_parts_of_proofs_are_refused_with_the_length() {
        let bytes = proof(1).to_bytes();
        for found in [0, 1, 191, 193, 383] {
            let bytes: Vec<u8> = bytes.iter().copied().cycle().take(found).collect();
            assert_eq!(Proof::parse_many(&bytes), Err(ProofError::Length { found }));
        }
    }

    #[test]
    fn another_number_of_proofs_is_refused_with_both_numbers() {
        let bytes = Proof::write_many(&[proof(1), proof(2)]);
        assert_eq!(
            Proof::parse_exactly(&bytes, 3),
            Err(ProofError::Count {
                expected: 3,
                found: 2
            })
        );
        assert_eq!(
            Proof::parse_exactly(&[], 1),
            Err(ProofError::Count {
                expected: 1,
                found: 0
            })
        );
        assert_eq!(
            Proof::parse_exactly(&bytes, 2),
            Ok(vec![proof(1), proof(2)])
        );
    }

    #[test]
    fn the_point_at_infinity_is_refused_in_each_place() {
        for (offset, element) in PLACES {
            let mut bytes = proof(5).to_bytes();
            let width = if element == ProofElement::B { 96 } else { 48 };
            bytes[offset..offset + width].fill(0);
            bytes[offset] = COMPRESSED | INFINITY;
            assert_eq!(
                Proof::from_bytes(&bytes),
                Err(ProofError::Infinity { proof: 0, element })
            );
        }
    }

    #[test]
    fn an_element_without_the_compressed_flag_is_refused() {
        for (offset, element) in PLACES {
            let mut bytes = proof(5).to_bytes();
            bytes[offset] &= !COMPRESSED;
            assert!(matches!(
                Proof::from_bytes(&bytes),
                Err(ProofError::NotCompressed { proof: 0, element: e, .. }) if e == element
            ));
        }
    }

    #[test]
    fn a_coordinate_of_the_modulus_or_more_is_refused() {
        for (offset, element) in PLACES {
            let mut bytes = proof(5).to_bytes();
            bytes[offset] |= 0x1f;
            bytes[offset + 1..offset + 48].fill(0xff);
            assert_eq!(
                Proof::from_bytes(&bytes),
                Err(ProofError::NotOnCurve { proof: 0, element })
            );
        }
    }

    #[test]
    fn points_outside_the_subgroup_are_refused_in_each_place() {
        // x = 4 is the least coordinate of a G1 curve point outside the subgroup with nothing else special.
        let outside = |bytes: &mut [u8], width: usize| {
            for x in 1..=u8::MAX {
                bytes.fill(0);
                bytes[0] = COMPRESSED;
                bytes[width - 1] = x;
                let on_curve = if width == G1_BYTES {
                    let mut encoding = [0; G1_BYTES];
                    encoding.copy_from_slice(bytes);
                    bool::from(G1Affine::from_compressed_unchecked(&encoding).is_some())
                } else {
                    let mut encoding = [0; G2_BYTES];
                    encoding.copy_from_slice(bytes);
                    bool::from(G2Affine::from_compressed_unchecked(&encoding).is_some())
                };
                if on_curve {
                    return;
                }
            }
            panic!("half of all coordinates belong to a point");
        };
        for (offset, element) in PLACES {
            let mut bytes = proof(5).to_bytes();
            let width = if element == ProofElement::B {
                G2_BYTES
            } else {
                G1_BYTES
            };
            outside(&mut bytes[offset..offset + width], width);
            assert_eq!(
                Proof::from_bytes(&bytes),
                Err(ProofError::NotInSubgroup { proof: 0, element })
            );
        }
    }

    #[test]
    fn the_first_bad_proof_of_several_is_named() {
        let mut bytes = Proof::write_many(&[proof(1), proof(2), proof(3)]);
        bytes[PROOF_BYTES + G1_BYTES] &= !COMPRESSED;
        bytes[2 * PROOF_BYTES] &= !COMPRESSED;
        let error = Proof::parse_many(&bytes).expect_err("bad");
        assert!(
            error.to_string().starts_with("proof 1, element b:"),
            "{error}"
        );
    }

    #[test]
    fn proofs_survive_a_round_trip() {
        let proofs = [proof(1), proof(99), proof(12345)];
        let bytes = Proof::write_many(&proofs);
        assert_eq!(bytes.len(), 3 * PROOF_BYTES);
        assert_eq!(Proof::parse_many(&bytes).expect("good"), proofs);
        assert_eq!(Proof::from_bytes(&proofs[1].to_bytes()), Ok(proofs[1]));
    }
}
