//! What ran when: one row per step that is over, for a waterfall.

use cuzk_engine::Span;
use serde::Serialize;

/// The steps that the engine remembers, the oldest first.
#[derive(Debug, Serialize)]
pub(crate) struct TimelinePage {
    steps: Vec<TimelineStep>,
}

#[derive(Debug, Serialize)]
struct TimelineStep {
    stage: &'static str,
    circuit: Option<String>,
    job: Option<String>,
    partition: Option<usize>,
    device: Option<usize>,
    /// Seconds since the engine started.
    began_s: f64,
    took_s: f64,
}

impl TimelinePage {
    pub(crate) fn of(spans: &[Span]) -> Self {
        let steps = spans.iter().map(|span| TimelineStep {
            stage: span.step.stage.name(),
            circuit: span.step.circuit.map(|circuit| circuit.to_string()),
            job: span.step.job.map(|job| job.to_string()),
            partition: span.step.partition,
            device: span.step.device,
            began_s: span.began.as_secs_f64(),
            took_s: span.took.as_secs_f64(),
        });
        Self {
            steps: steps.collect(),
        }
    }
}
