//! One job: what it is, how far it is, and the one cell that its end is written to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use cuzk_circuits::{CircuitId, Family};
use cuzk_groth16::Proof;
use tokio::time::Instant;

use super::content::RequestKey;
use super::registry::Place;
use super::{JobId, JobOutcome, JobStatus, JobSummary, JobTimings, PartitionState};
use crate::bus::Counted;
use crate::cancel::CancelToken;
use crate::completion::Completion;
use crate::events::Stage;
use crate::order::{Priority, Rank};
use crate::ports::Provable;
use crate::sync::{Mutex, lock};
use crate::tasks::Present;

/// A job that was admitted.
pub(crate) struct Job {
    pub(crate) id: JobId,
    pub(crate) key: Option<RequestKey>,
    pub(crate) tenant: Option<String>,
    pub(crate) circuit: CircuitId,
    pub(crate) num_partitions: usize,
    pub(crate) priority: Priority,
    pub(crate) deadline: Option<Instant>,
    pub(crate) accepted: Instant,
    pub(crate) rank: Rank,
    pub(crate) token: CancelToken,
    pub(crate) outcome: Completion<Arc<JobOutcome>>,
    /// Clients that wait for it.
    attendants: AtomicUsize,
    /// Whether somebody is writing its outcome, or has.
    is_ending: AtomicBool,
    material: Mutex<Option<Material>>,
    progress: Mutex<Progress>,
}

/// What a job holds until it ends.
pub(crate) struct Material {
    pub(crate) statement: Arc<dyn Provable>,
    pub(crate) _place: Place,
    pub(crate) _payload: Counted,
    pub(crate) _present: Present,
}

/// A proof of one partition, not verified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartitionProof {
    pub(crate) proof: Proof,
    pub(crate) device: usize,
}

struct Progress {
    partitions: Vec<PartitionState>,
    proofs: Vec<Option<PartitionProof>>,
    /// How often the proof of each partition was bad.
    num_bad: Vec<usize>,
    timings: JobTimings,
    begun: bool,
}

/// What a job is made from.
pub(crate) struct JobParts {
    pub(crate) id: JobId,
    pub(crate) key: Option<RequestKey>,
    pub(crate) tenant: Option<String>,
    pub(crate) circuit: CircuitId,
    pub(crate) num_partitions: usize,
    pub(crate) priority: Priority,
    pub(crate) deadline: Option<Instant>,
    pub(crate) rank: Rank,
    pub(crate) material: Material,
}

impl Job {
    pub(crate) fn new(parts: JobParts) -> Arc<Self> {
        let num_partitions = parts.num_partitions;
        Arc::new(Self {
            id: parts.id,
            key: parts.key,
            tenant: parts.tenant,
            circuit: parts.circuit,
            num_partitions,
            priority: parts.priority,
            deadline: parts.deadline,
            accepted: Instant::now(),
            rank: parts.rank,
            token: CancelToken::default(),
            outcome: Completion::new(),
            attendants: AtomicUsize::new(0),
            is_ending: AtomicBool::new(false),
            material: Mutex::new(Some(parts.material)),
            progress: Mutex::new(Progress {
                partitions: vec![PartitionState::Queued; num_partitions],
                proofs: vec![None; num_partitions],
                num_bad: vec![0; num_partitions],
                timings: JobTimings::default(),
                begun: false,
            }),
        })
    }

    /// The statement; `None` once the job ended.
    pub(crate) fn statement(&self) -> Option<Arc<dyn Provable>> {
        let material = lock(&self.material);
        material
            .as_ref()
            .map(|material| Arc::clone(&material.statement))
    }

    /// Whether the caller is the one who ends the job; true once.
    pub(crate) fn claim_end(&self) -> bool {
        !self.is_ending.swap(true, Ordering::AcqRel)
    }

    /// What the job holds, at its end.
    pub(crate) fn take_material(&self) -> Option<Material> {
        lock(&self.material).take()
    }

    /// Whether the job may use the reserved lane.
    pub(crate) fn in_lane(&self) -> bool {
        self.circuit.family == Family::WinningPoSt
    }

    pub(crate) fn has_begun(&self) -> bool {
        lock(&self.progress).begun
    }

    /// Whether a partition has yet to get its memory.
    pub(crate) fn is_hungry(&self) -> bool {
        lock(&self.progress).partitions.iter().any(|state| {
            matches!(
                state,
                PartitionState::Queued | PartitionState::WaitsForMemory { .. }
            )
        })
    }

    /// Whether partitions will be started soon: some are before it, and do not wait for memory.
    pub(crate) fn has_more_to_start(&self) -> bool {
        let progress = lock(&self.progress);
        progress.partitions.iter().any(|state| {
            matches!(
                state,
                PartitionState::Queued
                    | PartitionState::Witness
                    | PartitionState::Ready
                    | PartitionState::Starting
            )
        })
    }

    /// Says what a partition waits for or does.
    pub(crate) fn set_state(&self, partition: usize, state: PartitionState) {
        let mut progress = lock(&self.progress);
        progress.partitions[partition] = state;
        if !progress.begun && state != PartitionState::Queued {
            progress.begun = true;
            progress.timings.queue_wait = self.accepted.elapsed();
        }
    }

    /// Adds time to the sum of a stage.
    pub(crate) fn add_time(&self, stage: Stage, took: Duration) {
        let mut progress = lock(&self.progress);
        let timings = &mut progress.timings;
        let sum = match stage {
            // A request is decoded before it is a job.
            Stage::Decode => return,
            Stage::Verify => &mut timings.verify,
            Stage::Load => &mut timings.load,
            Stage::Witness => &mut timings.witness,
            Stage::Start | Stage::Finish => &mut timings.device,
        };
        *sum += took;
    }

    /// Adds the part of `start` in which the rows were evaluated.
    pub(crate) fn add_evaluation(&self, took: Duration) {
        lock(&self.progress).timings.evaluate += took;
    }

    /// Keeps a partition's proof. The call that completes the set gets all of them, in order; no other call does.
    pub(crate) fn add_proof(
        &self,
        partition: usize,
        proof: &PartitionProof,
    ) -> Option<Vec<PartitionProof>> {
        let mut progress = lock(&self.progress);
        progress.partitions[partition] = PartitionState::Proved;
        progress.proofs[partition] = Some(*proof);
        progress.proofs.iter().copied().collect()
    }

    /// Takes a bad proof out, so that the partition can be proved again; says how many were bad so far.
    pub(crate) fn forget_proof(&self, partition: usize) -> usize {
        let mut progress = lock(&self.progress);
        progress.partitions[partition] = PartitionState::Queued;
        progress.proofs[partition] = None;
        progress.num_bad[partition] += 1;
        progress.num_bad[partition]
    }

    pub(crate) fn timings(&self) -> JobTimings {
        let timings = lock(&self.progress).timings;
        JobTimings {
            total: self.accepted.elapsed(),
            ..timings
        }
    }

    pub(crate) fn status(&self) -> JobStatus {
        if let Some(outcome) = self.outcome.get() {
            return JobStatus::Ended(outcome);
        }
        let progress = lock(&self.progress);
        JobStatus::Running {
            num_done: progress.proofs.iter().flatten().count(),
            num_partitions: self.num_partitions,
        }
    }

    pub(crate) fn summary(&self) -> JobSummary {
        let outcome = self.outcome.get();
        let partitions = match outcome {
            Some(_) => Vec::new(),
            None => lock(&self.progress).partitions.clone(),
        };
        JobSummary {
            job: self.id,
            request_id: self.key.as_ref().map(|key| key.request_id.clone()),
            tenant: self.tenant.clone(),
            circuit: self.circuit,
            priority: self.priority,
            deadline: self.deadline,
            age: self.accepted.elapsed(),
            partitions,
            outcome,
        }
    }

    /// One more client waits.
    pub(crate) fn attend(&self) {
        self.attendants.fetch_add(1, Ordering::AcqRel);
    }

    /// A client went away; whether it was the last one.
    pub(crate) fn leave(&self) -> bool {
        self.attendants.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("id", &self.id)
            .field("circuit", &self.circuit)
            .finish_non_exhaustive()
    }
}
