//! How much a circuit file may ask for before it is refused.
//!
//! A file of a kilobyte can nest templates so that they expand to any number of rows. The limits are some times what the largest
//! published circuit needs (2^27 rows and variables, 1.2 · 10^9 non-zeros, a depth below 10, 10 MB).

/// Longest file, in bytes.
pub(super) const MAX_FILE_BYTES: u64 = 1 << 28;

/// Most rows, and most variables of a kind, of the whole circuit: three bitmaps of 32 MiB.
pub(super) const MAX_ROWS_OR_VARIABLES: u32 = 1 << 28;

/// Deepest nesting of templates; each level is a level of recursion.
pub(super) const MAX_DEPTH: u32 = 64;

/// Most instances and external variables of the whole circuit together: what opening a file works through.
pub(super) const MAX_INSTANCES: u64 = 1 << 28;

/// Most non-zeros of the whole circuit.
pub(super) const MAX_TERMS: u64 = 1 << 33;
