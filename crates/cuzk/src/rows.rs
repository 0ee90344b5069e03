//! Progress of a pass over the rows of a circuit, whose number is known beforehand or not.

use crate::{output::Output, progress::Step, units};

/// A step that counts rows.
pub(crate) struct RowProgress {
    step: Step,
    what: String,
    expected: Option<u64>,
}

impl RowProgress {
    /// Begins a pass over about `expected` rows.
    pub(crate) fn start(what: String, expected: Option<usize>, output: &Output) -> Self {
        let expected = expected.map(|count| count as u64);
        let step = match expected {
            Some(expected) => output.bar(&what, expected),
            None => output.step(&what),
        };
        Self {
            step,
            what,
            expected,
        }
    }

    /// Sets how many rows are done.
    pub(crate) fn set(&self, rows: u64) {
        match self.expected {
            Some(expected) => self.step.set(rows, expected.max(rows)),
            None => self
                .step
                .rename(&format!("{}: {} rows", self.what, units::count(rows))),
        }
    }
}
