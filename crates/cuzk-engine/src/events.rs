//! One enum for everything that happens, so that tracker, totals, timeline, metrics and status cannot disagree.

use std::time::Duration;

use cuzk_circuits::CircuitId;

use crate::error::ErrorClass;
use crate::jobs::{CancelReason, JobId};
use crate::order::Priority;

/// A step of the path of a proof that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Request bytes to statement.
    Decode,
    /// Key and circuit made resident, or made ready on a device.
    Load,
    /// A partition's values.
    Witness,
    /// The device's part that holds its worker.
    Start,
    /// The rest of a proof.
    Finish,
    /// Pairings.
    Verify,
}

impl Stage {
    /// All stages, in the order in which a proof passes them.
    pub const ALL: [Self; 6] = [
        Self::Decode,
        Self::Load,
        Self::Witness,
        Self::Start,
        Self::Finish,
        Self::Verify,
    ];

    /// The word for logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Load => "load",
            Self::Witness => "witness",
            Self::Start => "start",
            Self::Finish => "finish",
            Self::Verify => "verify",
        }
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// One execution of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// What is done.
    pub stage: Stage,
    /// Of which circuit; `None` while the request is not decoded.
    pub circuit: Option<CircuitId>,
    /// For which job; `None` for a preload.
    pub job: Option<JobId>,
    /// For which partition, where the stage belongs to one.
    pub partition: Option<usize>,
    /// On which device, where the stage belongs to one.
    pub device: Option<usize>,
}

impl Step {
    /// A request is decoded.
    pub(crate) const DECODE: Self = Self {
        stage: Stage::Decode,
        circuit: None,
        job: None,
        partition: None,
        device: None,
    };

    /// A circuit is loaded, on a device where one is named.
    pub(crate) const fn load(circuit: CircuitId, device: Option<usize>) -> Self {
        Self {
            stage: Stage::Load,
            circuit: Some(circuit),
            device,
            ..Self::DECODE
        }
    }
}

/// Kinds of large buffers that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BufferClass {
    /// Requests and statements of jobs that have not ended.
    Payload,
    /// Keys and circuits.
    Resident,
    /// Values of variables.
    Witness,
    /// Values of rows.
    Evaluations,
    /// What a device needs beside the partition while it starts it.
    DeviceScratch,
    /// Started proofs.
    Pending,
    /// Proof bytes that are kept for clients.
    Result,
}

impl BufferClass {
    /// All classes.
    pub const ALL: [Self; 7] = [
        Self::Payload,
        Self::Resident,
        Self::Witness,
        Self::Evaluations,
        Self::DeviceScratch,
        Self::Pending,
        Self::Result,
    ];

    /// The word for logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Payload => "payload",
            Self::Resident => "resident",
            Self::Witness => "witness",
            Self::Evaluations => "evaluations",
            Self::DeviceScratch => "device_scratch",
            Self::Pending => "pending",
            Self::Result => "result",
        }
    }
}

impl std::fmt::Display for BufferClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// How far a device is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceHealth {
    /// Nothing is known against it.
    Healthy,
    /// It made a bad proof or failed, and goes on because it is the last one, or because its quarantine is over.
    Suspect,
    /// It failed and gets no work for a while.
    Quarantined,
    /// It does not work any more in this process.
    Lost,
}

impl DeviceHealth {
    /// The word for logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Suspect => "suspect",
            Self::Quarantined => "quarantined",
            Self::Lost => "lost",
        }
    }
}

/// How a job ended, without its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// With a verified proof.
    Completed,
    /// With an error.
    Failed(ErrorClass),
    /// By somebody's wish.
    Cancelled(CancelReason),
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A job was admitted.
    JobAccepted {
        /// Its id.
        job: JobId,
        /// Its circuit.
        circuit: CircuitId,
        /// Its partitions.
        num_partitions: usize,
        /// Its priority.
        priority: Priority,
    },
    /// A job ended, once.
    JobEnded {
        /// Its id.
        job: JobId,
        /// Its circuit.
        circuit: CircuitId,
        /// How.
        ending: Ending,
        /// Since it was admitted.
        total: Duration,
    },
    /// A step runs.
    StepBegan {
        /// Which.
        step: Step,
    },
    /// A step is over, well or not.
    StepEnded {
        /// Which.
        step: Step,
        /// How long it ran.
        took: Duration,
    },
    /// A large buffer appeared.
    BufferTaken {
        /// Of which kind.
        class: BufferClass,
        /// How large.
        bytes: u64,
    },
    /// A large buffer was freed.
    BufferFreed {
        /// Of which kind.
        class: BufferClass,
        /// How large.
        bytes: u64,
    },
    /// A partition will be proved again.
    PartitionRetried {
        /// Of which job.
        job: JobId,
        /// Which.
        partition: usize,
        /// Device of the attempt that failed.
        device: usize,
    },
    /// A device gained or lost trust.
    DeviceChanged {
        /// Which.
        device: usize,
        /// Since now.
        health: DeviceHealth,
    },
    /// A key and its circuit became resident.
    Loaded {
        /// Which.
        circuit: CircuitId,
        /// Bytes of the budget.
        bytes: u64,
    },
    /// A key and its circuit were given up.
    Evicted {
        /// Which.
        circuit: CircuitId,
        /// Bytes of the budget.
        bytes: u64,
    },
    /// A step runs longer than the stall deadline.
    Stalled {
        /// Which.
        step: Step,
        /// For how long so far.
        running: Duration,
    },
}

/// An event and when it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// Since the engine started.
    pub at: Duration,
    /// What happened.
    pub event: Event,
}
