#![doc = include_str!("../README.md")]

mod admission;
mod budget;
#[cfg(test)]
mod budget_tests;
mod bus;
mod cancel;
mod completion;
mod devices;
mod ending;
mod engine;
mod error;
mod events;
mod flow;
mod folds;
mod held;
mod jobs;
mod order;
mod ports;
mod queue;
mod residency;
mod settings;
mod shared;
mod sharing;
mod snapshot;
mod stages;
mod status;
mod steps;
mod sync;
mod tasks;
mod waiters;
mod workers;

pub use engine::{Attendance, Engine, EngineParts, Preloaded};
pub use error::{
    DevicesLost, ErrorClass, JobError, PortError, ResidencyError, StartError, SubmitError,
    UnknownJob,
};
pub use events::{BufferClass, DeviceHealth, Ending, Event, Stage, Stamped, Step};
pub use folds::Span;
pub use jobs::{
    CancelReason, JobId, JobOutcome, JobRequest, JobStatus, JobSummary, JobTimings,
    ParseJobIdError, PartitionState, Submitted,
};
pub use order::Priority;
pub use ports::{
    CircuitSource, Executor, FilecoinCircuits, KeySize, KeySource, Provable, ThreadExecutor, Work,
};
pub use settings::{AbandonedJobs, EngineSettings, MemoryLimit, SettingsError, memory_limit};
#[doc(hidden)]
pub use shared::Mistakes;
pub use snapshot::{
    BudgetStatus, BufferStatus, DeviceStatus, QueueStatus, ResidentStatus, RunningStep, Snapshot,
    StageStatus, Tier, Totals,
};
pub use stages::verify::VerifiedProof;
