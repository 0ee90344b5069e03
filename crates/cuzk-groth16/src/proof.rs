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
        if bytes.len().is_multiple_of(PROOF_BYTES) && found != expected {
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
mod tests;
