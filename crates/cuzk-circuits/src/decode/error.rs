//! Why a request cannot be proved.
//!
//! The sender reads these messages in a log far from here, so each says where in the request the
//! fault lies, what was expected there and what was found.

use std::fmt;

use thiserror::Error;

use crate::id::{CircuitId, Family};
use crate::registered::{SealProof, UnknownRegisteredProof};

/// Why a request was refused before any work began.
#[derive(Debug, Error)]
pub enum DecodeError {
    /// `registered_proof` is no number of a registered proof.
    #[error(transparent)]
    RegisteredProof(#[from] UnknownRegisteredProof),
    /// The registered proof is of another family.
    #[error("registered_proof {proof} does not belong to a {family} request")]
    Family {
        /// What was given.
        proof: String,
        /// What was asked for.
        family: Family,
    },
    /// Non-interactive replication is recognized, not provable yet.
    #[error(
        "{proof}: non-interactive proofs of replication are delivered as one aggregate of all \
         their partitions (SnarkPack), and aggregation is not available yet"
    )]
    NonInteractive {
        /// What was given.
        proof: SealProof,
    },
    /// A sector size that the registered proof contradicts.
    #[error("{path} is {found} bytes, but registered_proof {proof} means {expected}")]
    SectorSize {
        /// Where.
        path: &'static str,
        /// The registered proof.
        proof: String,
        /// Bytes of its sectors.
        expected: u64,
        /// What was given.
        found: u64,
    },
    /// C1 output of another registered proof.
    #[error("{path} is {found}, the request says {expected}")]
    OtherProof {
        /// Where.
        path: &'static str,
        /// The request's registered proof.
        expected: SealProof,
        /// That of the C1 output.
        found: SealProof,
    },
    /// The vanilla proofs are filed under another sector shape.
    #[error("{path} holds {found:?}, expected {expected:?}")]
    ShapeName {
        /// Where.
        path: &'static str,
        /// The name for this sector size.
        expected: String,
        /// What was given.
        found: String,
    },
    /// Nothing to prove.
    #[error("{path} is empty")]
    Empty {
        /// Which list.
        path: &'static str,
    },
    /// No honest payload is that long.
    #[error("{field} is {found} bytes long, {circuit} takes at most {limit}")]
    TooLong {
        /// Which payload.
        field: &'static str,
        /// For which circuit.
        circuit: CircuitId,
        /// Bytes that are accepted.
        limit: usize,
        /// Bytes that were given.
        found: usize,
    },
    /// A value of fixed length has another one.
    #[error("{field} is {found} bytes long, not {expected}")]
    Length {
        /// Which field.
        field: &'static str,
        /// Bytes that it should have.
        expected: usize,
        /// Bytes that it has.
        found: usize,
    },
    /// A byte-order mark stands before the JSON.
    #[error("{field} begins with a byte-order mark at byte 0, JSON must not")]
    ByteOrderMark {
        /// Which payload.
        field: &'static str,
    },
    /// Not the JSON that was expected.
    #[error("{field} at {path} (byte {offset}): {}", without_position(fault))]
    Json {
        /// Which payload.
        field: &'static str,
        /// Keys and indices down to the fault, `.` for the top.
        path: String,
        /// Where the parser stood.
        offset: usize,
        /// What it says.
        fault: serde_json::Error,
    },
    /// Not base64.
    #[error(
        "{field} (byte {offset}) is no standard base64: {}",
        base64_fault(fault)
    )]
    Base64 {
        /// Which field.
        field: &'static str,
        /// First byte that does not fit; the length where padding or more is missing.
        offset: usize,
        /// What the decoder says.
        fault: base64::DecodeError,
    },
    /// The vanilla proof ends too early.
    #[error("{field} is cut: it ends at byte {offset}, where more must follow")]
    Cut {
        /// Which payload.
        field: String,
        /// Its length in bytes.
        offset: usize,
    },
    /// Not the bincode that was expected.
    #[error("{field} (byte {offset}): {source}")]
    Binary {
        /// Which payload.
        field: String,
        /// Where the parser stood.
        offset: usize,
        /// What it says.
        source: bincode::Error,
    },
    /// Something follows the vanilla proof.
    #[error("{field} ends at byte {offset}, but {extra} bytes follow")]
    TrailingBytes {
        /// Which payload.
        field: String,
        /// Bytes of the vanilla proof.
        offset: usize,
        /// Bytes behind it.
        extra: usize,
    },
    /// A list has the wrong number of entries.
    #[error("{path} has {found} entries, expected {expected}")]
    Count {
        /// Which list.
        path: String,
        /// Entries that it should have.
        expected: usize,
        /// Entries that it has.
        found: usize,
    },
    /// A Merkle proof of a tree of another shape.
    #[error("{path} is a proof of kind {found}, this tree needs {expected}")]
    TreeKind {
        /// Which proof.
        path: String,
        /// `Single`, `Sub` or `Top`.
        expected: &'static str,
        /// `Single`, `Sub` or `Top`.
        found: &'static str,
    },
    /// A node has no child of that number.
    #[error("{path} is {found}, the tree has {arity} children per node")]
    ChildIndex {
        /// Which path element.
        path: String,
        /// Children per node.
        arity: usize,
        /// What was given.
        found: usize,
    },
    /// 32 bytes that are no scalar.
    #[error("{path} is {found}, which is not below the modulus of the scalar field")]
    NotInField {
        /// Which value.
        path: String,
        /// Its bytes.
        found: Bytes32,
    },
    /// A commitment or seed that was never set.
    #[error("{path} is all zero")]
    Zero {
        /// Which value.
        path: String,
    },
    /// Two values that must be equal are not.
    #[error("{path} is {found}, expected {expected}")]
    Differs {
        /// Which value.
        path: String,
        /// What follows from the rest of the request.
        expected: Bytes32,
        /// What was given.
        found: Bytes32,
    },
    /// Two numbers that must be equal are not.
    #[error("{path} is {found}, expected {expected}")]
    NumberDiffers {
        /// Which number.
        path: String,
        /// What follows from the rest of the request.
        expected: u64,
        /// What was given.
        found: u64,
    },
    /// The C1 output was made for another sector.
    #[error(
        "replica_id is {found}, but miner {miner_id}, sector {sector_number}, the ticket and \
         comm_d give {expected}: the vanilla proof belongs to another sector"
    )]
    OtherSector {
        /// The request's miner.
        miner_id: u64,
        /// The request's sector.
        sector_number: u64,
        /// Replica id of the request.
        expected: Bytes32,
        /// Replica id of the C1 output.
        found: Bytes32,
    },
    /// Sectors are not in ascending order.
    #[error("{path}[{index}] is of sector {found}, which does not come after {previous}")]
    SectorOrder {
        /// Which list.
        path: &'static str,
        /// Which entry.
        index: usize,
        /// Sector of the one before.
        previous: u64,
        /// Its sector.
        found: u64,
    },
    /// `partition_index` makes no sense here.
    #[error(
        "partition_index is {found}, but it must be 0 in a {family} request about {num_sectors} \
         sectors"
    )]
    PartitionIndex {
        /// Of which family.
        family: Family,
        /// Sectors in the request.
        num_sectors: usize,
        /// What was given.
        found: u32,
    },
}

impl DecodeError {
    /// Which entry of the request's list of vanilla proofs is at fault, where it is a single one.
    ///
    /// A proof of replication has no such list, only one payload for all partitions.
    pub fn vanilla_proof_index(&self) -> Option<usize> {
        let path = match self {
            Self::Cut { field, .. }
            | Self::Binary { field, .. }
            | Self::TrailingBytes { field, .. } => field,
            Self::Count { path, .. }
            | Self::TreeKind { path, .. }
            | Self::ChildIndex { path, .. }
            | Self::NotInField { path, .. }
            | Self::Differs { path, .. }
            | Self::NumberDiffers { path, .. } => path,
            Self::SectorOrder { index, .. } => return Some(*index),
            _ => return None,
        };
        let (index, _) = path.strip_prefix("vanilla_proofs[")?.split_once(']')?;
        index.parse().ok()
    }
}

/// The parser's words without line and column, which the byte replaces.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}

/// The decoder's finding without the position, which stands before it.
fn base64_fault(error: &base64::DecodeError) -> String {
    match error {
        base64::DecodeError::InvalidByte(_, byte) => {
            format!("found '{}'", byte.escape_ascii())
        }
        base64::DecodeError::InvalidLastSymbol(_, byte) => {
            format!("'{}' leaves bits over at the end", byte.escape_ascii())
        }
        base64::DecodeError::InvalidLength(_) => "it ends within a group of four".to_owned(),
        base64::DecodeError::InvalidPadding => "its padding is wrong or missing".to_owned(),
    }
}

/// 32 bytes that print as hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bytes32(pub [u8; 32]);

impl fmt::Display for Bytes32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Bytes32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vanilla_proof_at_fault_is_known_where_it_is_one() {
        let count = |path: &str| DecodeError::Count {
            path: path.to_owned(),
            expected: 2,
            found: 3,
        };
        assert_eq!(
            count("vanilla_proofs[12].sectors").vanilla_proof_index(),
            Some(12)
        );
        assert_eq!(count("vanilla_proofs").vanilla_proof_index(), None);
        let cut = DecodeError::Cut {
            field: "vanilla_proofs[0]".to_owned(),
            offset: 7,
        };
        assert_eq!(cut.vanilla_proof_index(), Some(0));
        assert_eq!(DecodeError::Empty { path: "x" }.vanilla_proof_index(), None);
    }
}
