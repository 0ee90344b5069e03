//! From exponents and a circuit to the two files, in the order in which the files need them.

use std::path::Path;

use cuzk_r1cs::CompiledCircuit;

use super::processor::ProcessorPoints;
use super::stream::{PointSource, Written, write_stream};
use super::{KeyScalars, SetupError, ToxicWaste};
use crate::key::{KeyDigest, QueryCounts, StagedFile, folder_of, sync_folder};

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
    circuit: &CompiledCircuit,
    waste: &ToxicWaste,
    files: &KeyFiles<'_>,
    progress: &(dyn Fn(SetupProgress) + Sync),
) -> Result<KeySummary, SetupError> {
    generate_from(circuit, waste, files, &mut ProcessorPoints, progress)
}

/// As [`generate`], with points of another source.
///
/// # Errors
/// As [`generate`], and [`SetupError::Source`].
pub fn generate_from(
    circuit: &CompiledCircuit,
    waste: &ToxicWaste,
    files: &KeyFiles<'_>,
    source: &mut dyn PointSource,
    progress: &(dyn Fn(SetupProgress) + Sync),
) -> Result<KeySummary, SetupError> {
    if !files.replace {
        refuse_existing(files.params)?;
        refuse_existing(files.verifying_key)?;
    }
    let scalars = KeyScalars::evaluate(circuit, waste, progress)?;
    let counts = scalars.counts();
    let mut params = stage(files.params)?;
    let mut vk_file = stage(files.verifying_key)?;

    let vk_bytes = scalars.verifying_key().to_bytes();
    let vk_written = write_stream(&mut vk_file, 0, progress, |stream| {
        stream.bytes(vk_bytes.clone())
    })?;
    let written = write_stream(
        &mut params,
        counts.num_points() - counts.ic,
        progress,
        |stream| {
            stream.bytes(vk_bytes)?;
            source.send(&scalars, stream)
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
