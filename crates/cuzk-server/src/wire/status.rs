//! The engine's state, as clients read it.

use std::collections::BTreeSet;

use cuzk_circuits::Family;
use cuzk_engine::{
    DeviceStatus, JobOutcome, JobSummary, PartitionState, ResidentStatus, Snapshot, Tier,
};
use cuzk_proto::v1::{self, JobState};

use super::{answer::ms, kind_of, priority_of, queue_name};

/// What clients and logs call a device.
pub(crate) fn device_id(device: &DeviceStatus) -> String {
    format!("{}-{}", device.name, device.index)
}

/// The answer of `GetStatus`.
pub(crate) fn status_response(snapshot: &Snapshot) -> v1::GetStatusResponse {
    v1::GetStatusResponse {
        gpus: snapshot.devices.iter().map(device).collect(),
        loaded_srs: snapshot.residents.iter().map(resident).collect(),
        queues: snapshot
            .queues
            .iter()
            .map(|queue| v1::QueueStatus {
                proof_kind: queue_name(queue.family).to_owned(),
                pending: clamped(queue.num_pending),
                in_progress: clamped(queue.num_in_progress),
            })
            .collect(),
        total_proofs_completed: snapshot.totals.completed,
        total_proofs_failed: snapshot.totals.failed,
        uptime_seconds: snapshot.uptime.as_secs(),
        // No device of today pins host memory.
        pinned_memory_bytes: 0,
        pinned_memory_limit_bytes: 0,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        budget_bytes: snapshot.budget.total_bytes,
        budget_used_bytes: snapshot.budget.used_bytes,
        budget_peak_bytes: snapshot.budget.peak_bytes,
        health: health(snapshot).to_owned(),
    }
}

/// One word for the whole.
pub(crate) fn health(snapshot: &Snapshot) -> &'static str {
    if snapshot.draining {
        "draining"
    } else if snapshot.degraded.is_empty() {
        "serving"
    } else {
        "degraded"
    }
}

fn device(status: &DeviceStatus) -> v1::GpuStatus {
    let current = status.in_flight.first();
    v1::GpuStatus {
        ordinal: clamped(status.index),
        name: format!("{} ({})", status.name, status.arithmetic),
        vram_total_bytes: 0,
        vram_free_bytes: 0,
        current_job_id: current.map_or_else(String::new, |(job, ..)| job.to_string()),
        current_proof_kind: current.map_or_else(String::new, |(_, circuit, _)| {
            queue_name(circuit.family).to_owned()
        }),
        id: device_id(status),
        state: status.health.name().to_owned(),
        reason: status.last_error.clone().unwrap_or_default(),
    }
}

fn resident(status: &ResidentStatus) -> v1::SrsStatus {
    let tier = match status.tier {
        Tier::Hot => v1::srs_status::Tier::Hot,
        Tier::Warm => v1::srs_status::Tier::Warm,
        Tier::Cold => v1::srs_status::Tier::Cold,
    };
    v1::SrsStatus {
        circuit_id: status.circuit.to_string(),
        tier: tier.into(),
        size_bytes: status.file_bytes,
        ref_count: clamped(status.num_leases),
    }
}

/// A line of `ListJobs`.
pub(crate) fn job_info(job: &JobSummary) -> v1::JobInfo {
    let proved = |state: &&PartitionState| **state == PartitionState::Proved;
    v1::JobInfo {
        job_id: job.job.to_string(),
        request_id: job.request_id.clone().unwrap_or_default(),
        proof_kind: kind_of(job.circuit.family).into(),
        circuit_id: job.circuit.to_string(),
        priority: priority_of(job.priority).into(),
        state: job_state(job).into(),
        tenant: job.tenant.clone().unwrap_or_default(),
        elapsed_ms: ms(job
            .outcome
            .as_ref()
            .map_or(job.age, |outcome| outcome.timings().total)),
        num_partitions: clamped(job.partitions.len()),
        num_partitions_proved: clamped(job.partitions.iter().filter(proved).count()),
    }
}

/// Where a job stands.
fn job_state(job: &JobSummary) -> JobState {
    match job.outcome.as_deref() {
        Some(JobOutcome::Completed { .. }) => JobState::Completed,
        Some(JobOutcome::Failed { .. }) => JobState::Failed,
        Some(JobOutcome::Cancelled { .. }) => JobState::Cancelled,
        None => {
            let queued = |state: &PartitionState| *state == PartitionState::Queued;
            if job.partitions.iter().all(queued) {
                JobState::Waiting
            } else {
                JobState::Running
            }
        }
    }
}

/// The answer of `Capabilities`: what there are keys and devices for.
pub(crate) fn capabilities(
    snapshot: &Snapshot,
    max_message_bytes: u64,
) -> v1::CapabilitiesResponse {
    let families: BTreeSet<Family> = snapshot
        .residents
        .iter()
        .map(|resident| resident.circuit.family)
        .collect();
    v1::CapabilitiesResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        proof_kinds: families
            .into_iter()
            .map(|family| kind_of(family).into())
            .collect(),
        circuit_ids: snapshot
            .residents
            .iter()
            .map(|resident| resident.circuit.to_string())
            .collect(),
        devices: snapshot.devices.iter().map(device_id).collect(),
        max_message_bytes,
        budget_bytes: snapshot.budget.total_bytes,
    }
}

fn clamped(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
