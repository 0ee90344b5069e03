//! What can be wrong with the operands of a multi-scalar multiplication.

use thiserror::Error;

/// Operands that do not fit each other.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum MsmError {
    /// As many scalars must be selected as there are bases.
    #[error("{scalars} scalars selected for {bases} {group} bases")]
    Length {
        /// "G1" or "G2".
        group: &'static str,
        /// Bases that the source has.
        bases: usize,
        /// Scalars that the segments select.
        scalars: usize,
    },
    /// A selection's bitmap must have a word for every 64 scalars.
    #[error("selection of {words} words for {scalars} scalars, expected {expected} words")]
    Selection {
        /// Words given.
        words: usize,
        /// Scalars in the segment.
        scalars: usize,
        /// Words needed.
        expected: usize,
    },
    /// Windows may be neither too narrow nor too wide.
    #[error("windows of {bits} bits, expected {min} to {max}")]
    WindowBits {
        /// Bits given.
        bits: u32,
        /// Fewest.
        min: u32,
        /// Most.
        max: u32,
    },
}
