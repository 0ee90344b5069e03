//! What a client asks for and what it is told.

use std::sync::Arc;
use std::time::Duration;

use cuzk_circuits::{CircuitId, ProofRequest};
use tokio::time::Instant;

use super::JobId;
use crate::error::JobError;
use crate::order::Priority;
use crate::stages::verify::VerifiedProof;

/// A proof that is asked for.
#[derive(Clone, Debug)]
pub struct JobRequest {
    /// The client's name for it. With the same content it joins the job that exists; with other content it is another job.
    pub request_id: Option<String>,
    /// What is to be proved.
    pub request: ProofRequest,
    /// How urgent; `None` is the default of the family.
    pub priority: Option<Priority>,
    /// When the result becomes worthless; the job is cancelled then.
    pub deadline: Option<Instant>,
    /// On whose behalf, where tenants take turns.
    pub tenant: Option<String>,
    /// The id of a job that is taken up again after a restart; `None` makes a new one.
    pub job_id: Option<JobId>,
}

impl JobRequest {
    /// A request with the defaults of its family.
    pub fn new(request: ProofRequest) -> Self {
        Self {
            request_id: None,
            request,
            priority: None,
            deadline: None,
            tenant: None,
            job_id: None,
        }
    }
}

/// A job that was admitted, or joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// Its id.
    pub job: JobId,
    /// Jobs that will be served before it.
    pub queue_position: usize,
    /// Whether it existed before.
    pub joined: bool,
    /// The device that will prove it, where that is known: there is only one.
    pub device: Option<usize>,
}

/// Where a job's time went. Sums over partitions, which overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobTimings {
    /// From admission to the first step of a partition.
    pub queue_wait: Duration,
    /// Keys and circuits.
    pub load: Duration,
    /// Values of the partitions.
    pub witness: Duration,
    /// `start` and `finish`.
    pub device: Duration,
    /// Values of the rows; a part of `device`.
    pub evaluate: Duration,
    /// Pairings.
    pub verify: Duration,
    /// From admission to the end.
    pub total: Duration,
}

impl JobTimings {
    /// `start` and `finish` without the values of the rows.
    pub fn proving(&self) -> Duration {
        self.device.saturating_sub(self.evaluate)
    }
}

/// Why a job was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CancelReason {
    /// A client asked for it.
    Requested,
    /// Its deadline passed.
    DeadlinePassed,
    /// Its last client went away, and abandoned jobs are cancelled.
    Abandoned,
    /// The engine shut down before it was done.
    Shutdown,
    /// No device was left before it was done.
    DevicesLost,
}

impl CancelReason {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requested => "cancelled by a client",
            Self::DeadlinePassed => "the deadline passed",
            Self::Abandoned => "the client went away",
            Self::Shutdown => "the engine shut down",
            Self::DevicesLost => "no device is left that works",
        }
    }

    /// Whether nobody wished the job's end: another engine may take it up.
    pub const fn is_interruption(self) -> bool {
        matches!(self, Self::Shutdown | Self::DevicesLost)
    }
}

/// How a job ended.
#[derive(Debug)]
pub enum JobOutcome {
    /// With a proof that verifies.
    Completed {
        /// The proof.
        proof: VerifiedProof,
        /// Devices that made its partitions, in order of partitions.
        devices: Vec<usize>,
        /// Where the time went.
        timings: JobTimings,
    },
    /// With an error.
    Failed {
        /// What went wrong.
        error: JobError,
        /// Where the time went.
        timings: JobTimings,
    },
    /// By somebody's wish.
    Cancelled {
        /// Whose.
        reason: CancelReason,
        /// Where the time went.
        timings: JobTimings,
    },
}

impl JobOutcome {
    /// Where the time went.
    pub const fn timings(&self) -> &JobTimings {
        match self {
            Self::Completed { timings, .. }
            | Self::Failed { timings, .. }
            | Self::Cancelled { timings, .. } => timings,
        }
    }
}

/// What is known about a job.
#[derive(Clone, Debug)]
pub enum JobStatus {
    /// Not ended.
    Running {
        /// Partitions that have a proof.
        num_done: usize,
        /// All partitions.
        num_partitions: usize,
    },
    /// Ended, and the result is kept.
    Ended(Arc<JobOutcome>),
}

/// What a partition waits for or does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartitionState {
    /// Waits for a worker.
    Queued,
    /// Waits for memory, key or circuit.
    WaitsForMemory {
        /// How much it needs.
        bytes: u64,
    },
    /// Its values are computed.
    Witness,
    /// Waits for a device.
    Ready,
    /// A device starts it.
    Starting,
    /// Waits for a thread that finishes it.
    Pending,
    /// It is finished.
    Finishing,
    /// It has a proof.
    Proved,
}

/// A line of the list of jobs.
#[derive(Clone, Debug)]
pub struct JobSummary {
    /// Its id.
    pub job: JobId,
    /// The client's name for it.
    pub request_id: Option<String>,
    /// On whose behalf.
    pub tenant: Option<String>,
    /// Its circuit.
    pub circuit: CircuitId,
    /// How urgent.
    pub priority: Priority,
    /// When it is worthless.
    pub deadline: Option<Instant>,
    /// Since it was admitted.
    pub age: Duration,
    /// What each partition waits for or does; empty once the job ended.
    pub partitions: Vec<PartitionState>,
    /// Its outcome, once it ended.
    pub outcome: Option<Arc<JobOutcome>>,
}
