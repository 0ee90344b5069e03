//! A check of half an hour must say where its time went and how to repeat the part that failed.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::output;

/// Steps that run one after the other; the first failure ends the run.
#[derive(Default)]
pub(crate) struct Steps {
    finished: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// Runs a program with its output passed through.
    ///
    /// # Errors
    /// Fails with the command line when it cannot start or exits with a failure.
    pub(crate) fn command(&mut self, name: &'static str, mut command: Command) -> Result<()> {
        self.check(name, || {
            let line = command_line(&command);
            let status = command
                .status()
                .with_context(|| format!("cannot run `{line}`"))?;
            if status.success() {
                Ok(())
            } else {
                bail!("`{line}` failed with {status}")
            }
        })
    }

    /// Runs a check of this program.
    ///
    /// # Errors
    /// Passes the check's failure on, with the step's name.
    pub(crate) fn check(
        &mut self,
        name: &'static str,
        check: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        output::line(format_args!("── {name}"));
        let start = Instant::now();
        let outcome = check();
        let elapsed = start.elapsed();
        let word = if outcome.is_ok() { "ok" } else { "failed" };
        output::line(format_args!(
            "── {name}: {word} in {:.1} s",
            elapsed.as_secs_f64()
        ));
        self.finished.push((name, elapsed));
        outcome.with_context(|| format!("step `{name}` failed"))
    }

    /// Prints one line per finished step with its time.
    pub(crate) fn print_times(&self) {
        for (name, elapsed) in &self.finished {
            output::line(format_args!("{:>8.1} s  {name}", elapsed.as_secs_f64()));
        }
        let total: Duration = self.finished.iter().map(|(_, elapsed)| *elapsed).sum();
        output::line(format_args!("{:>8.1} s  in all", total.as_secs_f64()));
    }
}

/// The command as one would type it.
fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_named_with_its_arguments() {
        let mut command = Command::new("cargo");
        command.args(["--no-such-option", "x"]);
        let error = Steps::default()
            .command("broken", command)
            .expect_err("cargo refuses the option");
        let text = format!("{error:#}");
        assert!(text.contains("step `broken` failed"), "{text}");
        assert!(text.contains("`cargo --no-such-option x` failed"), "{text}");
    }

    #[test]
    fn a_step_is_timed_whether_it_fails_or_not() {
        let mut steps = Steps::default();
        steps.check("good", || Ok(())).expect("the check succeeds");
        steps
            .check("bad", || bail!("no"))
            .expect_err("the check fails");
        let names: Vec<_> = steps.finished.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["good", "bad"]);
    }
}
