//! The daemon's interface is promised to clients that this project did not write, so a test needs one: gRPC for Python.
//!
//! Its packages are pinned in the test's `requirements.txt` and installed into a virtual environment below the target
//! folder, once per version of that file. Nothing outside the target folder changes.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::output;
use crate::steps::Steps;
use crate::workspace::Workspace;

/// What the environment holds, relative to the workspace root.
const REQUIREMENTS: &str = "crates/cuzk/tests/heavy_daemon/python/requirements.txt";

/// The environment's folder below the target folder; the test knows the same name.
const ENVIRONMENT: &str = "python-client";

/// Makes the environment where it is missing or holds other versions.
///
/// # Errors
/// Fails when python3 with venv and pip is missing, or when the packages cannot be fetched.
pub(crate) fn prepare(workspace: &Workspace) -> Result<()> {
    let wanted = fs::read_to_string(workspace.root().join(REQUIREMENTS))
        .with_context(|| format!("cannot read {REQUIREMENTS}"))?;
    let environment = workspace.target()?.join(ENVIRONMENT);
    let stamp = environment.join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        output::line(format_args!("{} is up to date", environment.display()));
        return Ok(());
    }
    let packages: Vec<&str> = wanted.lines().collect();
    output::line(format_args!(
        "installing {} into {}",
        packages.join(", "),
        environment.display()
    ));
    install(workspace, &environment)?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

fn install(workspace: &Workspace, environment: &Path) -> Result<()> {
    let mut steps = Steps::default();
    let mut make = workspace.command("python3", &["-m", "venv", "--clear"]);
    make.arg(environment);
    steps.command("python environment", make)?;
    let python = environment.join("bin/python");
    let mut install = workspace.command(&python.to_string_lossy(), &["-m", "pip", "install"]);
    install.args([
        "--quiet",
        "--disable-pip-version-check",
        "--requirement",
        REQUIREMENTS,
    ]);
    steps.command("python packages", install)
}
