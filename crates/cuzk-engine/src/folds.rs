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
    pub(crate) device_busy: BTreeMap<usize, Duration>,
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
            Event::StepBegan { step } => self.running.entry(*step).or_default().push(stamped.at),
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
        if let (Stage::Start | Stage::Finish, Some(device)) = (step.stage, step.device) {
            *self.device_busy.entry(device).or_default() += took;
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
        assert_eq!(folds.device_busy[&0], 2 * took);
    }
}
