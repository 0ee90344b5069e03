//! Everything that a change must pass, cheapest first.

use anyhow::{Result, ensure};
use clap::Args;

use crate::steps::Steps;
use crate::workspace::Workspace;
use crate::{test, tidy, tools};

#[derive(Args)]
pub(crate) struct CiArgs {
    /// Leave the tests out, where `cargo xtask test` has run them already
    #[arg(long)]
    skip_tests: bool,

    /// Check published advisories too; needs the network
    #[arg(long)]
    advisories: bool,
}

/// Runs the steps; the first failure ends the run.
pub(crate) fn run(workspace: &Workspace, args: &CiArgs) -> Result<()> {
    let mut steps = Steps::default();
    let outcome = run_steps(&mut steps, workspace, args);
    steps.print_times();
    outcome
}

fn run_steps(steps: &mut Steps, workspace: &Workspace, args: &CiArgs) -> Result<()> {
    steps.command(
        "format",
        workspace.command("cargo", &["fmt", "--all", "--check"]),
    )?;
    steps.check("tidy", || tidy::run(workspace))?;
    steps.check("cargo-deny is installed", || {
        ensure!(
            tools::DENY.is_installed(),
            "run `{}`",
            tools::DENY.install_line()
        );
        Ok(())
    })?;
    let mut deny = workspace.command("cargo", &["deny", "check", "licenses", "bans", "sources"]);
    if args.advisories {
        deny.arg("advisories");
    }
    steps.command("cargo-deny", deny)?;
    // The release profile: build scripts and macros are then those of the tests, not a second set.
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--release",
        "--",
        "-D",
        "warnings",
    ];
    steps.command("clippy", workspace.command("cargo", &clippy))?;
    // The host half of the card's crate; the kernels' bodies are compiled by its tests, which need no nvcc either.
    let clippy = [
        "clippy",
        "--package",
        "cuzk-cuda",
        "--package",
        "cuzk",
        "--features",
        "cuzk/cuda",
        "--all-targets",
        "--release",
        "--",
        "-D",
        "warnings",
    ];
    let mut clippy = workspace.command("cargo", &clippy);
    clippy.env("CUZK_CUDA_ARCHS", "none");
    steps.command("clippy with the feature cuda", clippy)?;
    let mut doc = workspace.command("cargo", &["doc", "--workspace", "--no-deps", "--release"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    steps.command("docs", doc)?;
    if !args.skip_tests {
        test::run_all(steps, workspace)?;
    }
    Ok(())
}
