//! Runs every test of the workspace: documentation examples, then all others.
//!
//! Tests prove real circuits, so they are built in the release profile. With `cargo nextest` each test is a process of its
//! own and the groups of `.config/nextest.toml` keep the heavy ones apart; without it `cargo test` runs the same tests.
//! The daemon is also asked by a client in Python, whose packages are installed first, below the target folder.

use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::output;
use crate::python;
use crate::steps::Steps;
use crate::tools;
use crate::workspace::Workspace;

#[derive(Args)]
pub(crate) struct TestArgs {
    /// Build without optimizations: quick to compile, but tests that prove take minutes
    #[arg(long)]
    debug: bool,

    /// Passed to the test runner, for instance `-- -p cuzk-r1cs density`
    #[arg(last = true)]
    runner_args: Vec<String>,
}

/// Runs doc tests and tests; with arguments for the runner, the tests alone.
pub(crate) fn run(workspace: &Workspace, args: &TestArgs) -> Result<()> {
    let mut steps = Steps::default();
    add_steps(&mut steps, workspace, args)?;
    Ok(())
}

/// The steps of a full test run, for `ci`.
pub(crate) fn run_all(steps: &mut Steps, workspace: &Workspace) -> Result<()> {
    add_steps(
        steps,
        workspace,
        &TestArgs {
            debug: false,
            runner_args: Vec::new(),
        },
    )
}

fn add_steps(steps: &mut Steps, workspace: &Workspace, args: &TestArgs) -> Result<()> {
    if args.runner_args.is_empty() {
        steps.check("python client", || {
            python::CLIENT.prepare(workspace).map(drop)
        })?;
        let doc = workspace.command("cargo", &["test", "--workspace", "--doc", "--quiet"]);
        steps.command("doc tests", with_profile(doc, args))?;
    }
    let runner = if tools::NEXTEST.is_installed() {
        workspace.command("cargo", &["nextest", "run"])
    } else {
        output::line(format_args!(
            "cargo-nextest is not installed: tests run through `cargo test`; `{}` installs it",
            tools::NEXTEST.install_line()
        ));
        workspace.command("cargo", &["test", "--lib", "--bins", "--tests"])
    };
    let mut runner = with_profile(runner, args);
    if args.runner_args.is_empty() {
        runner.arg("--workspace");
    }
    runner.args(&args.runner_args);
    steps.command("tests", runner)
}

fn with_profile(mut command: Command, args: &TestArgs) -> Command {
    if !args.debug {
        command.arg("--release");
    }
    command
}
