//! What can go wrong while a development key is made.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::WasteError;
use crate::key::Section;

/// Why no key was made; no file is left behind.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The secret exponents give no key for this circuit.
    #[error("toxic waste: {0}")]
    Waste(#[from] WasteError),
    /// No row restricts the variable, so its point would be infinity.
    #[error("auxiliary variable {variable} is in no constraint")]
    UnconstrainedVariable {
        /// Index among the auxiliary variables.
        variable: usize,
    },
    /// A polynomial that is not zero has a root at τ: the key would lack a point that provers expect.
    #[error("the polynomial of section {section} index {index} is zero at tau; choose another tau")]
    VanishesAtTau {
        /// The vector that would lack the point.
        section: Section,
        /// Position in it.
        index: usize,
    },
    /// The domain would exceed the roots of unity of the field.
    #[error("{rows} rows need a domain above 2^{max_log_domain}")]
    TooManyRows {
        /// Rows of the circuit, those of the inputs included.
        rows: usize,
        /// Logarithm of the largest domain.
        max_log_domain: u32,
    },
    /// A length field of the file has 32 bits.
    #[error(
        "section {section} would hold {count} points, the format allows {}",
        u32::MAX
    )]
    TooManyPoints {
        /// The vector.
        section: Section,
        /// Points in it.
        count: u64,
    },
    /// A key is there already and was not to be replaced.
    #[error("{}: exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// What makes the points failed.
    #[error("points cannot be made: {0}")]
    Source(Box<dyn std::error::Error + Send + Sync>),
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried, such as "write".
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}
