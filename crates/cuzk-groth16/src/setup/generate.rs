//! From exponents and a circuit to the two files, in the order in which the files need them.

use std::ops::Range;
use std::path::Path;

use blstrs::{G1Affine, G2Affine, Scalar};
use cuzk_r1cs::RecordedCircuit;
use group::Curve;
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

use super::fixed_base::FixedBase;
use super::queries::QueryScalars;
use super::stream::{PointStream, WriterGone, Written, write_stream};
use super::{SetupError, ToxicWaste};
use crate::curve::{Arithmetic, CurveField, KernelVisitor, PointKernel};
use crate::field::{Fp, Fp2};
use crate::key::{KeyDigest, QueryCounts, Section, StagedFile, folder_of, sync_folder};
use crate::verifying_key::VerifyingKey;

/// Where a key goes.
#[derive(Clone, Copy, Debug)]
pub struct KeyFiles<'a> {
    /// The `.params` file.
    pub params: &'a Path,
    /// The `.vk` file, which readers take from disk instead of the head of the `.params` file.
    pub verifying_key: &'a Path,
    /// Whether existing files are replaced, both of them: a `.vk` of an older key would refuse every proof.
    pub replace: bool,
}

/// What a setup is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupStep {
    /// Evaluating the circuit's polynomials at τ; progress counts its parts.
    Polynomials,
    /// Computing and writing points; progress counts points.
    Points,
}

/// How far a setup has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupProgress {
    /// What is being done.
    pub step: SetupStep,
    /// Units done.
    pub done: u64,
    /// Units in this step.
    pub total: u64,
}

/// A key that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySummary {
    /// Lengths of its vectors.
    pub counts: QueryCounts,
    /// Bytes of the `.params` file.
    pub params_bytes: u64,
    /// Digest of the `.params` file.
    pub params_digest: KeyDigest,
    /// Bytes of the `.vk` file.
    pub verifying_key_bytes: u64,
    /// Digest of the `.vk` file.
    pub verifying_key_digest: KeyDigest,
}

/// Makes the development key of a circuit and writes both files, whole or not at all, on the current rayon pool.
///
/// Peak memory beyond the circuit: about 100 bytes for each variable, 32 for each row, 0.25 GiB of tables and buffers.
///
/// # Errors
/// [`SetupError`]: exponents that do not fit the domain, a variable in no constraint, an existing file that may not be
/// replaced, a failing disk. Nothing is left behind then.
pub fn generate(
    circuit: &RecordedCircuit,
    waste: &ToxicWaste,
    files: &KeyFiles<'_>,
    progress: &(dyn Fn(SetupProgress) + Sync),
) -> Result<KeySummary, SetupError> {
    if !files.replace {
        refuse_existing(files.params)?;
        refuse_existing(files.verifying_key)?;
    }
    let queries = QueryScalars::evaluate(circuit, waste, progress)?;
    let counts = queries.counts();
    let mut params = stage(files.params)?;
    let mut vk_file = stage(files.verifying_key)?;

    let vk_bytes = verifying_key(&queries, waste).to_bytes();
    let vk_written = write_stream(&mut vk_file, 0, progress, |stream| {
        stream.bytes(vk_bytes.clone())
    })?;
    let written = write_stream(
        &mut params,
        counts.num_points() - counts.ic,
        progress,
        |stream| {
            stream.bytes(vk_bytes)?;
            write_queries(&queries, stream)
        },
    )?;
    publish(params, vk_file, files)?;
    Ok(summary(counts, written, vk_written))
}

fn summary(counts: QueryCounts, params: Written, verifying_key: Written) -> KeySummary {
    KeySummary {
        counts,
        params_bytes: params.bytes,
        params_digest: params.digest,
        verifying_key_bytes: verifying_key.bytes,
        verifying_key_digest: verifying_key.digest,
    }
}

/// Writes vectors of one group with tables that are gone when the other group's are made.
struct WriteVectors<'a, 's> {
    queries: &'a QueryScalars,
    sections: &'a [Section],
    stream: &'a mut PointStream<'s>,
}

impl<F: CurveField> KernelVisitor<F> for WriteVectors<'_, '_> {
    type Output = Result<(), WriterGone>;

    fn visit<K: PointKernel<Field = F>>(self, kernel: K) -> Result<(), WriterGone> {
        let count = |section: Section| self.queries.counts().of(section) as usize;
        let total = self.sections.iter().map(|section| count(*section)).sum();
        let generator = F::from_blstrs(&F::BlstrsAffine::generator());
        let base = FixedBase::new(kernel, &generator, total);
        for &section in self.sections {
            let scalars = |range: Range<usize>, out: &mut Vec<Scalar>| {
                self.queries.scalars_into(section, range, out);
            };
            self.stream
                .vector(section, count(section), &base, &scalars)?;
        }
        Ok(())
    }
}

/// The vectors after `ic`, which is part of the verifying key.
fn write_queries(queries: &QueryScalars, stream: &mut PointStream<'_>) -> Result<(), WriterGone> {
    let in_g1 = [Section::H, Section::L, Section::A, Section::BG1];
    write_vectors::<Fp>(queries, &in_g1, stream)?;
    write_vectors::<Fp2>(queries, &[Section::BG2], stream)
}

fn write_vectors<F: CurveField>(
    queries: &QueryScalars,
    sections: &[Section],
    stream: &mut PointStream<'_>,
) -> Result<(), WriterGone> {
    let vectors = WriteVectors {
        queries,
        sections,
        stream,
    };
    F::with_kernel(Arithmetic::Fastest, vectors)
}

fn verifying_key(queries: &QueryScalars, waste: &ToxicWaste) -> VerifyingKey {
    let g1 = |scalar: Scalar| (G1Affine::generator() * scalar).to_affine();
    let g2 = |scalar: Scalar| (G2Affine::generator() * scalar).to_affine();
    let mut ic = Vec::new();
    queries.scalars_into(Section::Ic, 0..queries.counts().ic as usize, &mut ic);
    VerifyingKey {
        alpha_g1: g1(waste.alpha),
        beta_g1: g1(waste.beta),
        beta_g2: g2(waste.beta),
        gamma_g2: g2(waste.gamma),
        delta_g1: g1(waste.delta),
        delta_g2: g2(waste.delta),
        ic: ic.into_par_iter().map(g1).collect(),
    }
}

fn refuse_existing(path: &Path) -> Result<(), SetupError> {
    match path.try_exists() {
        Ok(false) => Ok(()),
        Ok(true) => Err(SetupError::Exists {
            path: path.to_path_buf(),
        }),
        Err(source) => Err(SetupError::Io {
            path: path.to_path_buf(),
            action: "look for",
            source,
        }),
    }
}

fn stage(path: &Path) -> Result<StagedFile, SetupError> {
    StagedFile::create(path).map_err(|source| SetupError::Io {
        path: path.to_path_buf(),
        action: "create a file in the folder of",
        source,
    })
}

/// Gives both files their names. An old `.vk` goes first: no crash can leave it beside a new `.params`.
fn publish(
    params: StagedFile,
    verifying_key: StagedFile,
    files: &KeyFiles<'_>,
) -> Result<(), SetupError> {
    if files.replace {
        remove_if_present(files.verifying_key)?;
    }
    publish_one(params, files.params, files.replace)?;
    let second = publish_one(verifying_key, files.verifying_key, files.replace);
    if second.is_err() && !files.replace {
        // The name was taken meanwhile; a key without its `.vk` beside a foreign one is worse than none.
        remove_if_present(files.params)?;
    }
    second
}

fn publish_one(staged: StagedFile, path: &Path, replace: bool) -> Result<(), SetupError> {
    staged.publish(replace).map_err(|source| {
        let path = path.to_path_buf();
        if source.kind() == std::io::ErrorKind::AlreadyExists {
            SetupError::Exists { path }
        } else {
            SetupError::Io {
                path,
                action: "rename a new file to",
                source,
            }
        }
    })
}

fn remove_if_present(path: &Path) -> Result<(), SetupError> {
    let removed = match std::fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
        Ok(()) => sync_folder(folder_of(path)),
    };
    removed.map_err(|source| SetupError::Io {
        path: path.to_path_buf(),
        action: "remove",
        source,
    })
}
