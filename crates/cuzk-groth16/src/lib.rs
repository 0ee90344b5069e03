#![doc = include_str!("../README.md")]

mod assembly;
mod curve;
mod device;
mod field;
mod key;
mod msm;
mod ntt;
mod proof;
pub mod setup;
mod verify;
mod verifying_key;

pub use assembly::{Blinding, G1Sums, assemble};
pub use curve::{
    Affine, Arithmetic, CurveField, G1Point, G2Point, PointError, decode_point,
    decode_point_unchecked, encode_point,
};
pub use device::{
    Blame, CardDescription, CardMemory, CpuDevice, CpuSettings, DeviceDescription, DeviceError,
    Footprint, LoadedCircuit, LoadedKey, Partition, PendingProof, ProverDevice, ReferenceDevice,
    StartTimes,
};
pub use field::{Coordinate, Fp, Fp2, InversionScratch, batch_invert};
pub use key::{
    BadPoint, CheckRecord, CheckReport, CheckRequest, CheckSource, FormatError, KeyDigest,
    KeyError, KeyProgress, KeyStep, OpenOptions, ParseDigestError, PointCheck, PointDefect,
    ProvingKey, QueryCounts, RecordPlace, Section,
};
pub use msm::{
    BaseSource, EncodedBases, MsmError, MsmSettings, ScalarSegment, WindowBits, msm, msm_naive,
    scratch_bytes,
};
pub use proof::{PROOF_BYTES, Proof, ProofElement, ProofError};
pub use verify::{VerifyError, verify, verify_batch};
pub use verifying_key::{PreparedVerifyingKey, VerifyingKey};
