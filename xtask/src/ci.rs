//! Everything that a change must pass, cheapest first.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use crate::steps::Steps;
use crate::workspace::Workspace;
use crate::{nvcc, test, tidy, tools};

/// One architecture finds what does not compile; each further one takes as long again.
const CHECKED_ARCHITECTURE: &str = "90";

#[derive(Args)]
pub(crate) struct CiArgs {
    /// Leave the tests out, where `cargo xtask test` has run them already
    #[arg(long)]
    skip_tests: bool,

    /// Leave the kernels out; the host half of their crate is checked all the same
    #[arg(long)]
    skip_kernels: bool,

    /// The compiler of the kernels [default: one of Python packages, installed below the target folder]
    #[arg(long, env = "CUZK_NVCC", value_name = "PROGRAM")]
    nvcc: Option<PathBuf>,

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
    with_feature_cuda(steps, workspace, args)?;
    let mut doc = workspace.command("cargo", &["doc", "--workspace", "--no-deps", "--release"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    steps.command("docs", doc)?;
    if !args.skip_tests {
        test::run_all(steps, workspace)?;
    }
    Ok(())
}

/// Compiles the kernels, which the crate's build script does, and checks what calls them.
fn with_feature_cuda(steps: &mut Steps, workspace: &Workspace, args: &CiArgs) -> Result<()> {
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
    if args.skip_kernels {
        clippy.env("CUZK_CUDA_ARCHS", "none");
        return steps.command("clippy with the feature cuda", clippy);
    }
    let mut nvcc = PathBuf::new();
    steps.check("compiler of the kernels", || {
        nvcc = nvcc::find(workspace, args.nvcc.as_deref())?;
        Ok(())
    })?;
    clippy.env("CUZK_NVCC", nvcc);
    clippy.env("CUZK_CUDA_ARCHS", CHECKED_ARCHITECTURE);
    steps.command("kernels, and clippy with the feature cuda", clippy)
}
