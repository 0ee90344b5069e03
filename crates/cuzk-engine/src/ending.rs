//! How jobs end, and how partitions get another attempt. A job ends in one function, once.

use std::sync::Arc;

use crate::error::JobError;
use crate::events::{DeviceHealth, Ending, Event};
use crate::jobs::{CancelReason, Job, JobOutcome, PartitionState};
use crate::residency;
use crate::shared::Core;
use crate::tasks::PartitionTask;

/// How often the proof of a partition may be bad. A second bad proof is not the device's fault.
const MAX_BAD_PROOFS: usize = 2;

/// Ends a job; only the first call for a job has an effect, and says so. Its partitions drop out.
pub(crate) fn end(core: &Arc<Core>, job: &Job, outcome: JobOutcome) -> bool {
    let ending = match &outcome {
        JobOutcome::Completed { .. } => Ending::Completed,
        JobOutcome::Failed { error, .. } => Ending::Failed(error.class()),
        JobOutcome::Cancelled { reason, .. } => Ending::Cancelled(*reason),
    };
    if !job.claim_end() {
        return false;
    }
    let total = outcome.timings().total;
    let outcome = Arc::new(outcome);
    job.token.cancel();
    if let Some(material) = job.take_material() {
        core.steps.reap(material);
    }
    core.registry.keep(job, &outcome);
    core.bus.emit(Event::JobEnded {
        job: job.id,
        circuit: job.circuit,
        ending,
        total,
    });
    // Last, so that whoever was waiting for it finds it counted.
    job.outcome.set(outcome);
    sweep(core, job);
    // Its circuit may be idle now, or another one's turn may have come.
    residency::relieve(core);
    residency::look_ahead(core);
    true
}

/// Takes what is left of a job that ended out of all queues. Whoever puts something in calls this after, so that nothing
/// remains whichever came first.
pub(crate) fn sweep(core: &Arc<Core>, job: &Job) {
    if !job.token.is_cancelled() {
        return;
    }
    let waiting = core.waiting.remove_where(|task| task.job.id == job.id);
    let ready = core.ready.remove_where(|ready| ready.task.job.id == job.id);
    let tail = core.tail.remove_where(|task| task.job().id == job.id);
    for task in &tail {
        if let crate::tasks::TailTask::Finish(started) = task {
            let partition = crate::flow::in_flight(&started.task);
            core.devices
                .held(started.device, |held| held.leave(partition));
        }
    }
    if !tail.is_empty() {
        core.ready.look_again();
    }
    core.steps.reap((waiting, ready, tail));
}

/// Ends a job with an error.
pub(crate) fn fail(core: &Arc<Core>, job: &Job, error: JobError) {
    let timings = job.timings();
    end(core, job, JobOutcome::Failed { error, timings });
}

/// Cancels a job; says whether it was running.
pub(crate) fn cancel(core: &Arc<Core>, job: &Job, reason: CancelReason) -> bool {
    let timings = job.timings();
    end(core, job, JobOutcome::Cancelled { reason, timings })
}

/// Puts a partition where it waits for a worker.
pub(crate) fn put_back(core: &Arc<Core>, task: PartitionTask) {
    let job = Arc::clone(&task.job);
    if let Err(task) = core.waiting.push_over(task.rank(), task) {
        core.steps.reap(task);
    }
    sweep(core, &job);
}

/// Gives a partition another attempt.
pub(crate) fn retry(core: &Arc<Core>, task: PartitionTask, device: usize, avoid: Option<usize>) {
    core.bus.emit(Event::PartitionRetried {
        job: task.job.id,
        partition: task.partition,
        device,
    });
    task.job.set_state(task.partition, PartitionState::Queued);
    let again = PartitionTask {
        attempts: task.attempts + 1,
        avoid,
        ..task
    };
    put_back(core, again);
}

/// Proves partitions again whose proofs are bad, elsewhere where that is possible.
pub(crate) fn prove_again(
    core: &Arc<Core>,
    job: &Arc<Job>,
    partitions: &[usize],
    devices: &[usize],
) {
    for &partition in partitions {
        let device = devices[partition];
        core.devices
            .suspect(device, format!("its proof of {} does not verify", job.id));
        let attempts = job.forget_proof(partition);
        if attempts >= MAX_BAD_PROOFS {
            let error = JobError::NotVerified {
                partition,
                device,
                attempts,
            };
            fail(core, job, error);
            return;
        }
        let task = PartitionTask {
            job: Arc::clone(job),
            partition,
            attempts: 0,
            avoid: Some(device),
            present: core.presence.enter(),
        };
        retry(core, task, device, Some(device));
    }
}

/// Notes that a device failed, and lets others take its work.
pub(crate) fn distrust(core: &Arc<Core>, device: usize, why: String) {
    let is_quarantined = core.devices.distrust(device, why);
    core.ready.look_again();
    if !is_quarantined {
        return;
    }
    let began = tokio::time::Instant::now();
    let over = began + core.settings.quarantine;
    let core = Arc::downgrade(core);
    tokio::spawn(async move {
        tokio::time::sleep_until(over).await;
        if let Some(core) = core.upgrade() {
            core.devices.readmit(device, began);
            core.ready.look_again();
        }
    });
}

/// What is wrong, in words.
pub(crate) fn degraded(core: &Core) -> Vec<String> {
    let states = (0..core.devices.len()).map(|device| (device, core.devices.state_of(device)));
    states
        .filter(|(_, (health, ..))| *health != DeviceHealth::Healthy)
        .map(|(device, (health, error, _))| {
            let name = core.devices.get(device).describe().name;
            let error = error.unwrap_or_default();
            format!("device {device} ({name}) is {}: {error}", health.name())
        })
        .collect()
}
