//! What can keep a device from proving.

use cuzk_r1cs::EvaluateError;
use thiserror::Error;

use crate::key::{KeyError, Section};
use crate::msm::MsmError;

/// Why a device refused or failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The key is not the circuit's.
    #[error(transparent)]
    Key(Box<KeyError>),
    /// A single point of the key is the neutral element, so that proofs would not be sound or not hide the witness.
    #[error("{section} of the key is the point at infinity")]
    Identity {
        /// Which point.
        section: Section,
    },
    /// The witness belongs to another circuit.
    #[error("witness has {found} {kind} variables, the circuit has {expected}")]
    WitnessLength {
        /// "input", "auxiliary" or "wide".
        kind: &'static str,
        /// As the circuit's shape says.
        expected: usize,
        /// As given.
        found: usize,
    },
    /// The witness keeps a bit where the circuit has a wide variable, or the other way round.
    #[error("variable {variable} of the witness is of another kind than the circuit's")]
    VariableKind {
        /// The first such private variable.
        variable: usize,
    },
    /// The values violate the circuit, so there is nothing to prove.
    #[error("constraint system not satisfied: row {row} is the first with a·b ≠ c")]
    Unsatisfied {
        /// Index of the row in the circuit.
        row: usize,
    },
    /// The rows cannot be evaluated.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// The circuit was loaded on a device of another kind.
    #[error("the circuit was not loaded on a {device} device")]
    OtherDevice {
        /// The device that was asked to prove.
        device: &'static str,
    },
    /// The device does not take circuits of this size.
    #[error("{device} proves domains up to 2^{max_log_domain}, the circuit needs 2^{log_domain}")]
    TooLarge {
        /// Name of the device.
        device: &'static str,
        /// What the circuit needs.
        log_domain: u32,
        /// What the device takes.
        max_log_domain: u32,
    },
    /// The scalars of a query do not fit its points.
    #[error("query {section}: {source}")]
    Msm {
        /// Which query.
        section: Section,
        /// What does not fit.
        source: MsmError,
    },
    /// The device has not enough free memory for this proof now.
    #[error("{device} needs {needed_bytes} bytes and has {free_bytes} free")]
    OutOfMemory {
        /// Name of the device.
        device: &'static str,
        /// What the proof needs.
        needed_bytes: u64,
        /// What is free.
        free_bytes: u64,
    },
    /// A proof needs more memory of the device than it may use.
    #[error(
        "{device} needs {needed_bytes} bytes of the card for a proof and may use {limit_bytes}: \
         raise its memory limit or prove on the CPU"
    )]
    MemoryLimit {
        /// Name of the device.
        device: &'static str,
        /// What a proof needs.
        needed_bytes: u64,
        /// What the device may use.
        limit_bytes: u64,
    },
    /// The device or the host lacked memory, and nobody knows how much.
    #[error("{device} got no memory: {source}")]
    NoMemory {
        /// Name of the device.
        device: &'static str,
        /// What its driver says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The device cannot do this.
    #[error("{device} refuses: {source}")]
    Refused {
        /// Name of the device.
        device: &'static str,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The device failed, and may work the next time.
    #[error("{device} failed: {source}")]
    Failed {
        /// Name of the device.
        device: &'static str,
        /// What its driver says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The device does not work any more in this process: whatever it is asked from now on fails.
    #[error("{device} is lost until the program is started again: {source}")]
    Lost {
        /// Name of the device.
        device: &'static str,
        /// What its driver says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Threads could not be started.
    #[error("{threads} {pool} threads cannot be started: {source}")]
    Threads {
        /// "start" or "tail".
        pool: &'static str,
        /// How many were asked for.
        threads: usize,
        /// What the system says.
        source: rayon::ThreadPoolBuildError,
    },
}

/// What an error tells about the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The values: there is nothing to prove, anywhere.
    Statement,
    /// The partition, its key or its circuit: it fails everywhere.
    Partition,
    /// The moment: it may succeed when more memory is free.
    Memory,
    /// The device: it may succeed on another one.
    Device,
}

impl DeviceError {
    /// Whether the same partition may succeed later or elsewhere.
    pub const fn blame(&self) -> Blame {
        match self {
            Self::Unsatisfied { .. } => Blame::Statement,
            Self::OutOfMemory { .. } | Self::NoMemory { .. } => Blame::Memory,
            Self::Failed { .. } | Self::Lost { .. } | Self::Threads { .. } => Blame::Device,
            _ => Blame::Partition,
        }
    }
}

impl From<KeyError> for DeviceError {
    fn from(error: KeyError) -> Self {
        Self::Key(Box::new(error))
    }
}
