//! What a load came to, for scripts and for people.

use std::{collections::BTreeMap, time::Duration};

use cuzk_engine::Span;
use serde::Serialize;

use super::{
    back_to_back::Spent,
    gaps::Gaps,
    observed::Observed,
    traffic::{Answer, Answered},
};
use crate::{output::Page, units};

/// The result. Times of stages add up over partitions that overlap.
#[derive(Debug, Serialize)]
pub(super) struct LoadResult {
    pub(super) proofs: usize,
    /// Proofs that this process verified, or that the daemon says it verified where this process has no key.
    pub(super) verified: usize,
    pub(super) failed: usize,
    pub(super) s_per_proof: f64,
    pub(super) back_to_back_s_per_proof: Option<f64>,
    pub(super) latency_ms: Percentiles,
    /// As the kernel counts it; of a daemon, since it started.
    pub(super) peak_rss_bytes: Option<u64>,
    pub(super) peak_by_class: BTreeMap<String, u64>,
    pub(super) tracker_at_zero: bool,

    pub(super) jobs: usize,
    pub(super) wall_s: f64,
    pub(super) kinds: BTreeMap<String, Kind>,
    pub(super) stages: BTreeMap<String, Stage>,
    pub(super) devices: Vec<Device>,
    pub(super) cpu_s: Option<f64>,
    pub(super) back_to_back_cpu_s_per_proof: Option<f64>,
    pub(super) sampled_peak_rss_bytes: Option<u64>,
    /// The words of the first proofs that failed.
    pub(super) errors: Vec<String>,
}

/// Failures whose words are shown.
const MAX_ERRORS: usize = 5;

/// Latencies by rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Percentiles {
    p50: f64,
    p99: f64,
}

/// Proofs of one circuit.
#[derive(Debug, Serialize)]
pub(super) struct Kind {
    proofs: usize,
    failed: usize,
    latency_ms: Percentiles,
}

/// Steps of one stage.
#[derive(Debug, Serialize)]
pub(super) struct Stage {
    steps: u64,
    total_s: f64,
}

/// What a device did during the load.
#[derive(Debug, Serialize)]
pub(super) struct Device {
    id: String,
    /// The part of the time in which it had a partition.
    busy_share: f64,
    /// `None` for a daemon, whose metrics do not tell.
    gaps: Option<DeviceGaps>,
}

#[derive(Debug, Serialize)]
struct DeviceGaps {
    count: usize,
    total_s: f64,
    longest_s: f64,
}

/// What a load is reported from.
pub(super) struct Measured {
    pub(super) answered: Answered,
    pub(super) before: Observed,
    pub(super) after: Observed,
    /// Of each device, where it is known.
    pub(super) gaps: Vec<Gaps>,
    /// Steps that an engine in this process remembers.
    pub(super) steps: Vec<Span>,
    pub(super) peak_rss_bytes: Option<u64>,
    pub(super) back_to_back: Option<Spent>,
    pub(super) num_jobs: usize,
}

impl LoadResult {
    pub(super) fn new(measured: &Measured) -> Self {
        let Measured {
            answered,
            before,
            after,
            back_to_back,
            ..
        } = measured;
        let answers = &answered.answers;
        let per_proof = |time: Duration, count: usize| time.as_secs_f64() / count.max(1) as f64;
        let errors = || {
            answers
                .iter()
                .filter_map(|answer| answer.proof.as_ref().err())
        };
        let failed = errors().count();
        let cpu_s = after.cpu_s.zip(before.cpu_s);
        let memory = answered.memory.iter().map(|(_, bytes)| *bytes);
        Self {
            proofs: answers.len(),
            verified: answers.len() - failed,
            failed,
            s_per_proof: per_proof(answered.wall, answers.len()),
            back_to_back_s_per_proof: back_to_back
                .map(|spent| per_proof(spent.wall, spent.num_proofs)),
            latency_ms: Percentiles::of(answers.iter()),
            peak_rss_bytes: measured.peak_rss_bytes,
            peak_by_class: after.peak_by_class.clone(),
            tracker_at_zero: after.is_at_zero(),
            jobs: measured.num_jobs,
            wall_s: answered.wall.as_secs_f64(),
            kinds: kinds(answers),
            stages: stages(before, after),
            devices: devices(measured),
            cpu_s: cpu_s.map(|(after, before)| after - before),
            back_to_back_cpu_s_per_proof: back_to_back
                .map(|spent| per_proof(spent.cpu, spent.num_proofs)),
            sampled_peak_rss_bytes: memory.max(),
            errors: errors().take(MAX_ERRORS).cloned().collect(),
        }
    }

    pub(super) fn write(&self, page: &mut Page) {
        let time = |seconds: f64| units::time(Duration::from_secs_f64(seconds.max(0.0)));
        let ratio = self.back_to_back_s_per_proof.map(|alone| {
            let ratio = self.s_per_proof / alone;
            format!("{} ({ratio:.2} of it through the engine)", time(alone))
        });
        let cores = self
            .cpu_s
            .map(|cpu| format!("{} ({:.2} cores)", time(cpu), cpu / self.wall_s));
        page.fields(&[
            (
                "proofs",
                format!("{} verified, {} failed", self.verified, self.failed),
            ),
            ("per proof", time(self.s_per_proof)),
            (
                "back to back",
                ratio.unwrap_or_else(|| "not measured".to_owned()),
            ),
            ("processor", cores.unwrap_or_else(|| "unknown".to_owned())),
            ("peak memory", units::bytes_or_unknown(self.peak_rss_bytes)),
            (
                "buffers at the end",
                if self.tracker_at_zero {
                    "none"
                } else {
                    "some are left"
                }
                .to_owned(),
            ),
        ]);
        self.write_tables(page);
    }

    fn write_tables(&self, page: &mut Page) {
        let time = |seconds: f64| units::time(Duration::from_secs_f64(seconds.max(0.0)));
        let heading = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect();
        let mut rows = vec![heading(&["circuit", "proofs", "failed", "p50", "p99"])];
        rows.extend(self.kinds.iter().map(|(circuit, kind)| {
            let Percentiles { p50, p99 } = kind.latency_ms;
            vec![
                circuit.clone(),
                kind.proofs.to_string(),
                kind.failed.to_string(),
                time(p50 / 1e3),
                time(p99 / 1e3),
            ]
        }));
        page.line("");
        page.table(&rows);
        let mut rows = vec![heading(&["stage", "steps", "time", "per step"])];
        let ran = self.stages.iter().filter(|(_, stage)| stage.steps > 0);
        rows.extend(ran.map(|(name, stage)| {
            vec![
                name.clone(),
                stage.steps.to_string(),
                time(stage.total_s),
                time(stage.total_s / stage.steps as f64),
            ]
        }));
        page.line("");
        page.table(&rows);
        let mut rows = vec![heading(&["device", "busy", "gaps", "longest"])];
        rows.extend(self.devices.iter().map(|device| {
            let gaps = device.gaps.as_ref();
            let unknown = || "unknown".to_owned();
            vec![
                device.id.clone(),
                format!("{:.1} %", 100.0 * device.busy_share),
                gaps.map_or_else(unknown, |gaps| gaps.count.to_string()),
                gaps.map_or_else(unknown, |gaps| time(gaps.longest_s)),
            ]
        }));
        page.line("");
        page.table(&rows);
        let mut rows = vec![heading(&["buffers", "peak"])];
        let used = self.peak_by_class.iter().filter(|(_, bytes)| **bytes > 0);
        rows.extend(used.map(|(class, bytes)| vec![class.clone(), units::bytes(*bytes)]));
        page.line("");
        page.table(&rows);
        for error in &self.errors {
            page.line(&format!("\nfailed: {error}"));
        }
    }
}

impl Percentiles {
    /// The smallest latencies that 50 and 99 of 100 do not exceed; of those that got a proof.
    fn of<'a>(answers: impl Iterator<Item = &'a Answer>) -> Self {
        let mut sorted: Vec<f64> = answers
            .filter(|answer| answer.proof.is_ok())
            .map(|answer| answer.latency.as_secs_f64() * 1e3)
            .collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let rank = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100).max(1);
            sorted.get(rank - 1).copied().unwrap_or(0.0)
        };
        Self {
            p50: rank(50),
            p99: rank(99),
        }
    }
}

fn kinds(answers: &[Answer]) -> BTreeMap<String, Kind> {
    let mut kinds = BTreeMap::new();
    for answer in answers {
        kinds.entry(answer.circuit).or_insert_with(|| {
            let own = || {
                answers
                    .iter()
                    .filter(|other| other.circuit == answer.circuit)
            };
            Kind {
                proofs: own().count(),
                failed: own().filter(|answer| answer.proof.is_err()).count(),
                latency_ms: Percentiles::of(own()),
            }
        });
    }
    let named = kinds.into_iter();
    named
        .map(|(circuit, kind)| (circuit.to_string(), kind))
        .collect()
}

fn stages(before: &Observed, after: &Observed) -> BTreeMap<String, Stage> {
    let since = after.stages_since(before).into_iter();
    since
        .map(|(name, total)| {
            let stage = Stage {
                steps: total.count,
                total_s: total.total_s,
            };
            (name, stage)
        })
        .collect()
}

fn devices(measured: &Measured) -> Vec<Device> {
    let busy = measured.after.busy_since(&measured.before).into_iter();
    let wall = measured.answered.wall.as_secs_f64();
    busy.enumerate()
        .map(|(index, (id, busy_s))| Device {
            id,
            busy_share: busy_s / wall,
            gaps: measured.gaps.get(index).map(|gaps| DeviceGaps {
                count: gaps.count,
                total_s: gaps.total.as_secs_f64(),
                longest_s: gaps.longest.as_secs_f64(),
            }),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn answer(circuit: &str, ms: u64, ok: bool) -> Answer {
        Answer {
            circuit: circuit.parse().expect("a circuit"),
            asked: Duration::ZERO,
            latency: Duration::from_millis(ms),
            proof: ok.then(Bytes::new).ok_or_else(|| "no".to_owned()),
        }
    }

    #[test]
    fn percentiles_are_latencies_that_occurred() {
        let of = |latencies: &[u64]| {
            let answers: Vec<_> = latencies
                .iter()
                .map(|&ms| answer("winning-2k", ms, true))
                .collect();
            let Percentiles { p50, p99 } = Percentiles::of(answers.iter());
            (p50, p99)
        };
        assert_eq!(of(&[]), (0.0, 0.0));
        assert_eq!(of(&[7]), (7.0, 7.0));
        assert_eq!(of(&[4, 1, 3, 2]), (2.0, 4.0));
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(of(&hundred), (50.0, 99.0));
    }

    #[test]
    fn what_failed_has_no_latency_and_is_counted_by_kind() {
        let answers = [
            answer("winning-2k", 10, true),
            answer("porep-2k", 900, true),
            answer("winning-2k", 1, false),
        ];
        let kinds = kinds(&answers);
        let winning = &kinds["winning-2k"];
        assert_eq!((winning.proofs, winning.failed), (2, 1));
        assert_eq!(
            winning.latency_ms,
            Percentiles {
                p50: 10.0,
                p99: 10.0
            }
        );
        assert_eq!(kinds["porep-2k"].failed, 0);
    }
}
