//! `cuzk status`: what a daemon does, once or again and again.

use std::time::Duration;

use clap::Args;
use cuzk_proto::v1::{
    GetStatusRequest, GetStatusResponse, GpuStatus, JobInfo, JobState, ListJobsRequest,
    srs_status::Tier,
};
use serde::Serialize;

use crate::{
    client::{Client, DaemonArgs, from_status, on_runtime},
    environment::Concern,
    output::Page,
    session::Session,
    units,
};

/// Time between two looks with `--watch`.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// Show a daemon's devices, keys, queues and jobs
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk status\n  cuzk status --watch\n  cuzk status --addr unix:/run/cuzk/cuzk.sock --json"
)]
pub(crate) struct StatusArgs {
    /// Look again every second until interrupted
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, Serialize)]
struct StatusResult {
    version: String,
    health: String,
    uptime_s: u64,
    proofs_completed: u64,
    proofs_failed: u64,
    budget_bytes: u64,
    budget_used_bytes: u64,
    budget_peak_bytes: u64,
    devices: Vec<DeviceLine>,
    keys: Vec<KeyLine>,
    queues: Vec<QueueLine>,
    jobs: Vec<JobLine>,
}

#[derive(Debug, Serialize)]
struct DeviceLine {
    id: String,
    name: String,
    state: String,
    reason: String,
    job: String,
    #[serde(flatten)]
    card: Option<CardLine>,
}

/// What only a card has.
#[derive(Debug, Serialize)]
struct CardLine {
    number: u32,
    uuid: String,
    memory_bytes: u64,
    /// What the driver can give to any program; none while it does not answer.
    free_bytes: Option<u64>,
    /// Held by the daemon's buffers.
    used_bytes: Option<u64>,
    limit_bytes: Option<u64>,
    driver: String,
    kernels: String,
}

#[derive(Debug, Serialize)]
pub(super) struct KeyLine {
    circuit: String,
    tier: &'static str,
    bytes: u64,
    in_use: u32,
}

#[derive(Debug, Serialize)]
struct QueueLine {
    queue: String,
    pending: u32,
    in_progress: u32,
}

#[derive(Debug, Serialize)]
struct JobLine {
    id: String,
    request_id: String,
    circuit: String,
    state: String,
    elapsed_ms: u64,
    partitions: u32,
    partitions_proved: u32,
}

pub(crate) fn run(args: &StatusArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Client])?;
    on_runtime(async {
        let mut client = args.daemon.connect(session).await?;
        loop {
            let result = look(&mut client).await?;
            session.output.result(&result, |page| result.write(page))?;
            if !args.watch {
                return Ok(());
            }
            tokio::time::sleep(WATCH_INTERVAL).await;
        }
    })
}

async fn look(client: &mut Client) -> anyhow::Result<StatusResult> {
    let status = client
        .get_status(GetStatusRequest {})
        .await
        .map_err(|status| from_status(&status))?
        .into_inner();
    let active_only = ListJobsRequest {
        active_only: true,
        ..ListJobsRequest::default()
    };
    let jobs = client
        .list_jobs(active_only)
        .await
        .map_err(|status| from_status(&status))?
        .into_inner();
    Ok(StatusResult::new(status, jobs.jobs))
}

/// The keys that a daemon knows.
pub(super) fn key_lines(status: &GetStatusResponse) -> Vec<KeyLine> {
    let keys = status.loaded_srs.iter().map(|key| KeyLine {
        circuit: key.circuit_id.clone(),
        tier: match key.tier() {
            Tier::Hot => "hot",
            Tier::Warm => "warm",
            Tier::Cold => "cold",
        },
        bytes: key.size_bytes,
        in_use: key.ref_count,
    });
    keys.collect()
}

/// Keys as a table.
pub(super) fn write_keys(page: &mut Page, keys: &[KeyLine]) {
    let mut rows = vec![
        ["key", "tier", "size", "in use"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(keys.iter().map(|key| {
        vec![
            key.circuit.clone(),
            key.tier.to_owned(),
            units::bytes(key.bytes),
            key.in_use.to_string(),
        ]
    }));
    page.table(&rows);
}

impl StatusResult {
    fn new(status: GetStatusResponse, jobs: Vec<JobInfo>) -> Self {
        let keys = key_lines(&status);
        let devices = status.gpus.into_iter().map(DeviceLine::new);
        let queues = status.queues.into_iter().map(|queue| QueueLine {
            queue: queue.proof_kind,
            pending: queue.pending,
            in_progress: queue.in_progress,
        });
        Self {
            version: status.version,
            health: status.health,
            uptime_s: status.uptime_seconds,
            proofs_completed: status.total_proofs_completed,
            proofs_failed: status.total_proofs_failed,
            budget_bytes: status.budget_bytes,
            budget_used_bytes: status.budget_used_bytes,
            budget_peak_bytes: status.budget_peak_bytes,
            devices: devices.collect(),
            keys,
            queues: queues.collect(),
            jobs: jobs.into_iter().map(JobLine::new).collect(),
        }
    }

    fn write(&self, page: &mut Page) {
        page.fields(&[
            ("health", self.health.clone()),
            ("version", self.version.clone()),
            ("up", units::time(Duration::from_secs(self.uptime_s))),
            (
                "proofs",
                format!(
                    "{} completed, {} failed",
                    self.proofs_completed, self.proofs_failed
                ),
            ),
            (
                "memory",
                format!(
                    "{} of {} in use, {} at most",
                    units::bytes(self.budget_used_bytes),
                    units::bytes(self.budget_bytes),
                    units::bytes(self.budget_peak_bytes)
                ),
            ),
        ]);
        page.line("");
        let mut rows = vec![
            ["device", "name", "state", "job"]
                .map(str::to_owned)
                .to_vec(),
        ];
        rows.extend(self.devices.iter().map(DeviceLine::row));
        page.table(&rows);
        for device in &self.devices {
            if let Some(card) = &device.card {
                page.line("");
                card.write(&device.id, page);
            }
        }
        page.line("");
        write_keys(page, &self.keys);
        page.line("");
        let mut rows = vec![
            ["queue", "pending", "in progress"]
                .map(str::to_owned)
                .to_vec(),
        ];
        rows.extend(self.queues.iter().map(QueueLine::row));
        page.table(&rows);
        if !self.jobs.is_empty() {
            page.line("");
            let heading = ["job", "circuit", "state", "since", "partitions", "request"];
            let mut rows = vec![heading.map(str::to_owned).to_vec()];
            rows.extend(self.jobs.iter().map(JobLine::row));
            page.table(&rows);
        }
    }
}

impl DeviceLine {
    fn new(device: GpuStatus) -> Self {
        // The processor has no memory of its own.
        let card = device.vram_total_bytes.map(|memory_bytes| CardLine {
            number: device.ordinal,
            uuid: device.uuid,
            memory_bytes,
            free_bytes: device.vram_free_bytes,
            used_bytes: device.vram_used_bytes,
            limit_bytes: device.vram_limit_bytes,
            driver: device.driver,
            kernels: device.kernels,
        });
        Self {
            id: device.id,
            name: device.name,
            state: device.state,
            reason: device.reason,
            job: device.current_job_id,
            card,
        }
    }

    fn row(&self) -> Vec<String> {
        let state = if self.reason.is_empty() {
            self.state.clone()
        } else {
            format!("{}: {}", self.state, self.reason)
        };
        vec![self.id.clone(), self.name.clone(), state, self.job.clone()]
    }
}

impl CardLine {
    fn write(&self, id: &str, page: &mut Page) {
        page.fields(&[
            (id, format!("card {}, {}", self.number, self.uuid)),
            ("memory", self.memory()),
            ("driver", format!("CUDA {}", self.driver)),
            ("kernels", self.kernels.clone()),
        ]);
    }

    fn memory(&self) -> String {
        format!(
            "{}, {} free; {} used of at most {}",
            units::bytes(self.memory_bytes),
            units::bytes_or_unknown(self.free_bytes),
            units::bytes_or_unknown(self.used_bytes),
            units::bytes_or_unknown(self.limit_bytes)
        )
    }
}

impl QueueLine {
    fn row(&self) -> Vec<String> {
        vec![
            self.queue.clone(),
            self.pending.to_string(),
            self.in_progress.to_string(),
        ]
    }
}

impl JobLine {
    fn new(job: JobInfo) -> Self {
        let state = match job.state() {
            JobState::Unspecified => "unknown",
            JobState::Waiting => "waiting",
            JobState::Running => "running",
            JobState::Completed => "completed",
            JobState::Failed => "failed",
            JobState::Cancelled => "cancelled",
        };
        Self {
            id: job.job_id,
            request_id: job.request_id,
            circuit: job.circuit_id,
            state: state.to_owned(),
            elapsed_ms: job.elapsed_ms,
            partitions: job.num_partitions,
            partitions_proved: job.num_partitions_proved,
        }
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.id.clone(),
            self.circuit.clone(),
            self.state.clone(),
            units::time(Duration::from_millis(self.elapsed_ms)),
            format!("{} of {}", self.partitions_proved, self.partitions),
            self.request_id.clone(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(id: &str, vram_total_bytes: Option<u64>) -> GpuStatus {
        GpuStatus {
            id: id.to_owned(),
            vram_total_bytes,
            uuid: "GPU-0".to_owned(),
            ..GpuStatus::default()
        }
    }

    /// The devices of a status, as JSON.
    fn devices(gpus: Vec<GpuStatus>) -> serde_json::Value {
        let status = GetStatusResponse {
            gpus,
            ..GetStatusResponse::default()
        };
        let result = StatusResult::new(status, Vec::new());
        serde_json::to_value(result.devices).expect("a status is plain data")
    }

    const NAMES: [&str; 4] = ["memory_bytes", "free_bytes", "used_bytes", "limit_bytes"];

    #[test]
    fn only_a_card_has_memory_of_its_own() {
        let card = GpuStatus {
            vram_free_bytes: Some(7),
            vram_used_bytes: Some(2),
            vram_limit_bytes: Some(9),
            ..gpu("cuda-1", Some(10))
        };
        let devices = devices(vec![gpu("cpu-0", None), card]);
        assert_eq!(devices[0].get("memory_bytes"), None);
        let card = &devices[1];
        assert_eq!(
            (&card["uuid"], &card["id"]),
            (&"GPU-0".into(), &"cuda-1".into())
        );
        let bytes = NAMES.map(|name| card[name].as_u64());
        assert_eq!(bytes, [Some(10), Some(7), Some(2), Some(9)]);
    }

    #[test]
    fn memory_that_is_not_known_is_null_and_unknown_and_not_nothing() {
        let silent = GpuStatus {
            vram_used_bytes: Some(0),
            ..gpu("cuda-0", Some(10))
        };
        let line = DeviceLine::new(silent.clone());
        let text = line.card.expect("a card").memory();
        assert_eq!(text, "10 B, unknown free; 0 B used of at most unknown");
        let devices = devices(vec![silent]);
        let null = serde_json::Value::Null;
        let found = NAMES.map(|name| devices[0].get(name));
        assert_eq!(
            found,
            [Some(&10.into()), Some(&null), Some(&0.into()), Some(&null)]
        );
    }
}
