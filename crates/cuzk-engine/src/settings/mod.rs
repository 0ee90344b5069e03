//! What an embedder may choose. Settings that contradict each other are refused by name with both numbers.

mod machine;

use std::num::NonZeroUsize;
use std::time::Duration;

use thiserror::Error;

pub use machine::{MemoryLimit, memory_limit};

/// Share of the machine's or the cgroup's memory that is the budget unless it is set, in percent. The rest is for
/// threads, allocator slack, and pages of mapped keys.
const DEFAULT_BUDGET_PERCENT: u64 = 80;

/// Share of the budget for payloads of waiting jobs unless it is set.
const DEFAULT_QUEUED_SHARE: u64 = 8;

/// Partition workers beyond which throughput no longer grows on the machines that were measured.
const MAX_DEFAULT_PARTITION_WORKERS: usize = 12;

/// What becomes of a job whose last client went away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AbandonedJobs {
    /// It goes on, and its result is kept for the retention time.
    #[default]
    Keep,
    /// It is cancelled.
    Cancel,
}

/// Settings of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSettings {
    /// Bytes that requests, keys, circuits, partitions and results may take; `None` is 80 % of what the machine and the
    /// cgroup allow.
    pub budget_bytes: Option<u64>,
    /// Partitions whose values are computed at the same time.
    pub partition_workers: usize,
    /// Proofs in flight per device, from `start` to the end of `finish`; more where a device computes several together.
    pub device_workers: usize,
    /// Threads for `finish` and verification. Devices that compute several partitions together have their own for `finish`.
    pub cpu_tail_threads: usize,
    /// Partitions that should be ready before a device asks.
    pub lookahead: usize,
    /// Partitions that may be ready; `None` is the larger of `lookahead` and `partition_workers`.
    pub ready_capacity: Option<usize>,
    /// Jobs that may be unfinished.
    pub max_queued_jobs: usize,
    /// Payload bytes of unfinished jobs; `None` is an eighth of the budget. Taken out of the budget.
    pub max_queued_bytes: Option<u64>,
    /// How long results are kept.
    pub result_retention: Duration,
    /// How many bytes of results are kept; the oldest go first.
    pub max_result_bytes: u64,
    /// A step that runs longer is reported as stalled.
    pub stall_deadline: Duration,
    /// How long a device that failed gets no work while another one works, and the most that the last one rests.
    pub quarantine: Duration,
    /// How often a partition is tried when devices fail.
    pub max_attempts: usize,
    /// What becomes of jobs whose last client went away.
    pub abandoned: AbandonedJobs,
    /// Whether tenants take turns among jobs of equal priority and deadline.
    pub fair_tenants: bool,
    /// Whether memory, a worker of each kind, and the next device slot are kept for WinningPoSt. How much memory is known
    /// once its circuit was loaded: preload it to have the reserve from the start.
    pub winning_lane: bool,
}

impl Default for EngineSettings {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            budget_bytes: None,
            partition_workers: cores.min(MAX_DEFAULT_PARTITION_WORKERS),
            device_workers: 2,
            cpu_tail_threads: cores,
            lookahead: 1,
            ready_capacity: None,
            max_queued_jobs: 1000,
            max_queued_bytes: None,
            result_retention: Duration::from_hours(1),
            max_result_bytes: 64 << 20,
            stall_deadline: Duration::from_mins(15),
            quarantine: Duration::from_mins(5),
            max_attempts: 3,
            abandoned: AbandonedJobs::Keep,
            fair_tenants: false,
            winning_lane: true,
        }
    }
}

/// Why settings are refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsError {
    /// The setting must be positive.
    #[error("{name} is 0, it must be at least 1")]
    Zero {
        /// Which setting.
        name: &'static str,
    },
    /// Workers would wait for each other at the queue of ready partitions.
    #[error(
        "ready_capacity is {ready_capacity}, below partition_workers = {partition_workers}: finished partitions would hold up the workers one after the other"
    )]
    Serialises {
        /// As set.
        ready_capacity: usize,
        /// As set.
        partition_workers: usize,
    },
    /// Waiting payloads would leave nothing for partitions.
    #[error(
        "max_queued_bytes is {max_queued_bytes}, it must be below budget_bytes = {budget_bytes}"
    )]
    QueueFillsBudget {
        /// As set.
        max_queued_bytes: u64,
        /// As set or found.
        budget_bytes: u64,
    },
    /// Devices and waiting payloads would leave nothing for partitions.
    #[error(
        "budget_bytes is {budget_bytes}, of which devices keep {own_bytes} and payloads may take {max_queued_bytes}: \
         nothing is left for partitions"
    )]
    DevicesFillBudget {
        /// As set or found.
        budget_bytes: u64,
        /// What the devices keep for themselves.
        own_bytes: u64,
        /// As set or found.
        max_queued_bytes: u64,
    },
    /// The budget is more than the machine or the cgroup has.
    #[error("budget_bytes is {budget_bytes}, but {limit} allows {limit_bytes}")]
    OverLimit {
        /// As set.
        budget_bytes: u64,
        /// Where the limit comes from.
        limit: &'static str,
        /// The limit.
        limit_bytes: u64,
    },
    /// Neither the setting nor the system says how much memory there is.
    #[error("budget_bytes is not set and this system does not tell how much memory it has")]
    UnknownMemory,
}

/// Settings whose derived values are fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Derived {
    pub(crate) budget_bytes: u64,
    pub(crate) max_queued_bytes: u64,
    /// What is left of the budget for keys, circuits and partitions.
    pub(crate) partition_bytes: u64,
    pub(crate) ready_capacity: usize,
}

impl EngineSettings {
    /// Refuses settings that contradict each other or the machine.
    ///
    /// # Errors
    /// [`SettingsError`] with the names and both numbers.
    pub fn validate(&self) -> Result<(), SettingsError> {
        self.derive(memory_limit().as_ref(), 0).map(drop)
    }

    /// `own_bytes` are what the devices keep for themselves.
    pub(crate) fn derive(
        &self,
        limit: Option<&MemoryLimit>,
        own_bytes: u64,
    ) -> Result<Derived, SettingsError> {
        let counts = [
            ("partition_workers", self.partition_workers),
            ("device_workers", self.device_workers),
            ("cpu_tail_threads", self.cpu_tail_threads),
            ("max_queued_jobs", self.max_queued_jobs),
            ("max_attempts", self.max_attempts),
            // Stalls are looked for twice per deadline.
            ("stall_deadline", self.stall_deadline.as_millis() as usize),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(SettingsError::Zero { name });
        }
        let ready_capacity = self.ready_capacity();
        if ready_capacity < self.partition_workers {
            return Err(SettingsError::Serialises {
                ready_capacity,
                partition_workers: self.partition_workers,
            });
        }
        let budget_bytes = self.budget(limit)?;
        let max_queued_bytes = self
            .max_queued_bytes
            .unwrap_or(budget_bytes / DEFAULT_QUEUED_SHARE);
        if max_queued_bytes >= budget_bytes {
            return Err(SettingsError::QueueFillsBudget {
                max_queued_bytes,
                budget_bytes,
            });
        }
        let partition_bytes = (budget_bytes - max_queued_bytes)
            .checked_sub(own_bytes)
            .filter(|bytes| *bytes > 0)
            .ok_or(SettingsError::DevicesFillBudget {
                budget_bytes,
                own_bytes,
                max_queued_bytes,
            })?;
        Ok(Derived {
            budget_bytes,
            max_queued_bytes,
            partition_bytes,
            ready_capacity,
        })
    }

    pub(crate) fn ready_capacity(&self) -> usize {
        self.ready_capacity
            .unwrap_or_else(|| self.lookahead.max(self.partition_workers))
    }

    fn budget(&self, limit: Option<&MemoryLimit>) -> Result<u64, SettingsError> {
        match (self.budget_bytes, limit) {
            (Some(0), _) => Err(SettingsError::Zero {
                name: "budget_bytes",
            }),
            (Some(budget_bytes), Some(limit)) if budget_bytes > limit.bytes => {
                Err(SettingsError::OverLimit {
                    budget_bytes,
                    limit: limit.origin,
                    limit_bytes: limit.bytes,
                })
            }
            (Some(budget_bytes), _) => Ok(budget_bytes),
            (None, Some(limit)) => Ok(limit.bytes / 100 * DEFAULT_BUDGET_PERCENT),
            (None, None) => Err(SettingsError::UnknownMemory),
        }
    }
}

#[cfg(test)]
mod tests;
