//! What every part of a running engine shares.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::budget::Budget;
use crate::bus::Bus;
use crate::completion::Completion;
use crate::devices::Devices;
use crate::error::DevicesLost;
use crate::jobs::Job;
use crate::jobs::Registry;
use crate::order::Rank;
use crate::ports::{CircuitSource, KeySource};
use crate::queue::OrderedQueue;
use crate::residency::Residency;
use crate::settings::{Derived, EngineSettings};
use crate::steps::Steps;
use crate::sync::Mutex;
use crate::tasks::{PartitionTask, Presence, ReadyPartition, TailTask};

/// Mistakes of earlier engines, which tests and the planner repeat to see what they cost. Not a setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mistakes {
    /// The permit is given back when the values are computed, not when they are freed.
    pub permit_dropped_before_send: bool,
    /// A limit of ready partitions that settings would refuse.
    pub ready_capacity: Option<usize>,
}

pub(crate) struct Core {
    pub(crate) settings: EngineSettings,
    pub(crate) derived: Derived,
    pub(crate) mistakes: Mistakes,
    pub(crate) devices: Devices,
    pub(crate) keys: Arc<dyn KeySource>,
    pub(crate) circuits: Arc<dyn CircuitSource>,
    pub(crate) bus: Arc<Bus>,
    pub(crate) steps: Steps,
    pub(crate) registry: Registry,
    pub(crate) budget: Budget<Rank>,
    pub(crate) residency: Residency,
    /// Partitions that wait for a worker, memory, key or circuit.
    pub(crate) waiting: OrderedQueue<Rank, PartitionTask>,
    /// Partitions that wait for a device.
    pub(crate) ready: OrderedQueue<Rank, ReadyPartition>,
    /// Partitions that wait to be finished, and proofs that wait to be verified.
    pub(crate) tail: OrderedQueue<Rank, TailTask>,
    /// Requests that are decoded at the same time.
    pub(crate) decoders: Semaphore,
    pub(crate) presence: Arc<Presence>,
    /// Locked while a job is added, so that no job comes after it was set.
    pub(crate) draining: Mutex<bool>,
    /// Set when no device is left.
    pub(crate) lost: Completion<DevicesLost>,
}

impl Core {
    /// Whether a job has a lane of its own.
    pub(crate) fn is_in_lane(&self, job: &Job) -> bool {
        self.settings.winning_lane && job.in_lane()
    }

    /// Ends all workers and frees what waits.
    pub(crate) fn close(&self) {
        self.steps.reap(self.waiting.close());
        self.steps.reap(self.ready.close());
        self.steps.reap(self.tail.close());
    }
}
