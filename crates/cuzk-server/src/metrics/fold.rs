//! What the events come to, in counters and histograms.

use std::collections::BTreeMap;

use cuzk_engine::{Ending, Event};

use super::histogram::Histogram;
use crate::wire::queue_name;

/// Kind of a step whose request is not decoded yet.
const UNKNOWN_KIND: &str = "unknown";

/// Counters and histograms, by their labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fold {
    pub(super) accepted: BTreeMap<&'static str, u64>,
    pub(super) ended: BTreeMap<(&'static str, &'static str), u64>,
    pub(super) job_seconds: BTreeMap<&'static str, Histogram>,
    pub(super) stage_seconds: BTreeMap<(&'static str, &'static str), Histogram>,
    pub(super) stalls: BTreeMap<&'static str, u64>,
    pub(super) retried: u64,
    pub(super) missed: u64,
}

impl Fold {
    /// Takes one event in.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::JobAccepted { circuit, .. } => {
                *self.accepted.entry(queue_name(circuit.family)).or_default() += 1;
            }
            Event::JobEnded {
                circuit,
                ending,
                total,
                ..
            } => {
                let kind = queue_name(circuit.family);
                *self.ended.entry((kind, ending_name(*ending))).or_default() += 1;
                if *ending == Ending::Completed {
                    self.job_seconds.entry(kind).or_default().observe(*total);
                }
            }
            Event::StepEnded { step, took } => {
                let kind = step
                    .circuit
                    .map_or(UNKNOWN_KIND, |circuit| queue_name(circuit.family));
                self.stage_seconds
                    .entry((step.stage.name(), kind))
                    .or_default()
                    .observe(*took);
            }
            Event::PartitionRetried { .. } => self.retried += 1,
            Event::Stalled { step, .. } => {
                *self.stalls.entry(step.stage.name()).or_default() += 1;
            }
            _ => {}
        }
    }

    /// Notes events that were lost.
    pub(crate) fn miss(&mut self, num_events: u64) {
        self.missed += num_events;
    }
}

fn ending_name(ending: Ending) -> &'static str {
    match ending {
        Ending::Completed => "completed",
        Ending::Cancelled(_) => "cancelled",
        Ending::Failed(class) => class.name(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cuzk_circuits::{CircuitId, Family, SectorSize};
    use cuzk_engine::{ErrorClass, JobId, Stage, Step};

    use super::*;

    const CIRCUIT: CircuitId = CircuitId::new(Family::WinningPoSt, SectorSize::Kib2);

    fn ended(ending: Ending) -> Event {
        Event::JobEnded {
            job: JobId::random(),
            circuit: CIRCUIT,
            ending,
            total: Duration::from_secs(1),
        }
    }

    #[test]
    fn a_failed_job_counts_under_its_class_and_not_in_the_times_of_proofs() {
        let mut fold = Fold::default();
        fold.apply(&ended(Ending::Failed(ErrorClass::Device)));
        fold.apply(&ended(Ending::Completed));
        assert_eq!(fold.ended[&("winning-post", "device")], 1);
        assert_eq!(fold.ended[&("winning-post", "completed")], 1);
        assert_eq!(fold.job_seconds["winning-post"].count(), 1);
    }

    #[test]
    fn a_step_counts_under_its_stage_and_kind() {
        let mut fold = Fold::default();
        for circuit in [None, Some(CIRCUIT)] {
            let step = Step {
                stage: Stage::Decode,
                circuit,
                job: None,
                partition: None,
                device: None,
            };
            let took = Duration::from_millis(3);
            fold.apply(&Event::StepEnded { step, took });
        }
        assert_eq!(fold.stage_seconds[&("decode", "unknown")].count(), 1);
        assert_eq!(fold.stage_seconds[&("decode", "winning-post")].count(), 1);
    }
}
