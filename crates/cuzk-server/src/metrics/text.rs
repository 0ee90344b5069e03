//! The exposition format of Prometheus, version 0.0.4.

use std::fmt::Write as _;

use cuzk_engine::{DeviceHealth, DeviceStatus, Snapshot, Tier};
use cuzk_groth16::CardMemory;

use super::{
    catalog::{self, Metric},
    fold::Fold,
    histogram::Histogram,
};
use crate::{process, wire::queue_name};

/// All metrics as text; `memory` is in the order of the devices, as far as it is known.
pub(crate) fn render(fold: &Fold, snapshot: &Snapshot, memory: &[Option<CardMemory>]) -> String {
    let mut page = Page::default();
    page.counters(fold);
    page.histograms(fold);
    page.memory(snapshot);
    page.devices(snapshot);
    page.cards(&snapshot.devices, memory);
    page.state(snapshot);
    page.process();
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn counters(&mut self, fold: &Fold) {
        self.head(&catalog::JOBS_ACCEPTED);
        for (kind, count) in &fold.accepted {
            self.sample(&catalog::JOBS_ACCEPTED, &[kind], *count as f64);
        }
        self.head(&catalog::JOBS_ENDED);
        for ((kind, ending), count) in &fold.ended {
            self.sample(&catalog::JOBS_ENDED, &[kind, ending], *count as f64);
        }
        self.head(&catalog::STALLS);
        for (stage, count) in &fold.stalls {
            self.sample(&catalog::STALLS, &[stage], *count as f64);
        }
        self.single(&catalog::PARTITIONS_RETRIED, fold.retried as f64);
        self.single(&catalog::EVENTS_MISSED, fold.missed as f64);
    }

    fn histograms(&mut self, fold: &Fold) {
        self.head(&catalog::JOB_SECONDS);
        for (kind, histogram) in &fold.job_seconds {
            self.histogram(&catalog::JOB_SECONDS, &[kind], histogram);
        }
        self.head(&catalog::STAGE_SECONDS);
        for ((stage, kind), histogram) in &fold.stage_seconds {
            self.histogram(&catalog::STAGE_SECONDS, &[stage, kind], histogram);
        }
    }

    fn memory(&mut self, snapshot: &Snapshot) {
        let budget = &snapshot.budget;
        self.head(&catalog::BUDGET);
        for (what, bytes) in [
            ("total", budget.total_bytes),
            ("used", budget.used_bytes),
            ("reserved", budget.reserved_bytes),
            ("peak", budget.peak_bytes),
        ] {
            self.sample(&catalog::BUDGET, &[what], bytes as f64);
        }
        self.single(&catalog::BUDGET_WAITING, budget.num_waiting as f64);
        self.head(&catalog::BUFFERS);
        for (class, buffer) in &snapshot.buffers {
            self.sample(&catalog::BUFFERS, &[class.name()], buffer.count as f64);
        }
        self.head(&catalog::BUFFER_BYTES);
        for (class, buffer) in &snapshot.buffers {
            self.sample(&catalog::BUFFER_BYTES, &[class.name()], buffer.bytes as f64);
        }
        self.head(&catalog::BUFFER_PEAK_BYTES);
        for (class, buffer) in &snapshot.buffers {
            let peak = buffer.peak_bytes as f64;
            self.sample(&catalog::BUFFER_PEAK_BYTES, &[class.name()], peak);
        }
    }

    fn devices(&mut self, snapshot: &Snapshot) {
        self.head(&catalog::DEVICE_BUSY);
        for device in &snapshot.devices {
            let busy = device.busy.as_secs_f64();
            self.sample(&catalog::DEVICE_BUSY, &[&device.id()], busy);
        }
        self.head(&catalog::DEVICE_HEALTH);
        for device in &snapshot.devices {
            for health in [
                DeviceHealth::Healthy,
                DeviceHealth::Suspect,
                DeviceHealth::Quarantined,
                DeviceHealth::Lost,
            ] {
                let labels = [device.id(), health.name().to_owned()];
                let value = f64::from(u8::from(device.health == health));
                self.sample(
                    &catalog::DEVICE_HEALTH,
                    &labels.each_ref().map(String::as_str),
                    value,
                );
            }
        }
    }

    fn cards(&mut self, devices: &[DeviceStatus], memory: &[Option<CardMemory>]) {
        self.head(&catalog::CARD_MEMORY);
        for device in devices {
            let Some(card) = &device.description.card else {
                continue;
            };
            let memory = memory.get(device.index).copied().flatten();
            for (what, bytes) in [
                ("total", Some(card.memory_bytes)),
                ("free", memory.and_then(|memory| memory.free_bytes)),
                ("used", memory.map(|memory| memory.used_bytes)),
                ("limit", memory.map(|memory| memory.limit_bytes)),
            ] {
                if let Some(bytes) = bytes {
                    self.sample(&catalog::CARD_MEMORY, &[&device.id(), what], bytes as f64);
                }
            }
        }
    }

    fn state(&mut self, snapshot: &Snapshot) {
        self.head(&catalog::JOBS);
        for queue in &snapshot.queues {
            let kind = queue_name(queue.family);
            self.sample(&catalog::JOBS, &[kind, "pending"], queue.num_pending as f64);
            let in_progress = queue.num_in_progress as f64;
            self.sample(&catalog::JOBS, &[kind, "in_progress"], in_progress);
        }
        self.head(&catalog::RESIDENT);
        for resident in &snapshot.residents {
            let circuit = resident.circuit.to_string();
            let tier = match resident.tier {
                Tier::Hot => "hot",
                Tier::Warm => "warm",
                Tier::Cold => "cold",
            };
            self.sample(&catalog::RESIDENT, &[&circuit, tier], 1.0);
        }
        self.single(&catalog::UPTIME, snapshot.uptime.as_secs_f64());
        let degraded = f64::from(u8::from(!snapshot.degraded.is_empty()));
        self.single(&catalog::DEGRADED, degraded);
    }

    /// What the system tells about this process; a metric that it does not tell has no sample.
    fn process(&mut self) {
        if let Some(cpu) = process::cpu_time() {
            self.single(&catalog::PROCESS_CPU, cpu.as_secs_f64());
        }
        if let Some(bytes) = process::resident_bytes() {
            self.single(&catalog::PROCESS_RESIDENT, bytes as f64);
        }
        if let Some(bytes) = process::peak_resident_bytes() {
            self.single(&catalog::PROCESS_RESIDENT_PEAK, bytes as f64);
        }
    }

    fn head(&mut self, metric: &Metric) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "# HELP {} {}", metric.name, metric.help);
        let _ = writeln!(self.text, "# TYPE {} {}", metric.name, metric.kind.name());
    }

    fn single(&mut self, metric: &Metric, value: f64) {
        self.head(metric);
        self.sample(metric, &[], value);
    }

    fn sample(&mut self, metric: &Metric, labels: &[&str], value: f64) {
        self.line(metric.name, &pairs(metric, labels), value);
    }

    fn histogram(&mut self, metric: &Metric, labels: &[&str], histogram: &Histogram) {
        let own = pairs(metric, labels);
        let bucket = format!("{}_bucket", metric.name);
        for (bound, count) in histogram.cumulative() {
            let pairs = format!("{own},le=\"{bound}\"");
            self.line(&bucket, &pairs, count as f64);
        }
        let count = histogram.count() as f64;
        self.line(&bucket, &format!("{own},le=\"+Inf\""), count);
        let sum = histogram.sum_seconds();
        self.line(&format!("{}_sum", metric.name), &own, sum);
        self.line(&format!("{}_count", metric.name), &own, count);
    }

    fn line(&mut self, name: &str, pairs: &str, value: f64) {
        // Writing to a String cannot fail.
        let _ = if pairs.is_empty() {
            writeln!(self.text, "{name} {value}")
        } else {
            writeln!(self.text, "{name}{{{pairs}}} {value}")
        };
    }
}

fn pairs(metric: &Metric, values: &[&str]) -> String {
    let pairs: Vec<String> = metric
        .labels
        .iter()
        .zip(values)
        .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
        .collect();
    pairs.join(",")
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::example::{card, device};

    /// Samples of the memory of one card.
    fn card_samples(memory: Option<CardMemory>) -> Vec<String> {
        let mut page = Page::default();
        page.cards(&[device(Some(card()))], &[None, memory]);
        let samples = page.text.lines().filter(|line| !line.starts_with('#'));
        samples.map(str::to_owned).collect()
    }

    #[test]
    fn the_memory_of_a_card_has_a_sample_for_all_that_is_known_of_it() {
        let total = "cuzk_card_memory_bytes{device=\"cuda-1\",what=\"total\"} 149250113536";
        assert_eq!(card_samples(None), [total]);
        let mut memory = CardMemory {
            free_bytes: None,
            used_bytes: 0,
            limit_bytes: 64,
        };
        let own = [
            "cuzk_card_memory_bytes{device=\"cuda-1\",what=\"used\"} 0",
            "cuzk_card_memory_bytes{device=\"cuda-1\",what=\"limit\"} 64",
        ];
        assert_eq!(card_samples(Some(memory)), [total, own[0], own[1]]);
        memory.free_bytes = Some(100);
        let free = "cuzk_card_memory_bytes{device=\"cuda-1\",what=\"free\"} 100";
        assert_eq!(card_samples(Some(memory)), [total, free, own[0], own[1]]);
    }

    #[test]
    fn a_device_that_is_no_card_has_no_memory_of_its_own() {
        let mut page = Page::default();
        page.cards(&[device(None)], &[]);
        assert!(page.text.lines().all(|line| line.starts_with('#')));
    }

    #[test]
    fn a_histogram_is_cumulative_and_ends_with_everything() {
        let mut histogram = Histogram::default();
        histogram.observe(Duration::from_millis(500));
        histogram.observe(Duration::from_hours(2));
        let mut page = Page::default();
        page.histogram(&catalog::JOB_SECONDS, &["porep-c2"], &histogram);
        for line in [
            "cuzk_job_seconds_bucket{kind=\"porep-c2\",le=\"0.25\"} 0\n",
            "cuzk_job_seconds_bucket{kind=\"porep-c2\",le=\"0.5\"} 1\n",
            "cuzk_job_seconds_bucket{kind=\"porep-c2\",le=\"3600\"} 1\n",
            "cuzk_job_seconds_bucket{kind=\"porep-c2\",le=\"+Inf\"} 2\n",
            "cuzk_job_seconds_sum{kind=\"porep-c2\"} 7200.5\n",
            "cuzk_job_seconds_count{kind=\"porep-c2\"} 2\n",
        ] {
            assert!(page.text.contains(line), "{line} is not in\n{}", page.text);
        }
    }

    #[test]
    fn a_value_cannot_break_out_of_its_quotes() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }
}
