//! Some devices compute several partitions together for less than each by itself: a key that passes through a card does so
//! once for all. So they are given more at a time than others, and the first of a job's partitions is not finished while the next
//! ones are about to be started.
//!
//! Finishing one of them may take a whole pass, which needs no processor. So each device has workers of its own for it: however
//! many partitions wait on one card, the tail's workers are there for the others and for verification.

use std::sync::Arc;
use std::time::Duration;

use cuzk_groth16::{LoadedCircuit, ProverDevice};
use tokio::time::Instant;

use crate::flow;
use crate::shared::Core;
use crate::tasks::{ReadyPartition, TailTask};

/// Workers of a device for what it computes together. Two see to it that there is always a pass; the third one collects what
/// the last pass left, and is the only one that does while the others wait.
pub(crate) const WORKERS: usize = 3;

/// Passes whose partitions a device has: one that is computed, and one that fills.
const PASSES: usize = 2;

/// How long a started partition waits for others of its job. A pass takes seconds.
const GATHERING: Duration = Duration::from_millis(500);

/// A started partition that may share a pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing {
    /// Partitions of a pass.
    per_pass: usize,
    /// When it waits for no others any more.
    until: Instant,
}

impl Sharing {
    /// For a partition that is started now; none where its device computes one at a time.
    pub(crate) fn of(device: &dyn ProverDevice, circuit: &LoadedCircuit) -> Option<Self> {
        let per_pass = device.proofs_per_pass(circuit).get();
        (per_pass > 1).then(|| Self {
            per_pass,
            until: Instant::now() + GATHERING,
        })
    }
}

/// Whether a device may be given a partition more. Those that share no passes have a worker each, who sees to that.
pub(crate) fn has_room(core: &Core, device: usize, ready: &ReadyPartition) -> bool {
    let Some(circuit) = ready.lease.resident.on_device(device) else {
        return true;
    };
    let per_pass = core.devices.get(device).proofs_per_pass(&circuit).get();
    let num_held = || {
        core.devices
            .held(device, |held| held.num_of(ready.task.job.circuit))
    };
    per_pass == 1 || num_held() < PASSES * per_pass
}

/// Whether a task of the tail is for the workers of a device, and not for the tail's.
pub(crate) fn is_shared(task: &TailTask) -> bool {
    matches!(task, TailTask::Finish(started) if started.sharing.is_some())
}

/// Whether a worker of a device takes a task of the tail: a partition whose pass is over, or one to lead a pass. The lane's worker
/// may lead beside the others.
pub(crate) fn claim(core: &Core, device: usize, task: &TailTask, in_lane: bool) -> bool {
    let TailTask::Finish(started) = task else {
        return false;
    };
    let Some(sharing) = started.sharing.filter(|_| started.device == device) else {
        return false;
    };
    let partition = flow::in_flight(&started.task);
    core.devices.held(device, |held| {
        let is_due = Instant::now() >= sharing.until
            || !started.task.job.has_more_to_start()
            || held.num_waiting(started.task.job.circuit) >= sharing.per_pass;
        held.has_passed(partition) || is_due && held.lead(partition, sharing.per_pass, in_lane)
    })
}

/// Lets workers look again when the partition that was started now has waited long enough.
pub(crate) fn look_again_in_time(core: &Arc<Core>) {
    let core = Arc::downgrade(core);
    tokio::spawn(async move {
        tokio::time::sleep(GATHERING).await;
        if let Some(core) = core.upgrade() {
            core.tail.look_again();
        }
    });
}
