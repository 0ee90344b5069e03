//! What the events come to: counts of jobs, buffers and stages, and the steps that run.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use crate::events::{BufferClass, Ending, Event, Stage, Stamped, Step};
use crate::snapshot::{BufferStatus, StageStatus, Totals};

/// Steps that the timeline remembers.
const TIMELINE_STEPS: usize = 4096;

/// A step that is over, for the waterfall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// What was done.
    pub step: Step,
    /// When it began, since the engine started.
    pub began: Duration,
    /// How long it took.
    pub took: Duration,
}

/// All folds over the events.
#[derive(Debug, Default)]
pub(crate) struct Folds {
    pub(crate) totals: Totals,
    pub(crate) buffers: BTreeMap<BufferClass, BufferStatus>,
    pub(crate) stages: BTreeMap<Stage, StageStatus>,
    /// Steps that run and when they began. The same step may run twice for a moment, when a partition is proved again.
    pub(crate) running: HashMap<Step, Vec<Duration>>,
    pub(crate) timeline: VecDeque<Span>,
    pub(crate) devices: BTreeMap<usize, Occupation>,
}

/// When a device had a partition in `start` or `finish`. Partitions overlap; time counts once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Occupation {
    num_running: usize,
    since: Duration,
    total: Duration,
}

impl Occupation {
    fn begin(&mut self, at: Duration) {
        if self.num_running == 0 {
            self.since = at;
        }
        self.num_running += 1;
    }

    fn end(&mut self, at: Duration) {
        self.num_running -= 1;
        if self.num_running == 0 {
            self.total += at.saturating_sub(self.since);
        }
    }

    /// Until now.
    pub(crate) fn busy(&self, now: Duration) -> Duration {
        match self.num_running {
            0 => self.total,
            _ => self.total + now.saturating_sub(self.since),
        }
    }
}

/// The device that a step occupies.
fn occupied(step: &Step) -> Option<usize> {
    step.device
        .filter(|_| matches!(step.stage, Stage::Start | Stage::Finish))
}

impl Folds {
    pub(crate) fn apply(&mut self, stamped: &Stamped) {
        match &stamped.event {
            Event::JobAccepted { .. } => self.totals.accepted += 1,
            Event::JobEnded { ending, .. } => match ending {
                Ending::Completed => self.totals.completed += 1,
                Ending::Failed(_) => self.totals.failed += 1,
                Ending::Cancelled(_) => self.totals.cancelled += 1,
            },
            Event::PartitionRetried { .. } => self.totals.retried += 1,
            Event::BufferTaken { class, bytes } => {
                let buffer = self.buffers.entry(*class).or_default();
                buffer.count += 1;
                buffer.bytes += bytes;
                buffer.peak_count = buffer.peak_count.max(buffer.count);
                buffer.peak_bytes = buffer.peak_bytes.max(buffer.bytes);
            }
            Event::BufferFreed { class, bytes } => {
                let buffer = self.buffers.entry(*class).or_default();
                buffer.count -= 1;
                buffer.bytes -= bytes;
            }
            Event::StepBegan { step } => {
                self.running.entry(*step).or_default().push(stamped.at);
                if let Some(device) = occupied(step) {
                    self.devices.entry(device).or_default().begin(stamped.at);
                }
            }
            Event::StepEnded { step, took } => self.end_step(*step, *took, stamped.at),
            _ => {}
        }
    }

    fn end_step(&mut self, step: Step, took: Duration, at: Duration) {
        if let Some(began) = self.running.get_mut(&step) {
            began.pop();
            if began.is_empty() {
                self.running.remove(&step);
            }
        }
        let stage = self.stages.entry(step.stage).or_default();
        stage.count += 1;
        stage.total += took;
        stage.longest = stage.longest.max(took);
        if let Some(device) = occupied(&step) {
            self.devices.entry(device).or_default().end(at);
        }
        if self.timeline.len() == TIMELINE_STEPS {
            self.timeline.pop_front();
        }
        self.timeline.push_back(Span {
            step,
            began: at.saturating_sub(took),
            took,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(folds: &mut Folds, event: Event) {
        folds.apply(&Stamped {
            at: Duration::ZERO,
            event,
        });
    }

    #[test]
    fn a_peak_remains_when_the_count_is_back_at_zero() {
        let mut folds = Folds::default();
        let class = BufferClass::Witness;
        for bytes in [3, 4] {
            apply(&mut folds, Event::BufferTaken { class, bytes });
        }
        for bytes in [3, 4] {
            apply(&mut folds, Event::BufferFreed { class, bytes });
        }
        let expected = BufferStatus {
            count: 0,
            bytes: 0,
            peak_count: 2,
            peak_bytes: 7,
        };
        assert_eq!(folds.buffers[&class], expected);
    }

    #[test]
    fn a_step_that_runs_twice_runs_until_both_are_over() {
        let mut folds = Folds::default();
        let step = Step {
            stage: Stage::Finish,
            circuit: None,
            job: None,
            partition: None,
            device: Some(0),
        };
        let took = Duration::from_secs(1);
        for _ in 0..2 {
            apply(&mut folds, Event::StepBegan { step });
        }
        apply(&mut folds, Event::StepEnded { step, took });
        assert!(folds.running.contains_key(&step));
        apply(&mut folds, Event::StepEnded { step, took });
        assert!(folds.running.is_empty());
    }

    #[test]
    fn a_device_with_two_partitions_is_busy_once() {
        let mut folds = Folds::default();
        let step = |stage, partition| Step {
            stage,
            circuit: None,
            job: None,
            partition: Some(partition),
            device: Some(0),
        };
        let began = |step| Event::StepBegan { step };
        let ended = |step| Event::StepEnded {
            step,
            took: Duration::ZERO,
        };
        let start = step(Stage::Start, 1);
        let finish = step(Stage::Finish, 0);
        for (at, event) in [
            (1, began(finish)),
            (2, began(start)),
            (3, ended(finish)),
            (5, ended(start)),
            (9, began(step(Stage::Finish, 1))),
        ] {
            let at = Duration::from_secs(at);
            folds.apply(&Stamped { at, event });
        }
        let busy = |now| folds.devices[&0].busy(Duration::from_secs(now));
        assert_eq!(busy(9), Duration::from_secs(4));
        assert_eq!(busy(10), Duration::from_secs(5), "it is busy again");
    }
}
