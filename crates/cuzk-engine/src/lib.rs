#![doc = include_str!("../README.md")]
#![allow(dead_code, reason = "order and progress are ahead of their users")]

mod admission;
mod bus;
mod cancel;
mod completion;
mod core;
mod engine;
mod error;
mod events;
mod flow;
mod folds;
mod jobs;
mod order;
mod ports;

mod settings;
mod snapshot;
mod stages;
mod status;
mod steps;
mod sync;
mod waiters;

pub use engine::{Attendance, Engine, EngineParts, Preloaded};
pub use error::{
    ErrorClass, JobError, PortError, ResidencyError, StartError, SubmitError, UnknownJob,
};
pub use events::{BufferClass, DeviceHealth, Ending, Event, Stage, Stamped, Step};
pub use folds::Span;
pub use jobs::{
    CancelReason, JobId, JobOutcome, JobRequest, JobStatus, JobSummary, JobTimings,
    ParseJobIdError, PartitionState, Submitted,
};
pub use order::Priority;
pub use ports::{
    CircuitSource, Executor, FilecoinCircuits, KeySize, KeySource, Prepared, Provable,
    ThreadExecutor, Work,
};
pub use settings::{AbandonedJobs, EngineSettings, MemoryLimit, SettingsError, memory_limit};
pub use snapshot::{
    BudgetStatus, BufferStatus, DeviceStatus, QueueStatus, ResidentStatus, RunningStep, Snapshot,
    StageStatus, Tier, Totals,
};
pub use stages::verify::VerifiedProof;
