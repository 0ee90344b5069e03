//! Programs that measure another library's kernels on the same card, for `cuzk bench kernels --peer`.
//!
//! The library is header-only and comes as a dependency of ours; its host half calls blst, which cargo has built.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::steps::Steps;
use crate::workspace::{Workspace, stdout_of};

const SOURCE: &str = "crates/cuzk-cuda/peer/sppark.cu";

/// Programs and what tells them apart when they are compiled.
const PROGRAMS: [(&str, &str); 2] = [("sppark_g1", "-DPEER_G1"), ("sppark_g2", "-DPEER_G2")];

/// Where the dependencies of the programs are.
struct Sources {
    sppark: PathBuf,
    blst: PathBuf,
    /// The folder of `libblst.a`.
    blst_built: PathBuf,
}

/// Compiles the programs into `out`; `messages` are those of a build that had blst in it.
pub(super) fn build(
    steps: &mut Steps,
    workspace: &Workspace,
    nvcc: &Path,
    archs: &str,
    (out, messages): (&Path, &[u8]),
) -> Result<()> {
    let sources = Sources {
        sppark: source_folder(workspace, "sppark")?,
        blst: source_folder(workspace, "blst")?,
        blst_built: built_folder(messages, "blst").context("cargo built no blst")?,
    };
    for (name, group) in PROGRAMS {
        let mut command = Command::new(nvcc);
        command.current_dir(workspace.root());
        // The host half is blst's, in the form for processors with ADX. Unused functions are the library's.
        command
            .args(["-std=c++17", "-O3", "-DFEATURE_BLS12_381", "-D__ADX__"])
            .args([group, "-cudart", "static", "-diag-suppress", "177"])
            .arg(format!("-I{}", sources.sppark.join("sppark").display()))
            .arg(format!("-I{}", sources.blst.join("blst/src").display()));
        for arch in archs.split(',') {
            command
                .arg("-gencode")
                .arg(format!("arch=compute_{arch},code=sm_{arch}"));
        }
        // A toolkit from wheels keeps the runtime where nvcc does not look.
        if let Some(library) = nvcc.parent().map(|folder| folder.join("../lib"))
            && library.join("libcudart_static.a").is_file()
        {
            command.arg(format!("-L{}", library.display()));
        }
        command
            .arg(SOURCE)
            .arg(sources.blst_built.join("libblst.a"))
            .arg("-o")
            .arg(out.join(name));
        steps.command(name, command)?;
    }
    Ok(())
}

/// The folder of a dependency's sources.
fn source_folder(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        manifest_path: PathBuf,
    }
    // The library is a dependency of a feature.
    let args = ["metadata", "--format-version", "1", "--all-features"];
    let mut command = workspace.command("cargo", &args);
    let metadata: Metadata = serde_json::from_slice(&stdout_of(&mut command)?)
        .context("`cargo metadata` printed an unknown form")?;
    metadata
        .packages
        .iter()
        .find(|package| package.name == name)
        .and_then(|package| Some(package.manifest_path.parent()?.to_owned()))
        .with_context(|| format!("{name} is no dependency"))
}

/// The folder into which a dependency's build script wrote.
fn built_folder(messages: &[u8], name: &str) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Message {
        package_id: String,
        out_dir: PathBuf,
    }
    let of_package = format!("#{name}@");
    messages
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Message>(line).ok())
        .find(|message| message.package_id.contains(&of_package))
        .map(|message| message.out_dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_build_script_is_found_by_the_packages_name() {
        let messages = br#"{"reason":"build-script-executed","package_id":"registry+https://x#blst-sys@1.0.0","out_dir":"/t/other"}
{"reason":"build-script-executed","package_id":"registry+https://x#blst@0.3.17","out_dir":"/t/blst-1/out"}
"#;
        assert_eq!(
            built_folder(messages, "blst"),
            Some(PathBuf::from("/t/blst-1/out"))
        );
        assert_eq!(built_folder(messages, "sppark"), None);
    }
}
