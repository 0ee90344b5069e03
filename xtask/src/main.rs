//! Every command that a contributor or the build server runs, defined once.
//!
//! Shell scripts drift apart from what people type. Here `test`, `ci` and `tidy` are one program: the build server calls
//! the same commands as the README.

mod ci;
mod gpu;
mod nvcc;
mod output;
mod python;
mod steps;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The workspace's own commands", version)]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run every test of the workspace
    Test(test::TestArgs),
    /// Run everything that a change must pass
    Ci(ci::CiArgs),
    /// Check what no compiler checks: file lengths, layers, READMEs, words, unsafe modules
    Tidy,
    /// Prepare the Python client that tests of the daemon use, below the target folder
    Python,
    /// Build what a machine with an NVIDIA card and without Rust needs, into one folder
    Gpu(gpu::GpuArgs),
    /// Install the pinned cargo plugins that `ci` calls, where they are missing
    Tools,
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::line(format_args!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    let workspace = Workspace::load()?;
    match task {
        Task::Test(args) => test::run(&workspace, &args),
        Task::Ci(args) => ci::run(&workspace, &args),
        Task::Tidy => tidy::run(&workspace),
        Task::Gpu(args) => gpu::run(&workspace, &args),
        Task::Python => python::CLIENT.prepare(&workspace).map(drop),
        Task::Tools => tools::install(&workspace),
    }
}
