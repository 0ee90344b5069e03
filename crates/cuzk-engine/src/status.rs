//! The snapshot: what the folds, the registry and the parts of the engine say at one moment.

use std::time::Duration;

use cuzk_circuits::Family;

use crate::core::Core;
use crate::events::{BufferClass, DeviceHealth, Stage};
use crate::folds::Folds;
use crate::jobs::Job;
use crate::snapshot::{
    BudgetStatus, DeviceStatus, QueueStatus, ResidentStatus, RunningStep, Snapshot, Tier,
};
use crate::sync::{Arc, lock};

/// The state at this moment.
pub(crate) fn snapshot(core: &Core) -> Snapshot {
    let unfinished = core.registry.unfinished();
    let uptime = core.bus.uptime();
    let residents = residents(core);
    core.bus.view(|folds| Snapshot {
        uptime,
        devices: devices(core, folds),
        residents,
        queues: queues(&unfinished),
        totals: folds.totals,
        budget: BudgetStatus {
            total_bytes: core.derived.budget_bytes,
            ..BudgetStatus::default()
        },
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
        running: running(core, folds, uptime),
        ready: (0, core.derived.ready_capacity),
        degraded: Vec::new(),
        draining: *lock(&core.draining),
    })
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
    let residents = lock(&core.residents.0);
    let circuits = core.keys.circuits().into_iter();
    circuits
        .map(|circuit| ResidentStatus {
            circuit,
            tier: if residents.contains_key(&circuit) {
                Tier::Hot
            } else {
                Tier::Cold
            },
            file_bytes: core.keys.size(circuit).map_or(0, |size| size.file_bytes),
            budget_bytes: 0,
            num_leases: 0,
        })
        .collect()
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

fn devices(core: &Core, folds: &Folds) -> Vec<DeviceStatus> {
    let devices = core.devices.iter().enumerate();
    devices
        .map(|(index, device)| {
            let description = device.describe();
            DeviceStatus {
                index,
                name: description.name,
                arithmetic: description.arithmetic,
                threads: description.threads,
                health: DeviceHealth::Healthy,
                last_error: None,
                in_flight: Vec::new(),
                busy: folds.device_busy.get(&index).copied().unwrap_or_default(),
            }
        })
        .collect()
}
