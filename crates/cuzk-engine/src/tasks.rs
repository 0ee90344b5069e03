//! The values that pass from stage to stage. Each owns its memory and the permit for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuzk_groth16::{PendingProof, PreparedVerifyingKey};
use tokio::sync::{Notify, oneshot};

use cuzk_r1cs::PackedWitness;

use crate::budget::Permit;
use crate::bus::{Bus, Counted};
use crate::events::BufferClass;
use crate::jobs::{Job, PartitionProof};
use crate::order::Rank;
use crate::residency::{Footprints, Lease};
use crate::sharing::Sharing;

/// Counts what is in flight, so that somebody can wait until nothing is.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    count: AtomicUsize,
    none: Notify,
}

impl Presence {
    /// One more, until the returned value is dropped.
    pub(crate) fn enter(self: &Arc<Self>) -> Present {
        self.count.fetch_add(1, Ordering::AcqRel);
        Present(Arc::clone(self))
    }

    /// Waits until nothing is in flight.
    pub(crate) async fn none(&self) {
        loop {
            let notified = self.none.notified();
            if self.count.load(Ordering::Acquire) == 0 {
                return;
            }
            notified.await;
        }
    }
}

/// Something in flight.
#[derive(Debug)]
pub(crate) struct Present(Arc<Presence>);

impl Drop for Present {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.none.notify_waiters();
        }
    }
}

/// A partition to be proved.
#[derive(Debug)]
pub(crate) struct PartitionTask {
    pub(crate) job: Arc<Job>,
    pub(crate) partition: usize,
    /// How often it was tried before.
    pub(crate) attempts: usize,
    /// The device of the last attempt.
    pub(crate) avoid: Option<usize>,
    pub(crate) present: Present,
}

impl PartitionTask {
    pub(crate) fn rank(&self) -> Rank {
        self.job.rank.of_partition(self.partition)
    }
}

/// The permit for a partition's memory and what it is counted as.
#[derive(Debug)]
pub(crate) struct Holding {
    bus: Arc<Bus>,
    footprints: Footprints,
    counted: Vec<Counted>,
    permit: Permit<Rank>,
}

impl Holding {
    /// Memory of a partition whose values are computed.
    pub(crate) fn new(bus: Arc<Bus>, footprints: Footprints, permit: Permit<Rank>) -> Self {
        let counted = vec![bus.count(BufferClass::Witness, footprints.partition)];
        Self {
            bus,
            footprints,
            counted,
            permit,
        }
    }

    /// The device evaluates the rows and takes its scratch memory.
    pub(crate) fn begin_start(&mut self) {
        let footprints = &self.footprints;
        self.counted.extend([
            self.bus
                .count(BufferClass::Evaluations, footprints.evaluations),
            self.bus
                .count(BufferClass::DeviceScratch, footprints.scratch_bytes()),
        ]);
    }

    /// The values are gone, a pending proof is left.
    pub(crate) fn become_pending(&mut self) {
        let bytes = self.footprints.pending;
        self.counted = vec![self.bus.count(BufferClass::Pending, bytes)];
        self.permit.shrink_to(self.footprints.tail_bytes());
    }

    /// Gives the permit back while the memory is still held: the mistake that a test repeats.
    pub(crate) fn lose_permit(&mut self) {
        self.permit.shrink_to(0);
    }
}

/// A partition whose values wait for a device.
pub(crate) struct ReadyPartition {
    pub(crate) witness: PackedWitness,
    pub(crate) holding: Holding,
    pub(crate) lease: Lease,
    pub(crate) task: PartitionTask,
}

/// A partition that a device holds.
pub(crate) struct StartedPartition {
    pub(crate) pending: PendingProof,
    pub(crate) holding: Holding,
    pub(crate) lease: Lease,
    pub(crate) task: PartitionTask,
    pub(crate) device: usize,
    /// Where the device computes several together.
    pub(crate) sharing: Option<Sharing>,
    /// Frees the device's slot when dropped.
    pub(crate) slot: oneshot::Sender<()>,
}

/// Proofs of all partitions of a job.
pub(crate) struct CompleteJob {
    pub(crate) job: Arc<Job>,
    pub(crate) proofs: Vec<PartitionProof>,
    pub(crate) verifying_key: Arc<PreparedVerifyingKey>,
    pub(crate) present: Present,
}

/// Work for the threads that finish and verify.
pub(crate) enum TailTask {
    Finish(Box<StartedPartition>),
    Verify(CompleteJob),
}

impl TailTask {
    pub(crate) fn job(&self) -> &Arc<Job> {
        match self {
            Self::Finish(started) => &started.task.job,
            Self::Verify(complete) => &complete.job,
        }
    }
}
