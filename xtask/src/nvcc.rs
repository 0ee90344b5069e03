//! Only NVIDIA's compiler finds what is wrong in a kernel, and few machines that build this project have a toolkit. The compiler
//! alone comes as Python packages, without a driver and without a card.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::python::Environment;
use crate::workspace::Workspace;

/// The environment that holds the compiler.
const ENVIRONMENT: Environment = Environment {
    requirements: "crates/cuzk-cuda/nvcc-requirements.txt",
    folder: "nvcc",
};

/// Where a package puts the compiler, below the folder of all packages.
const IN_PACKAGES: &str = "nvidia/cu13/bin/nvcc";

/// The compiler that was named, else one below the target folder, which is installed where it is missing.
///
/// # Errors
/// Fails when python3 with venv and pip is missing, or when the packages cannot be fetched.
pub(crate) fn find(workspace: &Workspace, named: Option<&Path>) -> Result<PathBuf> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let folder = ENVIRONMENT.prepare(workspace).context(
        "no compiler for the kernels: without the network, name one with CUZK_NVCC, or leave the kernels out with \
         `cargo xtask ci --skip-kernels`",
    )?;
    in_environment(&folder)
}

fn in_environment(folder: &Path) -> Result<PathBuf> {
    let lib = folder.join("lib");
    let pythons = fs::read_dir(&lib).with_context(|| format!("cannot read {}", lib.display()))?;
    pythons
        .filter_map(|entry| Some(entry.ok()?.path().join("site-packages").join(IN_PACKAGES)))
        .find(|nvcc| nvcc.is_file())
        .with_context(|| format!("{} holds no {IN_PACKAGES}", lib.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_found_whatever_the_version_of_python() {
        let environment = tempfile::tempdir().expect("a folder");
        let lib = environment.path().join("lib");
        fs::create_dir_all(&lib).expect("a folder");
        let missing = in_environment(environment.path()).expect_err("there is none");
        assert!(missing.to_string().contains("bin/nvcc"), "{missing}");
        let nvcc = lib.join("python3.99/site-packages").join(IN_PACKAGES);
        fs::create_dir_all(nvcc.parent().expect("a folder")).expect("a folder");
        fs::write(&nvcc, "").expect("a file");
        assert_eq!(in_environment(environment.path()).expect("found"), nvcc);
    }
}
