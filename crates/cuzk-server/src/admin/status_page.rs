//! The engine's state as JSON; names follow the vocabulary of the logs and metrics.

use std::collections::BTreeMap;

use cuzk_engine::{JobOutcome, JobSummary, PartitionState, RunningStep, Snapshot, Tier};
use cuzk_groth16::{CardDescription, CardMemory};
use serde::Serialize;

use crate::wire::{health, queue_name};

/// The page.
#[derive(Debug, Serialize)]
pub(crate) struct StatusPage {
    version: &'static str,
    health: &'static str,
    degraded: Vec<String>,
    uptime_s: f64,
    devices: Vec<Device>,
    keys: Vec<Key>,
    queues: BTreeMap<&'static str, Queue>,
    totals: Totals,
    budget: Budget,
    buffers: BTreeMap<&'static str, Buffer>,
    stages: BTreeMap<&'static str, Stage>,
    running: Vec<Running>,
    ready_partitions: usize,
    ready_capacity: usize,
    jobs: Vec<Job>,
}

#[derive(Debug, Serialize)]
struct Device {
    id: String,
    arithmetic: &'static str,
    threads: usize,
    card: Option<Card>,
    health: &'static str,
    last_error: Option<String>,
    in_flight: Vec<InFlight>,
    busy_s: f64,
}

#[derive(Debug, Serialize)]
struct Card {
    #[serde(flatten)]
    description: CardDescription,
    #[serde(flatten)]
    memory: Option<CardMemory>,
}

#[derive(Debug, Serialize)]
struct InFlight {
    job: String,
    circuit: String,
    partition: usize,
}

#[derive(Debug, Serialize)]
struct Key {
    circuit: String,
    tier: &'static str,
    file_bytes: u64,
    budget_bytes: u64,
    num_leases: usize,
}

#[derive(Debug, Serialize)]
struct Queue {
    pending: usize,
    in_progress: usize,
}

#[derive(Debug, Serialize)]
struct Totals {
    accepted: u64,
    completed: u64,
    failed: u64,
    cancelled: u64,
    partitions_retried: u64,
}

#[derive(Debug, Serialize)]
struct Budget {
    total_bytes: u64,
    used_bytes: u64,
    reserved_bytes: u64,
    peak_bytes: u64,
    num_waiting: usize,
}

#[derive(Debug, Serialize)]
struct Buffer {
    count: u64,
    bytes: u64,
    peak_count: u64,
    peak_bytes: u64,
}

#[derive(Debug, Serialize)]
struct Stage {
    count: u64,
    total_s: f64,
    longest_s: f64,
}

#[derive(Debug, Serialize)]
struct Running {
    stage: &'static str,
    job: Option<String>,
    partition: Option<usize>,
    elapsed_s: f64,
    stalled: bool,
}

#[derive(Debug, Serialize)]
struct Job {
    id: String,
    request_id: Option<String>,
    tenant: Option<String>,
    circuit: String,
    state: &'static str,
    error: Option<String>,
    age_s: f64,
    /// What each partition waits for or does.
    partitions: Vec<String>,
}

impl StatusPage {
    /// The page; `memory` is in the order of the devices, as far as it is known.
    pub(crate) fn of(
        snapshot: &Snapshot,
        memory: &[Option<CardMemory>],
        jobs: &[JobSummary],
    ) -> Self {
        let (ready_partitions, ready_capacity) = snapshot.ready;
        Self {
            version: env!("CARGO_PKG_VERSION"),
            health: health(snapshot),
            degraded: snapshot.degraded.clone(),
            uptime_s: snapshot.uptime.as_secs_f64(),
            devices: devices(snapshot, memory),
            keys: keys(snapshot),
            queues: queues(snapshot),
            totals: totals(snapshot),
            budget: budget(snapshot),
            buffers: buffers(snapshot),
            stages: stages(snapshot),
            running: snapshot.running.iter().map(running).collect(),
            ready_partitions,
            ready_capacity,
            jobs: jobs.iter().map(job).collect(),
        }
    }
}

fn devices(snapshot: &Snapshot, memory: &[Option<CardMemory>]) -> Vec<Device> {
    let in_flight = |&(job, circuit, partition): &(cuzk_engine::JobId, _, _)| InFlight {
        job: job.to_string(),
        circuit: cuzk_circuits::CircuitId::to_string(&circuit),
        partition,
    };
    let devices = snapshot.devices.iter().map(|device| Device {
        id: device.id(),
        arithmetic: device.description.arithmetic,
        threads: device.description.threads.get(),
        card: device.description.card.clone().map(|description| Card {
            description,
            memory: memory.get(device.index).copied().flatten(),
        }),
        health: device.health.name(),
        last_error: device.last_error.clone(),
        in_flight: device.in_flight.iter().map(in_flight).collect(),
        busy_s: device.busy.as_secs_f64(),
    });
    devices.collect()
}

fn keys(snapshot: &Snapshot) -> Vec<Key> {
    let keys = snapshot.residents.iter().map(|resident| Key {
        circuit: resident.circuit.to_string(),
        tier: match resident.tier {
            Tier::Hot => "hot",
            Tier::Warm => "warm",
            Tier::Cold => "cold",
        },
        file_bytes: resident.file_bytes,
        budget_bytes: resident.budget_bytes,
        num_leases: resident.num_leases,
    });
    keys.collect()
}

fn queues(snapshot: &Snapshot) -> BTreeMap<&'static str, Queue> {
    let queues = snapshot.queues.iter().map(|queue| {
        let counts = Queue {
            pending: queue.num_pending,
            in_progress: queue.num_in_progress,
        };
        (queue_name(queue.family), counts)
    });
    queues.collect()
}

fn totals(snapshot: &Snapshot) -> Totals {
    let totals = &snapshot.totals;
    Totals {
        accepted: totals.accepted,
        completed: totals.completed,
        failed: totals.failed,
        cancelled: totals.cancelled,
        partitions_retried: totals.retried,
    }
}

fn budget(snapshot: &Snapshot) -> Budget {
    let budget = &snapshot.budget;
    Budget {
        total_bytes: budget.total_bytes,
        used_bytes: budget.used_bytes,
        reserved_bytes: budget.reserved_bytes,
        peak_bytes: budget.peak_bytes,
        num_waiting: budget.num_waiting,
    }
}

fn buffers(snapshot: &Snapshot) -> BTreeMap<&'static str, Buffer> {
    let buffers = snapshot.buffers.iter().map(|(class, found)| {
        let buffer = Buffer {
            count: found.count,
            bytes: found.bytes,
            peak_count: found.peak_count,
            peak_bytes: found.peak_bytes,
        };
        (class.name(), buffer)
    });
    buffers.collect()
}

fn stages(snapshot: &Snapshot) -> BTreeMap<&'static str, Stage> {
    let stages = snapshot.stages.iter().map(|(stage, found)| {
        let times = Stage {
            count: found.count,
            total_s: found.total.as_secs_f64(),
            longest_s: found.longest.as_secs_f64(),
        };
        (stage.name(), times)
    });
    stages.collect()
}

fn running(found: &RunningStep) -> Running {
    Running {
        stage: found.step.stage.name(),
        job: found.step.job.map(|job| job.to_string()),
        partition: found.step.partition,
        elapsed_s: found.running.as_secs_f64(),
        stalled: found.stalled,
    }
}

fn job(summary: &JobSummary) -> Job {
    let (state, error) = match summary.outcome.as_deref() {
        None => ("running", None),
        Some(JobOutcome::Completed { .. }) => ("completed", None),
        Some(JobOutcome::Failed { error, .. }) => ("failed", Some(error.to_string())),
        Some(JobOutcome::Cancelled { reason, .. }) => ("cancelled", Some(reason.name().to_owned())),
    };
    Job {
        id: summary.job.to_string(),
        request_id: summary.request_id.clone(),
        tenant: summary.tenant.clone(),
        circuit: summary.circuit.to_string(),
        state,
        error,
        age_s: summary.age.as_secs_f64(),
        partitions: summary.partitions.iter().map(partition).collect(),
    }
}

fn partition(state: &PartitionState) -> String {
    match state {
        PartitionState::Queued => "queued".to_owned(),
        PartitionState::WaitsForMemory { bytes } => format!("waits for {bytes} bytes"),
        PartitionState::Witness => "witness".to_owned(),
        PartitionState::Ready => "ready".to_owned(),
        PartitionState::Starting => "start".to_owned(),
        PartitionState::Pending => "waits for finish".to_owned(),
        PartitionState::Finishing => "finish".to_owned(),
        PartitionState::Proved => "proved".to_owned(),
    }
}
