//! Compiled circuits on disk.
//!
//! Compiling a large circuit takes a minute, so it is done once. A file is read whole, and nothing in it is believed: its
//! checksum finds damage, and every count, index and offset is checked before it is used, so that a file that somebody made
//! up costs an error and no more memory or time than [`limits`] say.
//!
//! Layout: the magic bytes `cuzkcirc`; version, u32; length of the body, u64; BLAKE2b-256 of the body, personalised
//! `cuzk-circuit-v1`; the body. All integers are little endian, those of the body LEB128 of at most 32 bits. The body holds the
//! label (two texts with their lengths), the digest, the coefficients (count, 32 bytes canonical each), the templates (count,
//! then each as in `encode.rs`), and the variables that rows behind their instances force to be bits (count, then gaps).

mod bytes;
mod decode;
mod encode;
mod error;
mod limits;
mod templates;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

pub use error::{CircuitFileError, CircuitSection};

use crate::compiled::CompiledCircuit;

const MAGIC: [u8; 8] = *b"cuzkcirc";
const VERSION: u32 = 1;
const CHECKSUM_BYTES: usize = 32;
const HEADER_BYTES: usize = MAGIC.len() + 4 + 8 + CHECKSUM_BYTES;

/// What a circuit file says about its origin, for whoever decides whether it is stale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CircuitLabel {
    /// Name of the circuit.
    pub name: String,
    /// Versions of what it was built from.
    pub built_from: String,
}

impl CircuitLabel {
    /// 16 hex digits that change with the name, the origin, and the version of the format.
    pub fn fingerprint(&self) -> String {
        let mut writer = bytes::Writer::default();
        writer.number(VERSION);
        writer.text(&self.name);
        writer.text(&self.built_from);
        let (digits, _) = number(&checksum(&writer.0), 8);
        format!("{digits:016x}")
    }
}

impl CompiledCircuit {
    /// The version of circuit files that this program writes, and the only one that it reads.
    pub const FILE_VERSION: u32 = VERSION;

    /// The bytes of a circuit file.
    pub fn to_file_bytes(&self, label: &CircuitLabel) -> Vec<u8> {
        let body = encode::body(self, label);
        let mut bytes = Vec::with_capacity(HEADER_BYTES + body.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&checksum(&body));
        bytes.extend_from_slice(&body);
        bytes
    }

    /// A circuit and its label from the bytes of a file.
    ///
    /// # Errors
    /// When the bytes are no circuit file of this version, damaged, or contradict themselves.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<(Self, CircuitLabel), CircuitFileError> {
        decode::body(checked_body(bytes)?)
    }

    /// Reads a circuit file.
    ///
    /// # Errors
    /// As [`CompiledCircuit::from_file_bytes`], or when the file cannot be read.
    pub fn read_file(path: &Path) -> Result<(Self, CircuitLabel), CircuitFileError> {
        let io = |source| CircuitFileError::Io {
            path: path.to_owned(),
            source,
        };
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| {
                file.take(limits::MAX_FILE_BYTES + 1)
                    .read_to_end(&mut bytes)
            })
            .map_err(io)?;
        if bytes.len() as u64 > limits::MAX_FILE_BYTES {
            return Err(CircuitFileError::TooLong {
                max: limits::MAX_FILE_BYTES,
            });
        }
        Self::from_file_bytes(&bytes)
    }
}

fn checksum(body: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let hash = blake2b_simd::Params::new()
        .hash_length(CHECKSUM_BYTES)
        .personal(b"cuzk-circuit-v1")
        .hash(body);
    let mut checksum = [0; CHECKSUM_BYTES];
    checksum.copy_from_slice(hash.as_bytes());
    checksum
}

/// The body of a file whose header is that of this version and whose checksum is right.
fn checked_body(bytes: &[u8]) -> Result<&[u8], CircuitFileError> {
    let Some((header, body)) = bytes.split_at_checked(HEADER_BYTES) else {
        return Err(CircuitFileError::Length {
            expected: HEADER_BYTES as u64,
            found: bytes.len() as u64,
        });
    };
    let (magic, rest) = header.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(CircuitFileError::NotACircuit);
    }
    let (version, rest) = number(rest, 4);
    if version != u64::from(VERSION) {
        return Err(CircuitFileError::Version {
            expected: VERSION,
            found: version as u32,
        });
    }
    let (length, expected) = number(rest, 8);
    if length != body.len() as u64 {
        return Err(CircuitFileError::Length {
            expected: length.saturating_add(HEADER_BYTES as u64),
            found: bytes.len() as u64,
        });
    }
    if checksum(body) == expected {
        Ok(body)
    } else {
        Err(CircuitFileError::Checksum)
    }
}

/// The little endian number in the first `count` bytes, of at most eight, and the bytes behind them.
fn number(bytes: &[u8], count: usize) -> (u64, &[u8]) {
    let (digits, rest) = bytes.split_at(count);
    let value = digits
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u64::from(byte));
    (value, rest)
}
