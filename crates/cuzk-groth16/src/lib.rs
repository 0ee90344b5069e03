//! cuzk-groth16

mod curve;
mod field;
mod key;
mod proof;
mod verify;
mod verifying_key;

pub use curve::{
    Affine, CurveField, G1Point, G2Point, PointError, decode_point, decode_point_unchecked,
    encode_point,
};
pub use field::{Coordinate, Fp, Fp2, InversionScratch, batch_invert};
pub use key::{
    BadPoint, CheckRecord, CheckReport, CheckRequest, CheckSource, FormatError, KeyDigest,
    KeyError, KeyProgress, KeyStep, OpenOptions, ParseDigestError, PointCheck, PointDefect,
    ProvingKey, QueryCounts, RecordPlace, Section,
};
pub use proof::{PROOF_BYTES, Proof, ProofElement, ProofError};
pub use verify::{VerifyError, verify, verify_batch};
pub use verifying_key::{PreparedVerifyingKey, VerifyingKey};
