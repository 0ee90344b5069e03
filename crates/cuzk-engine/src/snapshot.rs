//! The state of an engine at one moment, for status pages, metrics and people.

use std::collections::BTreeMap;
use std::time::Duration;

use cuzk_circuits::{CircuitId, Family};
use cuzk_groth16::DeviceDescription;

use crate::events::{BufferClass, DeviceHealth, Stage, Step};
use crate::jobs::JobId;

/// Where a circuit's key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Ready on a device.
    Hot,
    /// Open, with the circuit in memory.
    Warm,
    /// A file only.
    Cold,
}

/// A device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceStatus {
    /// Its index in the list that the engine was started with.
    pub index: usize,
    /// What it is.
    pub description: DeviceDescription,
    /// How far it is trusted.
    pub health: DeviceHealth,
    /// What it failed with last.
    pub last_error: Option<String>,
    /// Partitions that it holds, from `start` to the end of `finish`, the oldest first.
    pub in_flight: Vec<(JobId, CircuitId, usize)>,
    /// Time in which at least one of its partitions was in `start` or `finish`.
    pub busy: Duration,
}

impl DeviceStatus {
    /// What clients, logs and metrics call the device.
    pub fn id(&self) -> String {
        format!("{}-{}", self.description.name, self.index)
    }
}

/// A key and its circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResidentStatus {
    /// Which.
    pub circuit: CircuitId,
    /// Where it is.
    pub tier: Tier,
    /// Bytes of the key's file.
    pub file_bytes: u64,
    /// Bytes that it takes from the budget now.
    pub budget_bytes: u64,
    /// Partitions in flight that use it.
    pub num_leases: usize,
}

/// Jobs of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueStatus {
    /// Which family.
    pub family: Family,
    /// Jobs none of whose partitions was begun.
    pub num_pending: usize,
    /// Jobs in work.
    pub num_in_progress: usize,
}

/// Since the engine started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Jobs that were admitted.
    pub accepted: u64,
    /// Jobs that ended with a proof.
    pub completed: u64,
    /// Jobs that ended with an error.
    pub failed: u64,
    /// Jobs that were cancelled.
    pub cancelled: u64,
    /// Partitions that were proved again.
    pub retried: u64,
}

/// The memory budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetStatus {
    /// The whole budget.
    pub total_bytes: u64,
    /// Held by permits: keys, circuits, partitions.
    pub used_bytes: u64,
    /// Kept for WinningPoSt.
    pub reserved_bytes: u64,
    /// Largest use so far.
    pub peak_bytes: u64,
    /// Who waits for memory.
    pub num_waiting: usize,
    /// Payloads of unfinished jobs. They have a part of the budget of their own and are not in `used_bytes`.
    pub queued_bytes: u64,
    /// That part of the budget.
    pub max_queued_bytes: u64,
}

/// Large buffers of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferStatus {
    /// How many there are.
    pub count: u64,
    /// How large they are together.
    pub bytes: u64,
    /// The most there were at one time.
    pub peak_count: u64,
    /// The largest sum there was.
    pub peak_bytes: u64,
}

/// How often and how long a stage ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageStatus {
    /// Steps that are over.
    pub count: u64,
    /// Their time in sum.
    pub total: Duration,
    /// The longest one.
    pub longest: Duration,
}

/// A step that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningStep {
    /// Which.
    pub step: Step,
    /// For how long.
    pub running: Duration,
    /// Whether that is longer than the stall deadline.
    pub stalled: bool,
}

/// The state of an engine.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Since it started.
    pub uptime: Duration,
    /// In the order in which they were given.
    pub devices: Vec<DeviceStatus>,
    /// Keys that are there.
    pub residents: Vec<ResidentStatus>,
    /// One per family.
    pub queues: Vec<QueueStatus>,
    /// Counts of jobs.
    pub totals: Totals,
    /// Memory.
    pub budget: BudgetStatus,
    /// Large buffers; every class occurs.
    pub buffers: BTreeMap<BufferClass, BufferStatus>,
    /// Time per stage; every stage occurs.
    pub stages: BTreeMap<Stage, StageStatus>,
    /// What runs now, the longest first.
    pub running: Vec<RunningStep>,
    /// Partitions ready for a device, and how many may be.
    pub ready: (usize, usize),
    /// What is wrong, in words; empty when all is well.
    pub degraded: Vec<String>,
    /// Whether it takes no new work.
    pub draining: bool,
}
