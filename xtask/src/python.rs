//! Some of what this project is checked with comes as Python packages: a client that it did not write, a compiler.
//!
//! Each set is pinned in a file of requirements and installed into a virtual environment of its own below the target folder,
//! once per version of that file. Nothing outside the target folder changes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::output;
use crate::steps::Steps;
use crate::workspace::Workspace;

/// A set of packages.
pub(crate) struct Environment {
    /// The packages and their versions, a line each; relative to the workspace root.
    pub(crate) requirements: &'static str,
    /// The environment's folder below the target folder.
    pub(crate) folder: &'static str,
}

/// gRPC for Python, with which a test calls the daemon as other people's programs do; the test knows the folder's name.
pub(crate) const CLIENT: Environment = Environment {
    requirements: "crates/cuzk/tests/heavy_daemon/python/requirements.txt",
    folder: "python-client",
};

impl Environment {
    /// Makes the environment where it is missing or holds other versions; returns its folder.
    ///
    /// # Errors
    /// Fails when python3 with venv and pip is missing, or when the packages cannot be fetched.
    pub(crate) fn prepare(&self, workspace: &Workspace) -> Result<PathBuf> {
        let wanted = fs::read_to_string(workspace.root().join(self.requirements))
            .with_context(|| format!("cannot read {}", self.requirements))?;
        let folder = workspace.target()?.join(self.folder);
        let stamp = folder.join("requirements.txt");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            output::line(format_args!("{} is up to date", folder.display()));
            return Ok(folder);
        }
        let packages: Vec<&str> = wanted.lines().collect();
        output::line(format_args!(
            "installing {} into {}",
            packages.join(", "),
            folder.display()
        ));
        self.install(workspace, &folder)?;
        fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
        Ok(folder)
    }

    fn install(&self, workspace: &Workspace, folder: &Path) -> Result<()> {
        let mut steps = Steps::default();
        let mut make = workspace.command("python3", &["-m", "venv", "--clear"]);
        make.arg(folder);
        steps.command("python environment", make)?;
        let python = folder.join("bin/python");
        let mut install = workspace.command(&python.to_string_lossy(), &["-m", "pip", "install"]);
        install.args([
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
            self.requirements,
        ]);
        steps.command("python packages", install)
    }
}
