//! How jobs end, and how partitions get another attempt. A job ends in one function, once.

use std::sync::Arc;

use crate::error::{DevicesLost, JobError};
use crate::events::{DeviceHealth, Ending, Event};
use crate::jobs::{CancelReason, Job, JobOutcome, PartitionState};
use crate::residency;
use crate::shared::Core;
use crate::sync::lock;
use crate::tasks::{PartitionTask, StartedPartition, TailTask};

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
        if let TailTask::Finish(started) = task {
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
    put_back(core, PartitionTask { avoid, ..task });
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
            attempts: 1,
            avoid: Some(device),
            present: core.presence.enter(),
        };
        retry(core, task, device, Some(device));
    }
}

/// Notes that a device failed, and lets others take its work.
pub(crate) fn distrust(core: &Arc<Core>, device: usize, why: String) {
    let quarantine = core.settings.quarantine;
    let over = core.devices.distrust(device, why, quarantine);
    core.ready.look_again();
    let core = Arc::downgrade(core);
    tokio::spawn(async move {
        tokio::time::sleep_until(over).await;
        if let Some(core) = core.upgrade() {
            core.devices.readmit(device);
            core.ready.look_again();
        }
    });
}

/// Notes that a device does not work any more. Whether another one is left, which takes its work; where none is, jobs that
/// are unfinished are cancelled, and the owner is told.
pub(crate) fn lose(core: &Arc<Core>, device: usize, reason: String) -> bool {
    let is_another_left = core.devices.lose(device, reason.clone());
    core.steps.reap(core.residency.take_off_device(device));
    if is_another_left {
        recall(core, device);
        core.ready.look_again();
        return true;
    }
    *lock(&core.draining) = true;
    // Before any job ends, so that whoever waits for both learns the reason.
    core.lost.set(DevicesLost {
        device,
        name: core.devices.get(device).describe().name,
        reason,
    });
    for job in core.registry.unfinished() {
        cancel(core, &job, CancelReason::DevicesLost);
    }
    false
}

/// Takes back what a lost device started and nobody finishes. Whoever lets one be finished calls this after, so that nothing
/// remains whichever came first.
pub(crate) fn recall(core: &Arc<Core>, device: usize) {
    if !core.devices.is_lost(device) {
        return;
    }
    let is_there =
        |task: &TailTask| matches!(task, TailTask::Finish(started) if started.device == device);
    for task in core.tail.remove_where(is_there) {
        let TailTask::Finish(started) = task else {
            continue;
        };
        let StartedPartition {
            pending,
            holding,
            lease,
            task,
            slot,
            ..
        } = *started;
        let partition = crate::flow::in_flight(&task);
        core.devices.held(device, |held| held.leave(partition));
        core.steps.reap((pending, holding, lease, slot));
        retry(core, task, device, None);
    }
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
