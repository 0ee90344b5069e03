//! When had a device nothing to do? From the steps that an engine remembers.

use std::time::Duration;

use cuzk_engine::{Span, Stage};

/// Times in which a device was idle between its first and its last step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Gaps {
    pub(super) count: usize,
    pub(super) total: Duration,
    pub(super) longest: Duration,
}

impl Gaps {
    /// Of one device, among steps of any; overlapping steps are one.
    pub(super) fn of(spans: &[Span], device: usize) -> Self {
        let mut busy: Vec<(Duration, Duration)> = spans
            .iter()
            .filter(|span| span.step.device == Some(device))
            .filter(|span| matches!(span.step.stage, Stage::Start | Stage::Finish))
            .map(|span| (span.began, span.began + span.took))
            .collect();
        busy.sort_unstable();
        let mut gaps = Self::default();
        let mut busy_until: Option<Duration> = None;
        for (began, ended) in busy {
            if let Some(idle) = busy_until.and_then(|until| began.checked_sub(until))
                && !idle.is_zero()
            {
                gaps.count += 1;
                gaps.total += idle;
                gaps.longest = gaps.longest.max(idle);
            }
            busy_until = busy_until.max(Some(ended));
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use cuzk_engine::Step;

    use super::*;

    fn span(stage: Stage, device: usize, began_ms: u64, ended_ms: u64) -> Span {
        Span {
            step: Step {
                stage,
                circuit: None,
                job: None,
                partition: Some(0),
                device: Some(device),
            },
            began: Duration::from_millis(began_ms),
            took: Duration::from_millis(ended_ms - began_ms),
        }
    }

    #[test]
    fn steps_that_overlap_leave_no_gap_and_other_devices_do_not_count() {
        let spans = [
            span(Stage::Start, 0, 0, 10),
            // It ends long after the next one does.
            span(Stage::Finish, 0, 8, 40),
            span(Stage::Start, 0, 10, 20),
            span(Stage::Start, 0, 45, 50),
            span(Stage::Start, 0, 52, 60),
            span(Stage::Load, 0, 40, 45),
            span(Stage::Start, 1, 40, 45),
        ];
        let expected = Gaps {
            count: 2,
            total: Duration::from_millis(7),
            longest: Duration::from_millis(5),
        };
        assert_eq!(Gaps::of(&spans, 0), expected);
        assert_eq!(Gaps::of(&spans, 2), Gaps::default());
    }
}
