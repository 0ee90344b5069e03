//! The engine's state, as clients read it.

use std::collections::BTreeSet;

use cuzk_circuits::Family;
use cuzk_engine::{
    DeviceStatus, JobOutcome, JobSummary, PartitionState, ResidentStatus, Snapshot, Tier,
};
use cuzk_groth16::CardMemory;
use cuzk_proto::v1::{self, JobState};

use super::{answer::ms, kind_of, priority_of, queue_name};

/// The answer of `GetStatus`; `memory` is in the order of the devices, as far as it is known.
pub(crate) fn status_response(
    snapshot: &Snapshot,
    memory: &[Option<CardMemory>],
) -> v1::GetStatusResponse {
    let of_card = |index: usize| memory.get(index).copied().flatten();
    v1::GetStatusResponse {
        gpus: snapshot
            .devices
            .iter()
            .map(|status| device(status, of_card(status.index)))
            .collect(),
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

fn device(status: &DeviceStatus, memory: Option<CardMemory>) -> v1::GpuStatus {
    let current = status.in_flight.first();
    let description = &status.description;
    let of_device = v1::GpuStatus {
        ordinal: clamped(status.index),
        name: format!("{} ({})", description.name, description.arithmetic),
        current_job_id: current.map_or_else(String::new, |(job, ..)| job.to_string()),
        current_proof_kind: current.map_or_else(String::new, |(_, circuit, _)| {
            queue_name(circuit.family).to_owned()
        }),
        id: status.id(),
        state: status.health.name().to_owned(),
        reason: status.last_error.clone().unwrap_or_default(),
        ..v1::GpuStatus::default()
    };
    let Some(card) = &description.card else {
        return of_device;
    };
    v1::GpuStatus {
        ordinal: clamped(card.number),
        name: card.name.clone(),
        uuid: card.uuid.clone(),
        driver: card.driver.clone(),
        kernels: card.kernels.clone().unwrap_or_default(),
        vram_total_bytes: Some(card.memory_bytes),
        vram_free_bytes: memory.and_then(|memory| memory.free_bytes),
        vram_used_bytes: memory.map(|memory| memory.used_bytes),
        vram_limit_bytes: memory.map(|memory| memory.limit_bytes),
        ..of_device
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
        devices: snapshot.devices.iter().map(DeviceStatus::id).collect(),
        max_message_bytes,
        budget_bytes: snapshot.budget.total_bytes,
    }
}

fn clamped(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{card, device as example};

    #[test]
    fn a_card_is_told_by_its_own_name_number_and_memory() {
        let memory = CardMemory {
            free_bytes: Some(100 << 30),
            used_bytes: 5 << 30,
            limit_bytes: 64 << 30,
        };
        let told = device(&example(Some(card())), Some(memory));
        assert_eq!((told.ordinal, told.name.as_str()), (3, "NVIDIA H200"));
        assert_eq!((told.id.as_str(), told.uuid.as_str()), ("cuda-1", "GPU-0"));
        assert_eq!(
            (told.driver.as_str(), told.kernels.as_str()),
            ("13.0", "sm_90")
        );
        let vram = [told.vram_total_bytes, told.vram_free_bytes];
        assert_eq!(vram, [Some(139 << 30), Some(100 << 30)]);
        let own = [told.vram_used_bytes, told.vram_limit_bytes];
        assert_eq!(own, [Some(5 << 30), Some(64 << 30)]);
    }

    #[test]
    fn memory_that_is_not_known_is_absent_and_none_that_is_used_is_not() {
        let silent = CardMemory {
            free_bytes: None,
            used_bytes: 0,
            limit_bytes: 64 << 30,
        };
        let told = device(&example(Some(card())), Some(silent));
        assert_eq!(
            (told.vram_free_bytes, told.vram_used_bytes),
            (None, Some(0))
        );
        let told = device(&example(Some(card())), None);
        assert_eq!(told.vram_total_bytes, Some(139 << 30));
        let unknown = [
            told.vram_free_bytes,
            told.vram_used_bytes,
            told.vram_limit_bytes,
        ];
        assert_eq!(unknown, [None; 3]);
    }

    #[test]
    fn a_device_that_is_no_card_has_its_index_and_no_memory_of_its_own() {
        let told = device(&example(None), None);
        assert_eq!((told.ordinal, told.name.as_str()), (1, "cuda (90)"));
        assert_eq!((told.vram_total_bytes, told.uuid.as_str()), (None, ""));
    }
}
