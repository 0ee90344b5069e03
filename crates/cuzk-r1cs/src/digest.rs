//! A fingerprint of the three matrices, independent of how they are stored.
//!
//! Two circuits with the same digest are the same statement, row for row; a compiled or cached
//! form is checked by expanding it and comparing digests. The bytes under the hash (BLAKE2b-256,
//! personalised `cuzk-r1cs-v1`) are, for each constraint row in order and within it for A, B, C:
//! the number of entries, then per entry the column (top bit set for private variables) and the
//! number of the coefficient, numbered in order of first appearance, all as u32 little endian.
//! After the rows follow the coefficients in that order, 32 bytes canonical little endian each,
//! and `num_inputs`, `num_aux`, `num_constraints` as u64 little endian.

use std::fmt;

use ff::PrimeField;

use crate::matrix::Entry;
use crate::{Fr, Shape};

/// BLAKE2b-256 over the expanded matrices; printed as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MatrixDigest([u8; 32]);

impl MatrixDigest {
    /// A digest from its bytes.
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The digest's bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for MatrixDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for MatrixDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MatrixDigest({self})")
    }
}

/// Hashes rows as they come; coefficient indices must already be in order of first appearance.
pub(crate) struct MatrixHasher {
    state: blake2b_simd::State,
    buffer: Vec<u8>,
}

impl MatrixHasher {
    const BUFFER_BYTES: usize = 1 << 16;

    pub(crate) fn new() -> Self {
        Self {
            state: blake2b_simd::Params::new()
                .hash_length(32)
                .personal(b"cuzk-r1cs-v1")
                .to_state(),
            buffer: Vec::with_capacity(Self::BUFFER_BYTES),
        }
    }

    pub(crate) fn row(&mut self, entries: &[Entry]) {
        self.word(entries.len() as u32);
        for entry in entries {
            self.word(entry.column.to_bits());
            self.word(entry.coefficient_index);
        }
    }

    fn word(&mut self, word: u32) {
        if self.buffer.len() + 4 > Self::BUFFER_BYTES {
            self.flush();
        }
        self.buffer.extend_from_slice(&word.to_le_bytes());
    }

    fn flush(&mut self) {
        self.state.update(&self.buffer);
        self.buffer.clear();
    }

    pub(crate) fn finish(mut self, coefficients: &[Fr], shape: Shape) -> MatrixDigest {
        self.flush();
        for coefficient in coefficients {
            self.state.update(&coefficient.to_repr());
        }
        for count in [shape.num_inputs, shape.num_aux, shape.num_constraints] {
            self.state.update(&(count as u64).to_le_bytes());
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(self.state.finalize().as_bytes());
        MatrixDigest(digest)
    }
}
