//! What can go wrong with a job, in classes that a client can act on.

use std::error::Error as StdError;

use cuzk_circuits::CircuitId;
use cuzk_groth16::{Blame, DeviceError};
use thiserror::Error;

use crate::events::Stage;
use crate::jobs::JobId;

/// What a client can do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// The request is wrong; sending it again is useless.
    Invalid,
    /// Too much is asked for at the moment; try again later.
    Busy,
    /// The machine lacks memory, a key or a file for this request.
    Resource,
    /// Hardware failed.
    Device,
    /// A fault of the engine.
    Internal,
}

impl ErrorClass {
    /// The word for logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Busy => "busy",
            Self::Resource => "resource",
            Self::Device => "device",
            Self::Internal => "internal",
        }
    }
}

impl std::fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// An error of something behind a port, with its class.
#[derive(Debug, Error)]
#[error("{source}")]
pub struct PortError {
    /// What a client can do about it.
    pub class: ErrorClass,
    /// What was said.
    pub source: Box<dyn StdError + Send + Sync>,
}

impl PortError {
    /// Classes an error.
    pub fn new(class: ErrorClass, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            class,
            source: source.into(),
        }
    }
}

/// Why a request was not admitted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// The request cannot be decoded, or its circuit is not served here.
    #[error(transparent)]
    Refused(#[from] PortError),
    /// As many jobs wait as may.
    #[error("{num_queued} jobs wait, at most {limit} may")]
    TooManyJobs {
        /// Jobs that have not ended.
        num_queued: usize,
        /// `max_queued_jobs`.
        limit: usize,
    },
    /// The payloads of waiting jobs take as much as they may.
    #[error(
        "payloads of {queued_bytes} bytes wait and this one has {payload_bytes}, at most {limit_bytes} may"
    )]
    TooManyBytes {
        /// Bytes of jobs that have not ended.
        queued_bytes: u64,
        /// Bytes of this request.
        payload_bytes: u64,
        /// `max_queued_bytes`.
        limit_bytes: u64,
    },
    /// One partition needs more than the whole budget.
    #[error("a partition of {circuit} needs {needed_bytes} bytes, the budget is {budget_bytes}")]
    TooLarge {
        /// Of which circuit.
        circuit: CircuitId,
        /// Largest footprint of a partition, with key and circuit.
        needed_bytes: u64,
        /// The whole budget.
        budget_bytes: u64,
    },
    /// The deadline is in the past.
    #[error("the deadline has passed")]
    DeadlinePassed,
    /// A job with this id exists.
    #[error("job {job} exists")]
    DuplicateJob {
        /// The id that was asked for.
        job: JobId,
    },
    /// The engine takes no new work.
    #[error("the engine is draining")]
    Draining,
    /// Decoding panicked.
    #[error("decoding panicked")]
    Panicked,
}

impl SubmitError {
    /// What a client can do about it.
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Refused(error) => error.class,
            Self::TooManyJobs { .. } | Self::TooManyBytes { .. } | Self::Draining => {
                ErrorClass::Busy
            }
            Self::TooLarge { .. } => ErrorClass::Resource,
            Self::DeadlinePassed | Self::DuplicateJob { .. } => ErrorClass::Invalid,
            Self::Panicked => ErrorClass::Internal,
        }
    }
}

/// Why a job failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JobError {
    /// The statement cannot be proved: its values violate a constraint, above all.
    #[error("partition {partition}: {source}")]
    Statement {
        /// Which one.
        partition: usize,
        /// What is wrong with it.
        source: PortError,
    },
    /// The key or the circuit is not there or must not be used.
    #[error("loading {circuit}: {source}")]
    Load {
        /// Of which circuit.
        circuit: CircuitId,
        /// What was said.
        source: PortError,
    },
    /// One partition needs more than the whole budget.
    #[error("a partition of {circuit} needs {needed_bytes} bytes, the budget is {budget_bytes}")]
    TooLarge {
        /// Of which circuit.
        circuit: CircuitId,
        /// Largest footprint of a partition, with key and circuit.
        needed_bytes: u64,
        /// The whole budget.
        budget_bytes: u64,
    },
    /// The device failed, after as many attempts as are allowed.
    #[error("partition {partition}: device {device} in {stage}, attempt {attempts}: {source}")]
    Device {
        /// Which partition.
        partition: usize,
        /// Index of the device.
        device: usize,
        /// Where.
        stage: Stage,
        /// How often the partition was tried.
        attempts: usize,
        /// What the device said.
        source: DeviceError,
    },
    /// A finished proof does not verify, on two attempts.
    #[error(
        "partition {partition}: its proof does not verify, made {attempts} times, last on device {device}; the key may be damaged"
    )]
    NotVerified {
        /// Which partition.
        partition: usize,
        /// Device of the last attempt.
        device: usize,
        /// How often the partition was tried.
        attempts: usize,
    },
    /// A stage panicked.
    #[error("panic in {stage}")]
    Panicked {
        /// Where.
        stage: Stage,
        /// Which partition, where the stage belongs to one.
        partition: Option<usize>,
    },
}

impl JobError {
    /// What a client can do about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Statement { source, .. } | Self::Load { source, .. } => source.class,
            Self::TooLarge { .. } => ErrorClass::Resource,
            Self::Device { source, .. } => match source.blame() {
                Blame::Statement => ErrorClass::Invalid,
                Blame::Partition => ErrorClass::Internal,
                Blame::Memory => ErrorClass::Resource,
                Blame::Device => ErrorClass::Device,
            },
            Self::NotVerified { .. } | Self::Panicked { .. } => ErrorClass::Internal,
        }
    }
}

/// No device is left that works: the engine takes no work, and its unfinished jobs are cancelled.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("device {device} ({name}) is lost, and no other one is left: {reason}")]
pub struct DevicesLost {
    /// Index of the last one.
    pub device: usize,
    /// Its name.
    pub name: &'static str,
    /// What its driver said.
    pub reason: String,
}

/// No job has this id, or its result is no longer kept.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("no job {0}")]
pub struct UnknownJob(pub JobId);

/// Why a circuit is not loaded or not evicted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResidencyError {
    /// The key or the circuit is not there or must not be used.
    #[error("loading {circuit}: {source}")]
    Load {
        /// Which circuit.
        circuit: CircuitId,
        /// What was said.
        source: PortError,
    },
    /// Key and circuit need more than the whole budget.
    #[error("{circuit} needs {needed_bytes} bytes, the budget is {budget_bytes}")]
    TooLarge {
        /// Which circuit.
        circuit: CircuitId,
        /// Bytes of key and circuit.
        needed_bytes: u64,
        /// The whole budget.
        budget_bytes: u64,
    },
    /// Partitions in flight use it.
    #[error("{circuit} is used by {num_leases} partitions")]
    InUse {
        /// Which circuit.
        circuit: CircuitId,
        /// Partitions in flight.
        num_leases: usize,
    },
    /// Loading panicked.
    #[error("panic while {circuit} was loaded")]
    Panicked {
        /// Which circuit.
        circuit: CircuitId,
    },
}

impl ResidencyError {
    /// What a client can do about it.
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Load { source, .. } => source.class,
            Self::TooLarge { .. } => ErrorClass::Resource,
            Self::InUse { .. } => ErrorClass::Busy,
            Self::Panicked { .. } => ErrorClass::Internal,
        }
    }
}

/// Why an engine does not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// A setting is refused.
    #[error(transparent)]
    Settings(#[from] crate::settings::SettingsError),
    /// An engine without a device proves nothing.
    #[error("no device")]
    NoDevice,
    /// The engine lives on a tokio runtime.
    #[error("no tokio runtime here")]
    NoRuntime,
    /// The system refuses a thread.
    #[error("starting a thread: {0}")]
    Thread(std::io::Error),
}
