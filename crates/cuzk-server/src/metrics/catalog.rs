//! Every metric once: its name, type, labels and meaning. The exposition and the reference page are made from this table.

use std::fmt::Write as _;

/// How a metric behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts by size.
    Histogram,
}

impl MetricKind {
    /// The word of the exposition format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name, with the unit at the end.
    pub name: &'static str,
    /// How it behaves.
    pub kind: MetricKind,
    /// Names of its labels.
    pub labels: &'static [&'static str],
    /// What it counts.
    pub help: &'static str,
}

const fn metric(
    name: &'static str,
    kind: MetricKind,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric {
        name,
        kind,
        labels,
        help,
    }
}

use MetricKind::{Counter, Gauge, Histogram};

pub(super) const JOBS_ACCEPTED: Metric = metric(
    "cuzk_jobs_accepted_total",
    Counter,
    &["kind"],
    "Jobs that were admitted.",
);
pub(super) const JOBS_ENDED: Metric = metric(
    "cuzk_jobs_ended_total",
    Counter,
    &["kind", "ending"],
    "Jobs that ended: completed, cancelled, or failed with the class of the error.",
);
pub(super) const JOB_SECONDS: Metric = metric(
    "cuzk_job_seconds",
    Histogram,
    &["kind"],
    "Time from admission to the end of a completed job.",
);
pub(super) const STAGE_SECONDS: Metric = metric(
    "cuzk_stage_seconds",
    Histogram,
    &["stage", "kind"],
    "Time of one step of a stage; the kind is `unknown` while a request is decoded.",
);
pub(super) const PARTITIONS_RETRIED: Metric = metric(
    "cuzk_partitions_retried_total",
    Counter,
    &[],
    "Partitions that were proved again after a device failed or a proof did not verify.",
);
pub(super) const STALLS: Metric = metric(
    "cuzk_stalls_total",
    Counter,
    &["stage"],
    "Steps that ran longer than the stall deadline.",
);
pub(super) const EVENTS_MISSED: Metric = metric(
    "cuzk_events_missed_total",
    Counter,
    &[],
    "Events that the counters and histograms above do not contain because they came too fast.",
);
pub(super) const JOBS: Metric = metric(
    "cuzk_jobs",
    Gauge,
    &["kind", "state"],
    "Jobs that have not ended: pending or in_progress.",
);
pub(super) const BUDGET: Metric = metric(
    "cuzk_budget_bytes",
    Gauge,
    &["what"],
    "The memory budget: total, used, reserved, and the peak of used.",
);
pub(super) const BUDGET_WAITING: Metric = metric(
    "cuzk_budget_waiting",
    Gauge,
    &[],
    "Partitions and loads that wait for memory.",
);
pub(super) const BUFFERS: Metric = metric(
    "cuzk_buffers",
    Gauge,
    &["class"],
    "Large buffers in flight.",
);
pub(super) const BUFFER_BYTES: Metric = metric(
    "cuzk_buffer_bytes",
    Gauge,
    &["class"],
    "Bytes of large buffers in flight.",
);
pub(super) const BUFFER_PEAK_BYTES: Metric = metric(
    "cuzk_buffer_peak_bytes",
    Gauge,
    &["class"],
    "The most bytes of large buffers that were in flight at one time.",
);
pub(super) const DEVICE_BUSY: Metric = metric(
    "cuzk_device_busy_seconds_total",
    Counter,
    &["device"],
    "Time in which at least one of a device's partitions was in start or finish.",
);
pub(super) const DEVICE_HEALTH: Metric = metric(
    "cuzk_device_health",
    Gauge,
    &["device", "health"],
    "1 for the health that the device has: healthy, suspect, quarantined or lost.",
);
pub(super) const CARD_MEMORY: Metric = metric(
    "cuzk_card_memory_bytes",
    Gauge,
    &["device", "what"],
    "Memory of a card: total, free as its driver says, used by the daemon's buffers, and the limit of used. What is not \
     known has no sample.",
);
pub(super) const RESIDENT: Metric = metric(
    "cuzk_key_tier",
    Gauge,
    &["circuit", "tier"],
    "1 for the place where the key is: hot, warm or cold.",
);
pub(super) const UPTIME: Metric = metric(
    "cuzk_uptime_seconds",
    Gauge,
    &[],
    "Time since the engine started.",
);
pub(super) const DEGRADED: Metric = metric(
    "cuzk_degraded",
    Gauge,
    &[],
    "1 while something is wrong that status names, else 0.",
);

pub(super) const PROCESS_CPU: Metric = metric(
    "process_cpu_seconds_total",
    Counter,
    &[],
    "Processor time of the process.",
);
pub(super) const PROCESS_RESIDENT: Metric = metric(
    "process_resident_memory_bytes",
    Gauge,
    &[],
    "Resident memory of the process, pages of mapped keys included.",
);
pub(super) const PROCESS_RESIDENT_PEAK: Metric = metric(
    "cuzk_process_resident_peak_bytes",
    Gauge,
    &[],
    "The most resident memory since the process started, as the kernel counts it.",
);

/// All metrics, in the order of the exposition.
pub const METRICS: [Metric; 22] = [
    JOBS_ACCEPTED,
    JOBS_ENDED,
    JOB_SECONDS,
    STAGE_SECONDS,
    PARTITIONS_RETRIED,
    STALLS,
    EVENTS_MISSED,
    JOBS,
    BUDGET,
    BUDGET_WAITING,
    BUFFERS,
    BUFFER_BYTES,
    BUFFER_PEAK_BYTES,
    DEVICE_BUSY,
    DEVICE_HEALTH,
    CARD_MEMORY,
    RESIDENT,
    UPTIME,
    DEGRADED,
    PROCESS_CPU,
    PROCESS_RESIDENT,
    PROCESS_RESIDENT_PEAK,
];

/// The reference page of all metrics, in Markdown.
pub fn reference() -> String {
    let mut page = String::from(
        "# Metrics\n\nServed as `/metrics` of the admin address and by the call `GetMetrics`. Made from the table in\n\
         `crates/cuzk-server/src/metrics/catalog.rs` by `cuzk config reference metrics`; do not edit.\n\n\
         | name | type | labels | meaning |\n|---|---|---|---|\n",
    );
    for metric in METRICS {
        let labels: Vec<String> = metric
            .labels
            .iter()
            .map(|label| format!("`{label}`"))
            .collect();
        // Writing to a String cannot fail.
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            metric.name,
            metric.kind.name(),
            labels.join(", "),
            metric.help
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_counters_say_that_they_are_totals() {
        for (index, metric) in METRICS.iter().enumerate() {
            assert!(
                METRICS[..index]
                    .iter()
                    .all(|other| other.name != metric.name)
            );
            let is_total = metric.name.ends_with("_total");
            assert_eq!(is_total, metric.kind == Counter, "{}", metric.name);
        }
    }
}
