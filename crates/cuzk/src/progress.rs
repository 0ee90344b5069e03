//! A person at a terminal must see that a long step is alive; a log file or a script must not see
//! control characters. Bars and spinners go to standard error, vanish when their step ends, and
//! exist only when standard error is a terminal and neither `--json` nor `--quiet` was given.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often a spinner turns while its step reports nothing.
const TICK: Duration = Duration::from_millis(120);

/// All bars of one command.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    bars: MultiProgress,
    visible: bool,
}

impl Progress {
    /// Draws on standard error when `visible`, nowhere otherwise.
    pub(crate) fn new(visible: bool) -> Self {
        let target = if visible {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self {
            bars: MultiProgress::with_draw_target(target),
            visible,
        }
    }

    /// Whether anything is drawn.
    pub(crate) fn is_visible(&self) -> bool {
        self.visible
    }

    /// A step of unknown length.
    pub(crate) fn spinner(&self, what: &str) -> Step {
        let bar = self
            .bars
            .add(ProgressBar::new_spinner().with_message(what.to_owned()));
        bar.set_style(style("{spinner} {msg} [{elapsed}]"));
        self.begin(bar)
    }

    /// A step of `total` units.
    pub(crate) fn bar(&self, what: &str, total: u64) -> Step {
        let bar = self
            .bars
            .add(ProgressBar::new(total).with_message(what.to_owned()));
        bar.set_style(style(
            "{spinner} {msg} {wide_bar} {percent}% [{elapsed} < {eta}]",
        ));
        self.begin(bar)
    }

    /// Runs `write` with the bars out of the way.
    pub(crate) fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bars.suspend(write)
    }

    fn begin(&self, bar: ProgressBar) -> Step {
        if self.visible {
            bar.enable_steady_tick(TICK);
        }
        Step(bar)
    }
}

/// One running step; its line is erased when the value is dropped.
#[derive(Debug)]
pub(crate) struct Step(ProgressBar);

impl Step {
    /// Sets how many of `total` units are done; a total learned late replaces the first one.
    pub(crate) fn set(&self, done: u64, total: u64) {
        if self.0.length() != Some(total) {
            self.0.set_length(total);
        }
        self.0.set_position(done);
    }

    /// Says what the step does now.
    pub(crate) fn rename(&self, what: &str) {
        self.0.set_message(what.to_owned());
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates in this file are well formed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_step_keeps_its_numbers_and_draws_nothing() {
        let progress = Progress::new(false);
        assert!(!progress.is_visible());
        let step = progress.bar("points", 10);
        step.set(4, 20);
        assert_eq!(step.0.position(), 4);
        assert_eq!(step.0.length(), Some(20));
        assert!(step.0.is_hidden());
    }

    #[test]
    fn every_template_is_well_formed() {
        let progress = Progress::new(false);
        progress.spinner("sealing").rename("sealing more");
        progress.bar("proving", 3).set(1, 3);
    }
}
