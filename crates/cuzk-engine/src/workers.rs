//! Who takes work from the queues, and how much of it at a time.
//!
//! Workers are tasks; what they do runs where the executor puts it. For WinningPoSt there is one more of each kind, which
//! takes nothing else, so that a free one is always there.

use std::collections::HashSet;
use std::sync::{Arc, Weak};

use crate::ending;
use crate::events::{Event, Step};
use crate::flow;
use crate::jobs::{CancelReason, Job};
use crate::shared::Core;
use crate::sharing;
use crate::tasks::TailTask;

/// What a worker takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    All,
    Winning,
}

impl Lane {
    fn takes(self, job: &Job) -> bool {
        self == Self::All || job.in_lane()
    }
}

/// Starts all workers of an engine. They end when the queues are closed.
pub(crate) fn start(core: &Arc<Core>) {
    let settings = &core.settings;
    let lanes = |count: usize| {
        let reserved = settings.winning_lane.then_some(Lane::Winning);
        std::iter::repeat_n(Lane::All, count).chain(reserved)
    };
    for lane in lanes(settings.partition_workers) {
        tokio::spawn(prepare(Arc::clone(core), lane));
    }
    for lane in lanes(settings.cpu_tail_threads) {
        tokio::spawn(finish(Arc::clone(core), lane));
    }
    for device in 0..core.devices.len() {
        for lane in lanes(settings.device_workers) {
            tokio::spawn(prove(Arc::clone(core), device, lane));
        }
        for lane in lanes(sharing::WORKERS) {
            tokio::spawn(finish_shared(Arc::clone(core), device, lane));
        }
    }
    tokio::spawn(watch(Arc::downgrade(core)));
}

async fn prepare(core: Arc<Core>, lane: Lane) {
    while let Some(task) = core.waiting.pop(|task| lane.takes(&task.job)).await {
        flow::prepare(&core, task, |job| lane.takes(job)).await;
    }
}

async fn prove(core: Arc<Core>, device: usize, lane: Lane) {
    loop {
        let next = core.ready.pop(|ready| {
            let (job, avoid) = (&ready.task.job, ready.task.avoid);
            lane.takes(job)
                && sharing::has_room(&core, device, ready)
                && core.devices.claim(device, avoid, core.is_in_lane(job))
        });
        let Some(ready) = next.await else { return };
        if let Some(freed) = flow::start(&core, device, ready).await {
            // The slot is freed by dropping the other end.
            drop(freed.await);
        }
    }
}

async fn finish(core: Arc<Core>, lane: Lane) {
    let is_wanted = |task: &TailTask| lane.takes(task.job()) && !sharing::is_shared(task);
    while let Some(task) = core.tail.pop(is_wanted).await {
        flow::run_tail(&core, task).await;
    }
}

async fn finish_shared(core: Arc<Core>, device: usize, lane: Lane) {
    let is_wanted = |task: &TailTask| {
        lane.takes(task.job()) && sharing::claim(&core, device, task, lane == Lane::Winning)
    };
    while let Some(task) = core.tail.pop(is_wanted).await {
        flow::run_tail(&core, task).await;
    }
}

/// Cancels a job when its deadline passes.
pub(crate) async fn expire(core: Weak<Core>, job: Arc<Job>) {
    let Some(deadline) = job.deadline else { return };
    let ended = tokio::time::timeout_at(deadline, job.outcome.wait()).await;
    if let (Err(_), Some(core)) = (ended, core.upgrade()) {
        ending::cancel(&core, &job, CancelReason::DeadlinePassed);
    }
}

/// Reports steps that run longer than they should, once each.
async fn watch(core: Weak<Core>) {
    let mut reported: HashSet<Step> = HashSet::new();
    loop {
        let Some(deadline) = core.upgrade().map(|core| core.settings.stall_deadline) else {
            return;
        };
        tokio::time::sleep(deadline / 2).await;
        let Some(core) = core.upgrade() else { return };
        let uptime = core.bus.uptime();
        let late: Vec<_> = core.bus.view(|folds| {
            let began = folds
                .running
                .iter()
                .filter_map(|(step, began)| Some((*step, *began.first()?)));
            began
                .map(|(step, began)| (step, uptime.saturating_sub(began)))
                .filter(|(_, running)| *running > deadline)
                .collect()
        });
        reported.retain(|step| late.iter().any(|(other, _)| other == step));
        for (step, running) in late {
            if reported.insert(step) {
                core.bus.emit(Event::Stalled { step, running });
            }
        }
    }
}
