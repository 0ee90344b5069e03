//! What is wrong with a circuit file.

use std::fmt;
use std::path::PathBuf;

/// A part of a circuit file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircuitSection {
    /// The texts that name the circuit and its origin.
    Label,
    /// The digest of the expanded matrices.
    Digest,
    /// The distinct coefficients.
    Coefficients,
    /// Counts of a template.
    Templates,
    /// Instances within a template.
    Children,
    /// External variables of an instance within a template.
    Externals,
    /// Lengths of the rows of a template.
    Rows,
    /// Non-zeros of a template.
    Terms,
    /// Kinds of a template's own variables.
    Kinds,
    /// Variables that are bits by a row behind their instance.
    LateBits,
    /// What comes behind the last section.
    End,
}

impl fmt::Display for CircuitSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Label => "label",
            Self::Digest => "digest",
            Self::Coefficients => "coefficients",
            Self::Templates => "templates",
            Self::Children => "children",
            Self::Externals => "externals",
            Self::Rows => "rows",
            Self::Terms => "terms",
            Self::Kinds => "kinds",
            Self::LateBits => "late bits",
            Self::End => "end",
        })
    }
}

/// Why a circuit file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CircuitFileError {
    /// The system refuses.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It does not begin as a circuit file does.
    #[error("not a circuit file")]
    NotACircuit,
    /// Another version of the format; compile the circuit again.
    #[error("circuit file of version {found}, expected {expected}")]
    Version {
        /// The version that can be read.
        expected: u32,
        /// The file's.
        found: u32,
    },
    /// No circuit takes as much.
    #[error("longer than {max} bytes, the most that a circuit file has")]
    TooLong {
        /// Most bytes that are read.
        max: u64,
    },
    /// Cut off, or something is behind its end.
    #[error("circuit file of {found} bytes, expected {expected}")]
    Length {
        /// What the header says, or its own length.
        expected: u64,
        /// Length of the file.
        found: u64,
    },
    /// The bytes are not those that were written.
    #[error("the checksum of the circuit file is wrong: it is damaged")]
    Checksum,
    /// A section goes on beyond the end of the file.
    #[error("section {section}, item {index}: the file ends within it")]
    Truncated {
        /// In which section.
        section: CircuitSection,
        /// Which of its items, from zero; for sections of a template, which template.
        index: u64,
    },
    /// A value that cannot be there.
    #[error("section {section}, item {index}: {what} is {found}, expected {min} to {max}")]
    Value {
        /// In which section.
        section: CircuitSection,
        /// Which of its items, from zero; for sections of a template, which template.
        index: u64,
        /// What the value is.
        what: &'static str,
        /// Least possible value.
        min: u64,
        /// Greatest possible value.
        max: u64,
        /// The value.
        found: u64,
    },
    /// Bytes that are no text or no field element.
    #[error("section {section}, item {index}: not {what}")]
    Malformed {
        /// In which section.
        section: CircuitSection,
        /// Which of its items, from zero.
        index: u64,
        /// What was expected there.
        what: &'static str,
    },
}
