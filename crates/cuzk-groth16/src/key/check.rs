//! Reading every byte of a key once tells whether it can be trusted; the answer can be remembered.
//!
//! All steps run on the current rayon pool: install a smaller pool to leave cores to others.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::digest::DigestHasher;
use super::{
    BadPoint, CheckRecord, FormatError, KeyDigest, KeyError, PointCheck, PointDefect, ProvingKey,
    RecordPlace, Section, SubgroupField, read_point,
};
use crate::field::{Fp, Fp2};

/// Points decoded by one task before its pages are released.
const POINTS_PER_TASK: usize = 4096;
/// Bytes hashed between two reports of progress.
const BYTES_PER_STEP: usize = 8 << 20;

/// What a check is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStep {
    /// Hashing; progress counts bytes.
    Digest,
    /// Checking points; progress counts points.
    Points,
}

/// How far a check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyProgress {
    /// What is being done.
    pub step: KeyStep,
    /// Units done.
    pub done: u64,
    /// Units in this step.
    pub total: u64,
}

/// What a check must establish.
#[derive(Clone, Copy, Debug)]
pub struct CheckRequest<'a> {
    /// How thoroughly all points are checked.
    pub check: PointCheck,
    /// The published digest, if there is one.
    pub expected_digest: Option<KeyDigest>,
    /// Where a passed check is remembered; `None` checks always and remembers nothing.
    pub records: Option<RecordPlace<'a>>,
}

/// Where the answer of a check came from.
#[derive(Debug)]
pub enum CheckSource {
    /// The file was read; nothing was to be remembered.
    Checked,
    /// The file was read and the record at this path was written.
    CheckedAndRecorded(PathBuf),
    /// The file was read and passed, but the record could not be written: it will be read again next time.
    CheckedNotRecorded(KeyError),
    /// The record at this path answered.
    Remembered(PathBuf),
}

/// A passed check.
#[derive(Debug)]
pub struct CheckReport {
    /// Digest of the file's content.
    pub digest: KeyDigest,
    /// The check that all points passed, at least the one asked for.
    pub check: PointCheck,
    /// Whether the file was read for it.
    pub source: CheckSource,
}

impl ProvingKey {
    /// Checks all points and the digest, or takes the answer from a record of the same file.
    ///
    /// # Errors
    /// [`KeyError::Digest`] (with the first bad point, if any) when the digest differs from the expected one,
    /// [`KeyError::DigestOfEmptyFile`] when that is the digest of nothing, [`KeyError::Format`] for a bad point,
    /// [`KeyError::Changed`] when the file was written to since it was opened.
    pub fn check(
        &self,
        request: &CheckRequest<'_>,
        progress: &(dyn Fn(KeyProgress) + Sync),
    ) -> Result<CheckReport, KeyError> {
        self.expect_unchanged()?;
        let record_path = request.records.map(|place| place.path_for(self.path()));
        let record = record_path.as_deref().and_then(CheckRecord::read);
        if let (Some(record), Some(path)) = (record, &record_path)
            && record.covers(self.stamp(), request.check)
        {
            self.compare_digests(request.expected_digest, record.digest, || None)?;
            return Ok(CheckReport {
                digest: record.digest,
                check: record.check,
                source: CheckSource::Remembered(path.clone()),
            });
        }
        let digest = self.digest(progress);
        self.compare_digests(request.expected_digest, digest, || {
            self.first_bad_point(PointCheck::OnCurve, progress)
        })?;
        self.check_points(request.check, progress)?;
        self.expect_unchanged()?;
        let source = record_path.map_or(CheckSource::Checked, |path| {
            match CheckRecord::new(self.stamp(), digest, request.check).write(&path) {
                Ok(()) => CheckSource::CheckedAndRecorded(path),
                Err(error) => CheckSource::CheckedNotRecorded(error),
            }
        });
        Ok(CheckReport {
            digest,
            check: request.check,
            source,
        })
    }

    /// The digest of the whole file, trailer included. Reads every byte; pages leave the resident set behind it.
    pub fn digest(&self, progress: &(dyn Fn(KeyProgress) + Sync)) -> KeyDigest {
        let total = self.file_bytes();
        let mut hasher = DigestHasher::new();
        let mut done = 0;
        for piece in self.map().bytes().chunks(BYTES_PER_STEP) {
            hasher.update(piece);
            self.map().release(done..done + piece.len());
            done += piece.len();
            progress(KeyProgress {
                step: KeyStep::Digest,
                done: done as u64,
                total,
            });
        }
        hasher.finish()
    }

    /// Compares the file's digest with a published one.
    ///
    /// # Errors
    /// [`KeyError::Digest`], with the first point off the curve if there is one; [`KeyError::DigestOfEmptyFile`].
    pub fn expect_digest(
        &self,
        expected: KeyDigest,
        progress: &(dyn Fn(KeyProgress) + Sync),
    ) -> Result<(), KeyError> {
        self.compare_digests(Some(expected), self.digest(progress), || {
            self.first_bad_point(PointCheck::OnCurve, progress)
        })
    }

    /// Checks every point of every vector.
    ///
    /// # Errors
    /// [`KeyError::Format`] with the first bad point in the order of the file.
    pub fn check_points(
        &self,
        check: PointCheck,
        progress: &(dyn Fn(KeyProgress) + Sync),
    ) -> Result<(), KeyError> {
        match self.first_bad_point(check, progress) {
            None => Ok(()),
            Some(bad) => Err(KeyError::Format {
                path: self.path().to_path_buf(),
                defect: FormatError::Point {
                    section: bad.section,
                    index: bad.index,
                    defect: bad.defect,
                },
            }),
        }
    }

    fn compare_digests(
        &self,
        expected: Option<KeyDigest>,
        found: KeyDigest,
        locate: impl FnOnce() -> Option<BadPoint>,
    ) -> Result<(), KeyError> {
        let path = || self.path().to_path_buf();
        match expected {
            Some(KeyDigest::EMPTY_FILE) => Err(KeyError::DigestOfEmptyFile { path: path() }),
            Some(expected) if expected != found => Err(KeyError::Digest {
                path: path(),
                expected,
                found,
                first_bad_point: locate(),
            }),
            _ => Ok(()),
        }
    }

    fn first_bad_point(
        &self,
        check: PointCheck,
        progress: &(dyn Fn(KeyProgress) + Sync),
    ) -> Option<BadPoint> {
        let total = self.counts().num_points();
        let done = AtomicU64::new(0);
        self.tasks()
            .into_par_iter()
            .map(|(section, range)| {
                let bad = if section.is_g2() {
                    self.bad_point_in::<Fp2>(section, range.clone(), check)
                } else {
                    self.bad_point_in::<Fp>(section, range.clone(), check)
                };
                let points = range.len() as u64;
                self.release(section, range);
                progress(KeyProgress {
                    step: KeyStep::Points,
                    done: done.fetch_add(points, Ordering::Relaxed) + points,
                    total,
                });
                bad
            })
            .find_map_first(|bad| bad)
    }

    /// All points, cut into pieces, in the order of the file.
    fn tasks(&self) -> Vec<(Section, Range<usize>)> {
        let counts = self.counts();
        let pieces = |section: Section| {
            let count = counts.of(section) as usize;
            (0..count)
                .step_by(POINTS_PER_TASK)
                .map(move |start| (section, start..count.min(start + POINTS_PER_TASK)))
        };
        Section::VECTORS.into_iter().flat_map(pieces).collect()
    }

    fn bad_point_in<F: SubgroupField>(
        &self,
        section: Section,
        range: Range<usize>,
        check: PointCheck,
    ) -> Option<BadPoint> {
        let width = section.point_bytes();
        let bytes = self.section_bytes(section);
        range.into_iter().find_map(|index| {
            let point = &bytes[index * width..(index + 1) * width];
            let defect: PointDefect = read_point::<F>(point, check).err()?;
            Some(BadPoint {
                section,
                index,
                defect,
            })
        })
    }
}
