//! A verifier needs a few points of a key only; they decide what counts as proved, so each is checked when it is read.

use std::path::Path;

use blstrs::{Bls12, G1Affine, G2Affine, G2Prepared, Gt};
use pairing::Engine;
use rayon::prelude::*;

use crate::curve::Affine;
use crate::field::{Fp, Fp2};
use crate::key::{
    FormatError, KeyError, KeyLayout, KeySource, PointCheck, Section, SubgroupField, read_point,
    replace_file,
};

/// The points that verification of a circuit's proofs needs, as in a `.vk` file and at the head of a `.params` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    /// α in G1.
    pub alpha_g1: G1Affine,
    /// β in G1; only provers need it.
    pub beta_g1: G1Affine,
    /// β in G2.
    pub beta_g2: G2Affine,
    /// γ in G2.
    pub gamma_g2: G2Affine,
    /// δ in G1; only provers need it.
    pub delta_g1: G1Affine,
    /// δ in G2.
    pub delta_g2: G2Affine,
    /// One point for each public input, ONE first.
    pub ic: Vec<G1Affine>,
}

impl VerifyingKey {
    /// Decodes the bytes of a `.vk` file; every point is checked, subgroup included.
    ///
    /// # Errors
    /// [`FormatError`]: empty, cut, too long, or a point that is not one, with its section and index.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let layout = KeyLayout::of_verifying_key(bytes)?;
        Self::from_layout(bytes, &layout)
    }

    /// Reads a `.vk` file.
    ///
    /// # Errors
    /// [`KeyError::Io`] or [`KeyError::Format`].
    pub fn read_file(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        let path = path.as_ref();
        let source = KeySource::open(path)?;
        Self::from_bytes(source.map.bytes()).map_err(|defect| KeyError::Format {
            path: path.to_path_buf(),
            defect,
        })
    }

    /// The bytes of a `.vk` file: 868 and 96 for each public input.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(868 + self.ic.len() * Section::Ic.point_bytes());
        bytes.extend_from_slice(&self.alpha_g1.to_uncompressed());
        bytes.extend_from_slice(&self.beta_g1.to_uncompressed());
        bytes.extend_from_slice(&self.beta_g2.to_uncompressed());
        bytes.extend_from_slice(&self.gamma_g2.to_uncompressed());
        bytes.extend_from_slice(&self.delta_g1.to_uncompressed());
        bytes.extend_from_slice(&self.delta_g2.to_uncompressed());
        // The format has 32 bits for it; a key with more inputs could not have been read or made.
        bytes.extend_from_slice(&(self.ic.len() as u32).to_be_bytes());
        for point in &self.ic {
            bytes.extend_from_slice(&point.to_uncompressed());
        }
        bytes
    }

    /// Writes a `.vk` file whole or not at all, replacing an older one.
    ///
    /// # Errors
    /// [`KeyError::Io`].
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<(), KeyError> {
        let path = path.as_ref();
        replace_file(path, &self.to_bytes()).map_err(|source| KeyError::Io {
            path: path.to_path_buf(),
            action: "write",
            source,
        })
    }

    /// Public inputs of the circuit, ONE not counted.
    pub const fn num_public_inputs(&self) -> usize {
        self.ic.len().saturating_sub(1)
    }

    /// Decodes the verifying key of a file whose layout is known.
    pub(crate) fn from_layout(bytes: &[u8], layout: &KeyLayout) -> Result<Self, FormatError> {
        let ic_bytes = &bytes[layout.range(Section::Ic)];
        let ic = ic_bytes
            .par_chunks_exact(Section::Ic.point_bytes())
            .enumerate()
            .map(|(index, point)| {
                checked::<Fp>(Section::Ic, index, point).map(|point| point.to_blstrs())
            })
            .collect::<Vec<_>>();
        let g1 = |section| {
            checked::<Fp>(section, 0, &bytes[layout.range(section)]).map(|point| point.to_blstrs())
        };
        let g2 = |section| {
            checked::<Fp2>(section, 0, &bytes[layout.range(section)]).map(|point| point.to_blstrs())
        };
        Ok(Self {
            alpha_g1: g1(Section::AlphaG1)?,
            beta_g1: g1(Section::BetaG1)?,
            beta_g2: g2(Section::BetaG2)?,
            gamma_g2: g2(Section::GammaG2)?,
            delta_g1: g1(Section::DeltaG1)?,
            delta_g2: g2(Section::DeltaG2)?,
            ic: ic.into_iter().collect::<Result<_, _>>()?,
        })
    }
}

fn checked<F: SubgroupField>(
    section: Section,
    index: usize,
    bytes: &[u8],
) -> Result<Affine<F>, FormatError> {
    read_point(bytes, PointCheck::Subgroup).map_err(|defect| FormatError::Point {
        section,
        index,
        defect,
    })
}

/// A verifying key with everything computed that does not depend on a proof.
#[derive(Clone, Debug)]
pub struct PreparedVerifyingKey {
    /// e(α, β).
    pub(crate) alpha_beta: Gt,
    /// −γ with the lines of its Miller loop.
    pub(crate) neg_gamma: G2Prepared,
    /// −δ with the lines of its Miller loop.
    pub(crate) neg_delta: G2Prepared,
    /// One point for each public input, ONE first.
    pub(crate) ic: Vec<G1Affine>,
}

impl PreparedVerifyingKey {
    /// Computes the pairing of α and β and the Miller lines of γ and δ.
    pub fn new(key: &VerifyingKey) -> Self {
        Self {
            alpha_beta: Bls12::pairing(&key.alpha_g1, &key.beta_g2),
            neg_gamma: (-key.gamma_g2).into(),
            neg_delta: (-key.delta_g2).into(),
            ic: key.ic.clone(),
        }
    }

    /// Public inputs of the circuit, ONE not counted.
    pub const fn num_public_inputs(&self) -> usize {
        self.ic.len().saturating_sub(1)
    }
}

impl From<&VerifyingKey> for PreparedVerifyingKey {
    fn from(key: &VerifyingKey) -> Self {
        Self::new(key)
    }
}

#[cfg(test)]
mod tests {
    use blstrs::{G1Projective, G2Projective};
    use group::{Curve, Group};

    use super::*;
    use crate::curve::PointError;
    use crate::key::PointDefect;

    fn key(num_inputs: u64) -> VerifyingKey {
        let g1 = |k: u64| (G1Projective::generator() * blstrs::Scalar::from(k)).to_affine();
        let g2 = |k: u64| (G2Projective::generator() * blstrs::Scalar::from(k)).to_affine();
        VerifyingKey {
            alpha_g1: g1(2),
            beta_g1: g1(3),
            beta_g2: g2(3),
            gamma_g2: g2(5),
            delta_g1: g1(7),
            delta_g2: g2(7),
            ic: (11..11 + num_inputs).map(g1).collect(),
        }
    }

    #[test]
    fn empty_cut_and_overlong_bytes_are_refused() {
        let bytes = key(3).to_bytes();
        assert_eq!(bytes.len(), 868 + 3 * 96);
        assert_eq!(VerifyingKey::from_bytes(&[]), Err(FormatError::Empty));
        for length in 1..bytes.len() {
            assert!(VerifyingKey::from_bytes(&bytes[..length]).is_err());
        }
        let mut long = bytes.clone();
        long.push(0);
        assert!(matches!(
            VerifyingKey::from_bytes(&long),
            Err(FormatError::Length {
                section: Section::Ic,
                ..
            })
        ));
        assert_eq!(VerifyingKey::from_bytes(&bytes), Ok(key(3)));
    }

    #[test]
    fn a_key_without_inputs_is_refused_since_one_is_always_there() {
        assert!(matches!(
            VerifyingKey::from_bytes(&key(0).to_bytes()),
            Err(FormatError::Count {
                section: Section::Ic,
                least: 1,
                ..
            })
        ));
    }

    #[test]
    fn one_flipped_bit_in_any_point_is_refused_with_section_and_index() {
        let bytes = key(3).to_bytes();
        let layout = KeyLayout::of_verifying_key(&bytes).expect("well formed");
        let elements = Section::HEADER.into_iter().map(|section| (section, 0));
        for (section, index) in elements.chain((0..3).map(|index| (Section::Ic, index))) {
            let start = layout.range(section).start + index * section.point_bytes();
            for (byte, bit) in [(0, 0x80), (0, 0x40), (0, 0x20), (40, 1), (95, 1)] {
                let mut bytes = bytes.clone();
                bytes[start + byte] ^= bit;
                match VerifyingKey::from_bytes(&bytes) {
                    Err(FormatError::Point {
                        section: s,
                        index: i,
                        ..
                    }) => {
                        assert_eq!((s, i), (section, index));
                    }
                    other => panic!("unexpected {other:?}"),
                }
            }
        }
    }

    #[test]
    fn infinity_is_refused() {
        let mut bytes = key(1).to_bytes();
        bytes[868..].fill(0);
        bytes[868] = 0x40;
        assert_eq!(
            VerifyingKey::from_bytes(&bytes),
            Err(FormatError::Point {
                section: Section::Ic,
                index: 0,
                defect: PointDefect::Infinity
            })
        );
        bytes[868] = 0;
        assert_eq!(
            VerifyingKey::from_bytes(&bytes),
            Err(FormatError::Point {
                section: Section::Ic,
                index: 0,
                defect: PointDefect::Encoding(PointError::NotOnCurve { group: "G1" })
            })
        );
    }

    #[test]
    fn a_written_file_is_read_back_and_a_missing_one_is_named() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("k.vk");
        let error = VerifyingKey::read_file(&path).expect_err("missing");
        assert!(error.to_string().contains("k.vk: cannot open"), "{error}");
        key(2).write_file(&path).expect("write");
        assert_eq!(VerifyingKey::read_file(&path).expect("read"), key(2));
    }
}
