//! Some devices compute several partitions together for less than each by itself: a key that passes through a card does so
//! once for all. So they are given more at a time than others, and the first of a job's partitions is not finished while the next
//! ones are about to be started.

use std::sync::Arc;
use std::time::Duration;

use cuzk_groth16::{LoadedCircuit, ProverDevice};
use tokio::time::Instant;

use crate::shared::Core;
use crate::tasks::{ReadyPartition, TailTask};

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
    let in_flight = || core.devices.num_in_flight(device, ready.task.job.circuit);
    per_pass == 1 || in_flight() < PASSES * per_pass
}

/// Whether a task of the tail should be done now.
pub(crate) fn is_due(core: &Core, task: &TailTask) -> bool {
    let TailTask::Finish(started) = task else {
        return true;
    };
    let Some(Sharing { per_pass, until }) = started.sharing else {
        return true;
    };
    let job = &started.task.job;
    Instant::now() >= until
        || !job.has_more_to_start()
        || core.devices.num_in_flight(started.device, job.circuit) >= per_pass
}

/// Lets the tail's workers look again when the partition that was started now has waited long enough.
pub(crate) fn look_again_in_time(core: &Arc<Core>) {
    let core = Arc::downgrade(core);
    tokio::spawn(async move {
        tokio::time::sleep(GATHERING).await;
        if let Some(core) = core.upgrade() {
            core.tail.look_again();
        }
    });
}
