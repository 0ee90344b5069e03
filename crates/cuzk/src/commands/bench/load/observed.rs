//! What an engine did up to one moment: from its own snapshot, or from the metrics of a daemon. The difference of two is what
//! a load cost.

use std::collections::BTreeMap;

use cuzk_engine::Snapshot;
use cuzk_server::process;

/// Classes of buffers that stay while an engine has nothing to do: they are kept on purpose.
const KEPT_CLASSES: [&str; 2] = ["resident", "result"];

/// Steps of one stage.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct StageTotal {
    pub(super) count: u64,
    pub(super) total_s: f64,
}

/// Counters at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Observed {
    /// By name of the stage.
    pub(super) stages: BTreeMap<String, StageTotal>,
    /// Seconds in which a device was busy, by its name.
    pub(super) busy_s: BTreeMap<String, f64>,
    /// Bytes of large buffers now, by class.
    pub(super) held_by_class: BTreeMap<String, u64>,
    /// The most there were at one time since the engine started.
    pub(super) peak_by_class: BTreeMap<String, u64>,
    /// Processor time of the process.
    pub(super) cpu_s: Option<f64>,
    /// Resident memory of the process.
    pub(super) resident_bytes: Option<u64>,
    /// The most there was, as the kernel counts it.
    pub(super) peak_resident_bytes: Option<u64>,
}

impl Observed {
    /// From an engine in this process.
    pub(super) fn of_engine(snapshot: &Snapshot) -> Self {
        let stages = snapshot.stages.iter().map(|(stage, status)| {
            let total = StageTotal {
                count: status.count,
                total_s: status.total.as_secs_f64(),
            };
            (stage.name().to_owned(), total)
        });
        let devices = snapshot
            .devices
            .iter()
            .map(|device| (device.id(), device.busy.as_secs_f64()));
        let buffers = || snapshot.buffers.iter();
        let name = |class: &cuzk_engine::BufferClass| class.name().to_owned();
        Self {
            stages: stages.collect(),
            busy_s: devices.collect(),
            held_by_class: buffers()
                .map(|(class, buffer)| (name(class), buffer.bytes))
                .collect(),
            peak_by_class: buffers()
                .map(|(class, buffer)| (name(class), buffer.peak_bytes))
                .collect(),
            cpu_s: process::cpu_time().map(|time| time.as_secs_f64()),
            resident_bytes: process::resident_bytes(),
            peak_resident_bytes: process::peak_resident_bytes(),
        }
    }

    /// From the metrics of a daemon, in the text format of Prometheus.
    pub(super) fn of_metrics(text: &str) -> Self {
        let mut observed = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(sample) = Sample::parse(line) {
                observed.take(&sample);
            }
        }
        observed
    }

    fn take(&mut self, sample: &Sample<'_>) {
        let Sample { name, value, .. } = *sample;
        let by_label = |label: &str| sample.label(label).to_owned();
        match name {
            "cuzk_stage_seconds_sum" => {
                self.stages.entry(by_label("stage")).or_default().total_s += value;
            }
            "cuzk_stage_seconds_count" => {
                self.stages.entry(by_label("stage")).or_default().count += bytes(value);
            }
            "cuzk_device_busy_seconds_total" => {
                self.busy_s.insert(by_label("device"), value);
            }
            "cuzk_buffer_bytes" => {
                self.held_by_class.insert(by_label("class"), bytes(value));
            }
            "cuzk_buffer_peak_bytes" => {
                self.peak_by_class.insert(by_label("class"), bytes(value));
            }
            "process_cpu_seconds_total" => self.cpu_s = Some(value),
            "process_resident_memory_bytes" => self.resident_bytes = Some(bytes(value)),
            "cuzk_process_resident_peak_bytes" => self.peak_resident_bytes = Some(bytes(value)),
            _ => {}
        }
    }

    /// Stages since an earlier moment.
    pub(super) fn stages_since(&self, before: &Self) -> BTreeMap<String, StageTotal> {
        let since = |(name, total): (&String, &StageTotal)| {
            let earlier = before.stages.get(name).copied().unwrap_or_default();
            let total = StageTotal {
                count: total.count - earlier.count,
                total_s: total.total_s - earlier.total_s,
            };
            (name.clone(), total)
        };
        self.stages.iter().map(since).collect()
    }

    /// Seconds in which each device was busy since an earlier moment.
    pub(super) fn busy_since(&self, before: &Self) -> BTreeMap<String, f64> {
        let since = |(name, busy): (&String, &f64)| {
            let earlier = before.busy_s.get(name).copied().unwrap_or(0.0);
            (name.clone(), busy - earlier)
        };
        self.busy_s.iter().map(since).collect()
    }

    /// Whether no buffer is left that belongs to a proof in the making.
    pub(super) fn is_at_zero(&self) -> bool {
        let mut held = self.held_by_class.iter();
        held.all(|(class, bytes)| *bytes == 0 || KEPT_CLASSES.contains(&class.as_str()))
    }
}

/// A count that was written as a floating-point number.
#[allow(clippy::cast_sign_loss, reason = "counts are not negative")]
fn bytes(value: f64) -> u64 {
    value as u64
}

/// A line of the text format: `name{label="value",…} number`.
struct Sample<'a> {
    name: &'a str,
    labels: &'a str,
    value: f64,
}

impl<'a> Sample<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (series, value) = line.rsplit_once(' ')?;
        let (name, labels) = match series.split_once('{') {
            Some((name, labels)) => (name, labels.strip_suffix('}')?),
            None => (series, ""),
        };
        Some(Self {
            name,
            labels,
            value: value.parse().ok()?,
        })
    }

    /// The value of a label; the labels read here hold no quotes.
    fn label(&self, name: &str) -> &'a str {
        let mut pairs = self.labels.split(',');
        let value = pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        value.map_or("", |value| value.trim_matches('"'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: &str = "\
# HELP cuzk_stage_seconds Time.
cuzk_stage_seconds_bucket{stage=\"start\",kind=\"porep-c2\",le=\"+Inf\"} 2
cuzk_stage_seconds_sum{stage=\"start\",kind=\"porep-c2\"} 7.5
cuzk_stage_seconds_count{stage=\"start\",kind=\"porep-c2\"} 2
cuzk_stage_seconds_sum{stage=\"start\",kind=\"winning-post\"} 0.5
cuzk_stage_seconds_count{stage=\"start\",kind=\"winning-post\"} 1
cuzk_device_busy_seconds_total{device=\"cpu-0\"} 8
cuzk_buffer_bytes{class=\"witness\"} 0
cuzk_buffer_bytes{class=\"resident\"} 33554432
cuzk_buffer_peak_bytes{class=\"witness\"} 1024
process_cpu_seconds_total 16.25
process_resident_memory_bytes 1048576
";

    #[test]
    fn the_metrics_of_a_daemon_are_read_with_all_kinds_of_a_stage_together() {
        let observed = Observed::of_metrics(METRICS);
        let start = StageTotal {
            count: 3,
            total_s: 8.0,
        };
        assert_eq!(observed.stages["start"], start);
        assert_eq!(observed.busy_s, BTreeMap::from([("cpu-0".to_owned(), 8.0)]));
        assert_eq!(observed.peak_by_class["witness"], 1024);
        assert_eq!(observed.cpu_s, Some(16.25));
        assert_eq!(observed.resident_bytes, Some(1 << 20));
        assert_eq!(observed.peak_resident_bytes, None, "it was not told");
    }

    #[test]
    fn what_is_kept_on_purpose_does_not_count_and_a_forgotten_witness_does() {
        assert!(Observed::of_metrics(METRICS).is_at_zero());
        let left = "cuzk_buffer_bytes{class=\"witness\"} 1\n";
        assert!(!Observed::of_metrics(left).is_at_zero());
    }

    #[test]
    fn a_load_costs_what_was_counted_since_its_beginning() {
        let before = Observed::of_metrics(METRICS);
        let after = Observed::of_metrics(&METRICS.replace("} 8\n", "} 9.5\n"));
        let busy = after.busy_since(&before);
        assert_eq!(busy, BTreeMap::from([("cpu-0".to_owned(), 1.5)]));
        assert_eq!(after.stages_since(&before)["start"], StageTotal::default());
    }
}
