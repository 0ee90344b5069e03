//! Checks that several kinds of request share.

use std::fmt::Display;

use blstrs::Scalar as Fr;
use ff::PrimeField;
use filecoin_hashers::{Domain, HashFunction, Hasher};
use storage_proofs_update::constants::{TreeRDomain, TreeRHasher};

use super::place::Place;
use super::{Bytes32, DecodeError};
use crate::id::SectorSize;

impl Bytes32 {
    /// The bytes of a hash.
    pub(super) fn of(hash: &impl AsRef<[u8]>) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(hash.as_ref());
        Self(bytes)
    }
}

/// Refuses a sector size that is not the one of the registered proof.
pub(super) fn expect_sector_size(
    path: &'static str,
    proof: &impl Display,
    expected: SectorSize,
    found: u64,
) -> Result<(), DecodeError> {
    if found == expected.bytes() {
        return Ok(());
    }
    Err(DecodeError::SectorSize {
        path,
        proof: proof.to_string(),
        expected: expected.bytes(),
        found,
    })
}

/// A commitment is a field element other than zero.
pub(super) fn commitment<D: Domain>(place: Place<'_>, bytes: &[u8; 32]) -> Result<D, DecodeError> {
    if bytes == &[0; 32] {
        return Err(DecodeError::Zero {
            path: place.to_string(),
        });
    }
    field_element(place, bytes)
}

/// Bytes that are the canonical form of a scalar.
pub(super) fn field_element<D: Domain>(
    place: Place<'_>,
    bytes: &[u8; 32],
) -> Result<D, DecodeError> {
    let domain = Fr::from_repr_vartime(*bytes).and_then(|_| D::try_from_bytes(bytes).ok());
    domain.ok_or_else(|| DecodeError::NotInField {
        path: place.to_string(),
        found: Bytes32(*bytes),
    })
}

/// A field of 32 raw bytes.
pub(super) fn bytes32(field: &'static str, bytes: &[u8]) -> Result<[u8; 32], DecodeError> {
    bytes.try_into().map_err(|_| DecodeError::Length {
        field,
        expected: 32,
        found: bytes.len(),
    })
}

/// Refuses a value at `place` that is not the expected one.
pub(super) fn expect_equal(
    place: Place<'_>,
    expected: &Bytes32,
    found: &Bytes32,
) -> Result<(), DecodeError> {
    if expected == found {
        return Ok(());
    }
    Err(DecodeError::Differs {
        path: place.to_string(),
        expected: *expected,
        found: *found,
    })
}

/// Refuses a number at `place` that is not the expected one.
pub(super) fn expect_number(
    place: Place<'_>,
    expected: u64,
    found: u64,
) -> Result<(), DecodeError> {
    if expected == found {
        return Ok(());
    }
    Err(DecodeError::NumberDiffers {
        path: place.to_string(),
        expected,
        found,
    })
}

/// A replica commitment at `place` is the hash of the column root and the replica root.
pub(super) fn expect_comm_r(
    place: Place<'_>,
    comm_c: &TreeRDomain,
    comm_r_last: &TreeRDomain,
    found: &[u8; 32],
) -> Result<(), DecodeError> {
    let expected = <TreeRHasher as Hasher>::Function::hash2(comm_c, comm_r_last);
    expect_equal(place, &Bytes32::of(&expected), &Bytes32(*found))
}
