//! Jobs from admission to the end of their retention.

mod content;
mod id;
mod job;
mod registry;
mod request;

pub(crate) use content::{RequestKey, content_hash, payload_bytes};
pub(crate) use job::{Job, JobParts, Material, PartitionProof};
pub(crate) use registry::{Limits, Registry};

pub use id::{JobId, ParseJobIdError};
pub use request::{
    CancelReason, JobOutcome, JobRequest, JobStatus, JobSummary, JobTimings, PartitionState,
    Submitted,
};
