//! Operators must learn from one line which file is wrong, where, what was expected and what is there.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::digest::KeyDigest;
use super::{PointDefect, QueryCounts, Section};

/// Why bytes are not a key file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// Nothing is there.
    #[error("file is empty (0 bytes)")]
    Empty,
    /// The file ends before or within a vector's length field or one of the single points.
    #[error("cut before the end of {section}: expected at least {expected} bytes, found {found}")]
    HeaderCut {
        /// The part whose fixed-size field is incomplete.
        section: Section,
        /// Offset of the end of that field.
        expected: u64,
        /// Bytes in the file.
        found: u64,
    },
    /// The file ends within a vector.
    #[error(
        "cut in section {section} at index {index} of {count}: expected at least {expected} bytes, found {found}"
    )]
    PointsCut {
        /// The vector that is incomplete.
        section: Section,
        /// First point that is not complete.
        index: usize,
        /// Points that the length field announces.
        count: usize,
        /// Offset of the end of the vector.
        expected: u64,
        /// Bytes in the file.
        found: u64,
    },
    /// The file goes on after the last vector, by more or less than the declared trailer.
    #[error(
        "expected {expected} bytes ({trailer} of them a declared trailer after section {section}), found {found}"
    )]
    Length {
        /// The last vector.
        section: Section,
        /// Bytes of the vectors and the trailer.
        expected: u64,
        /// Bytes of the trailer that the caller declared.
        trailer: u64,
        /// Bytes in the file.
        found: u64,
    },
    /// A vector's length contradicts the lengths of the others.
    #[error("section {section} announces {found} points, expected {least} to {most}")]
    Count {
        /// The vector.
        section: Section,
        /// Smallest length that fits the other vectors.
        least: u64,
        /// Largest length that fits the other vectors.
        most: u64,
        /// Length in the file.
        found: u64,
    },
    /// The quotient's vector is not one shorter than a power of two.
    #[error("section h announces {found} points, expected one less than a power of two")]
    NotADomain {
        /// Length in the file.
        found: u64,
    },
    /// Bytes in the place of a point are not a point.
    #[error("section {section} index {index}: {defect}")]
    Point {
        /// The part that holds the point.
        section: Section,
        /// Position in a vector, 0 for a single point.
        index: usize,
        /// What is wrong with it.
        defect: PointDefect,
    },
}

/// Where a file whose digest is wrong first fails the point check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPoint {
    /// The vector.
    pub section: Section,
    /// Position in it.
    pub index: usize,
    /// What is wrong with the point.
    pub defect: PointDefect,
}

/// Why a key file cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, such as "open".
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A folder, a pipe or a device.
    #[error("{}: not a regular file", path.display())]
    NotAFile {
        /// The path given.
        path: PathBuf,
    },
    /// The content is not a key.
    #[error("{}: {defect}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with its bytes.
        defect: FormatError,
    },
    /// A well-formed key of some other circuit.
    #[error(
        "{}: key of another circuit: section {section} holds {} points, expected {}",
        path.display(), found.of(*section), expected.of(*section)
    )]
    WrongCircuit {
        /// The file.
        path: PathBuf,
        /// First vector whose length differs.
        section: Section,
        /// Lengths that the circuit asks for.
        expected: Box<QueryCounts>,
        /// Lengths in the file.
        found: Box<QueryCounts>,
    },
    /// The content is not the published one.
    #[error(
        "{}: digest {found}, expected {expected}{}",
        path.display(), describe_bad_point(first_bad_point.as_ref())
    )]
    Digest {
        /// The file.
        path: PathBuf,
        /// Digest asked for.
        expected: KeyDigest,
        /// Digest of the file.
        found: KeyDigest,
        /// First point that is not a point, if the file was searched and has one.
        first_bad_point: Option<BadPoint>,
    },
    /// The manifest was made from an empty file.
    #[error(
        "{}: expected digest {} is the digest of an empty file, so the manifest entry is wrong",
        path.display(), KeyDigest::EMPTY_FILE
    )]
    DigestOfEmptyFile {
        /// The file that was to be compared.
        path: PathBuf,
    },
    /// Somebody wrote to the file meanwhile.
    #[error("{}: changed while it was in use: {found_bytes} bytes, opened with {expected_bytes}", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// Bytes when it was opened.
        expected_bytes: u64,
        /// Bytes now (equal when only the modification time differs).
        found_bytes: u64,
    },
}

fn describe_bad_point(bad: Option<&BadPoint>) -> String {
    bad.map_or_else(String::new, |bad| {
        let BadPoint {
            section,
            index,
            defect,
        } = bad;
        format!("; first bad point: section {section} index {index}: {defect}")
    })
}
