//! The snapshot: what the folds, the registry and the parts of the engine say at one moment.

use std::time::Duration;

use cuzk_circuits::Family;

use crate::ending;
use crate::events::{BufferClass, Stage};
use crate::folds::Folds;
use crate::jobs::Job;
use crate::shared::Core;
use crate::snapshot::{
    BudgetStatus, DeviceStatus, QueueStatus, ResidentStatus, RunningStep, Snapshot,
};
use crate::sync::{Arc, lock};

/// The state at this moment.
pub(crate) fn snapshot(core: &Core) -> Snapshot {
    let unfinished = core.registry.unfinished();
    let uptime = core.bus.uptime();
    let residents = residents(core);
    let mut degraded = ending::degraded(core);
    // Whoever holds the registry may count buffers on the bus, so nobody who holds the bus may want the registry.
    let budget = budget(core);
    let draining = *lock(&core.draining);
    core.bus.view(|folds| {
        let running = running(core, folds, uptime);
        degraded.extend(running.iter().filter(|step| step.stalled).map(stalled));
        Snapshot {
            uptime,
            devices: devices(core, folds, uptime),
            residents,
            queues: queues(&unfinished),
            totals: folds.totals,
            budget,
            buffers: BufferClass::ALL
                .map(|class| {
                    (
                        class,
                        folds.buffers.get(&class).copied().unwrap_or_default(),
                    )
                })
                .into(),
            stages: Stage::ALL
                .map(|stage| (stage, folds.stages.get(&stage).copied().unwrap_or_default()))
                .into(),
            running,
            ready: (core.ready.len(), core.ready.capacity()),
            degraded,
            draining,
        }
    })
}

fn stalled(running: &RunningStep) -> String {
    let RunningStep { step, running, .. } = running;
    let job = step.job.map(|job| format!(" of job {job}"));
    let job = job.unwrap_or_default();
    format!("{}{job} runs for {} s", step.stage, running.as_secs())
}

fn budget(core: &Core) -> BudgetStatus {
    let numbers = core.budget.numbers();
    BudgetStatus {
        total_bytes: core.derived.budget_bytes,
        used_bytes: numbers.used,
        reserved_bytes: numbers.reserve,
        peak_bytes: numbers.peak,
        num_waiting: numbers.num_waiting,
        queued_bytes: core.registry.queued_bytes(),
        max_queued_bytes: core.derived.max_queued_bytes,
    }
}

fn queues(unfinished: &[Arc<Job>]) -> Vec<QueueStatus> {
    let of_family = |family| {
        let own = unfinished.iter().filter(|job| job.circuit.family == family);
        let (begun, pending): (Vec<_>, Vec<_>) = own.partition(|job| job.has_begun());
        QueueStatus {
            family,
            num_pending: pending.len(),
            num_in_progress: begun.len(),
        }
    };
    Family::ALL.map(of_family).to_vec()
}

fn residents(core: &Core) -> Vec<ResidentStatus> {
    let mut circuits = core.keys.circuits();
    circuits.extend(core.residency.resident());
    circuits.sort_unstable();
    circuits.dedup();
    let status = |circuit| {
        let view = core.residency.view(circuit);
        ResidentStatus {
            circuit,
            tier: view.tier,
            file_bytes: core.keys.size(circuit).map_or(0, |size| size.file_bytes),
            budget_bytes: view.budget_bytes,
            num_leases: view.num_leases,
        }
    };
    circuits.into_iter().map(status).collect()
}

/// Steps that run, the longest first.
fn running(core: &Core, folds: &Folds, uptime: Duration) -> Vec<RunningStep> {
    let mut running: Vec<_> = folds
        .running
        .iter()
        .flat_map(|(step, began)| began.iter().map(move |began| (step, began)))
        .map(|(step, began)| {
            let running = uptime.saturating_sub(*began);
            RunningStep {
                step: *step,
                running,
                stalled: running > core.settings.stall_deadline,
            }
        })
        .collect();
    running.sort_by_key(|step| std::cmp::Reverse(step.running));
    running
}

fn devices(core: &Core, folds: &Folds, now: Duration) -> Vec<DeviceStatus> {
    let devices = core.devices.iter().enumerate();
    devices
        .map(|(index, device)| {
            let (health, last_error, in_flight) = core.devices.state_of(index);
            DeviceStatus {
                index,
                description: device.describe(),
                health,
                last_error,
                in_flight,
                busy: folds
                    .devices
                    .get(&index)
                    .map_or(Duration::ZERO, |occupation| occupation.busy(now)),
            }
        })
        .collect()
}
