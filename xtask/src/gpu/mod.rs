//! Machines with cards are rented by the minute and have no Rust: everything that one runs fits one small folder.
//!
//! The folder holds stripped programs with their kernels, compiled circuits if any are given, and a script that tests
//! and measures for at most ten minutes and writes what it finds as JSON.

mod peer;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Deserialize;

use crate::output;
use crate::steps::Steps;
use crate::workspace::{Workspace, stdout_of};

/// The script that runs on the machine with the card.
const SCRIPT: &str = include_str!("run.sh");

/// Largest folder: what is copied to a rented machine in seconds.
const MAX_BYTES: u64 = 60 << 20;

#[derive(Args)]
pub(crate) struct GpuArgs {
    /// The folder to fill [default: `gpu` below the target folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Architectures of the kernels, comma separated, such as 80,90,120; every one adds size and minutes
    #[arg(long, value_name = "LIST", default_value = "90")]
    archs: String,

    /// Build the programs that measure another library beside ours, too
    #[arg(long)]
    peer: bool,

    /// The compiler of those programs; that of the kernels is found by the crate's build script
    #[arg(
        long,
        env = "CUZK_NVCC",
        value_name = "PROGRAM",
        default_value = "nvcc"
    )]
    nvcc: PathBuf,

    /// A folder whose compiled circuits (`*.circuit`) go along, so that the machine need not compile them
    #[arg(long, value_name = "DIR")]
    circuits: Option<PathBuf>,
}

/// Builds the programs and fills the folder.
pub(crate) fn run(workspace: &Workspace, args: &GpuArgs) -> Result<()> {
    let out = match &args.out {
        Some(out) => out.clone(),
        None => workspace.target()?.join("gpu"),
    };
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut steps = Steps::default();
    let mut build = workspace.command(
        "cargo",
        &[
            "build",
            "--release",
            "-p",
            "cuzk",
            "--features",
            "cuzk/cuda",
        ],
    );
    build.env("CUZK_CUDA_ARCHS", &args.archs);
    // Records of the measurements name it.
    build.env("CUZK_COMMIT", commit(workspace)?);
    steps.command("cuzk", build)?;
    let mut messages = Vec::new();
    steps.check("tests", || {
        messages = build_tests(workspace, &args.archs)?;
        Ok(())
    })?;
    strip(&mut steps, workspace, &messages, &out)?;
    if args.peer {
        let place = (out.as_path(), messages.as_slice());
        peer::build(&mut steps, workspace, &args.nvcc, &args.archs, place)?;
    }
    steps.check("script and circuits", || {
        write_script(&out)?;
        copy_circuits(args.circuits.as_deref(), &out)
    })?;
    let bytes = folder_bytes(&out)?;
    output::line(format_args!(
        "{}: {:.1} MiB; on the machine with the card: ./run.sh OUT",
        out.display(),
        bytes as f64 / f64::from(1 << 20)
    ));
    ensure!(
        bytes <= MAX_BYTES,
        "{} takes {bytes} bytes, more than {MAX_BYTES}",
        out.display()
    );
    Ok(())
}

/// Strips the programs into the folder; `messages` are those of the build of the tests.
fn strip(steps: &mut Steps, workspace: &Workspace, messages: &[u8], out: &Path) -> Result<()> {
    let test = |target| {
        executable(messages, target).with_context(|| format!("cargo built no tests of {target}"))
    };
    let (conformance, lost) = (test("gpu_conformance")?, test("cuzk_cuda")?);
    let cuzk = workspace.target()?.join("release/cuzk");
    for (step, name, program) in [
        ("strip cuzk", "cuzk", &cuzk),
        ("strip gpu_conformance", "gpu_conformance", &conformance),
        ("strip gpu_loss", "gpu_loss", &lost),
    ] {
        steps.command(step, {
            let mut strip = workspace.command("strip", &["--strip-all", "-o"]);
            strip.arg(out.join(name)).arg(program);
            strip
        })?;
    }
    Ok(())
}

/// The commit that is built, marked where the files differ from it.
fn commit(workspace: &Workspace) -> Result<String> {
    let mut describe = workspace.command(
        "git",
        &[
            "describe",
            "--always",
            "--abbrev=12",
            "--dirty",
            "--exclude=*",
        ],
    );
    let commit = String::from_utf8(stdout_of(&mut describe)?)?;
    Ok(commit.trim().to_owned())
}

/// Builds the conformance tests and those of the crate itself, of which one makes the card fail; returns cargo's messages,
/// which tell where everything is.
fn build_tests(workspace: &Workspace, archs: &str) -> Result<Vec<u8>> {
    let mut build = workspace.command(
        "cargo",
        &[
            "test",
            "--release",
            "--no-run",
            "--message-format",
            "json-render-diagnostics",
            "-p",
            "cuzk-cuda",
            "--features",
            "cuzk-cuda/cuda",
            "--lib",
            "--test",
            "gpu_conformance",
        ],
    );
    build.env("CUZK_CUDA_ARCHS", archs);
    stdout_of(&mut build)
}

/// The executable that cargo's messages name for a target.
fn executable(messages: &[u8], target: &str) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Message {
        target: Target,
        executable: Option<PathBuf>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }
    messages
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Message>(line).ok())
        .filter(|message| message.target.name == target)
        .find_map(|message| message.executable)
}

fn write_script(out: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let path = out.join("run.sh");
    fs::write(&path, SCRIPT).with_context(|| format!("cannot write {}", path.display()))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", path.display()))
}

fn copy_circuits(from: Option<&Path>, out: &Path) -> Result<()> {
    let Some(from) = from else { return Ok(()) };
    let keys = out.join("keys");
    fs::create_dir_all(&keys).with_context(|| format!("cannot create {}", keys.display()))?;
    let entries = fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let path = entry?.path();
        let is_circuit = path.extension().is_some_and(|it| it == "circuit");
        if let Some(name) = path.file_name().filter(|_| is_circuit) {
            fs::copy(&path, keys.join(name))
                .with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() {
            folder_bytes(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_of_the_named_target_is_found_among_cargos_messages() {
        let messages = br#"{"reason":"compiler-artifact","target":{"name":"cuzk_cuda"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"gpu_conformance"},"executable":"/t/gpu_conformance-1f"}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(
            executable(messages, "gpu_conformance"),
            Some(PathBuf::from("/t/gpu_conformance-1f"))
        );
        assert_eq!(executable(messages, "cuzk_cuda"), None);
        assert_eq!(executable(b"", "gpu_conformance"), None);
    }

    /// The tests that the script runs under a sanitizer.
    const SMALL_INPUTS: &str =
        include_str!("../../../crates/cuzk-cuda/tests/gpu_conformance/small_inputs.rs");

    #[test]
    fn the_script_runs_every_test_of_small_inputs_and_no_other_under_the_sanitizer() {
        let listed: Vec<&str> = SCRIPT
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("gpu_small_"))
            .collect();
        let mut defined: Vec<&str> = SMALL_INPUTS
            .lines()
            .filter_map(|line| line.strip_prefix("fn ")?.strip_suffix("() {"))
            .filter(|name| name.starts_with("gpu_small_"))
            .collect();
        defined.sort_unstable();
        let mut sorted = listed.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, defined);
        assert!(!listed.is_empty());
    }

    /// Runs the script with programs that stand for those of the bundle; returns its exit code and its summary.
    fn run_script(conformance: &str) -> (Option<i32>, Vec<serde_json::Value>) {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        write_script(folder).expect("the script");
        for (name, text) in [
            ("cuzk", "#!/bin/sh\necho '{}'\n"),
            ("gpu_conformance", conformance),
            ("gpu_loss", "#!/bin/sh\n"),
            (
                "compute-sanitizer",
                "#!/bin/sh\necho '========= RACECHECK SUMMARY: 0 hazards displayed'\n",
            ),
        ] {
            let path = folder.join(name);
            fs::write(&path, text).expect("a program");
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .expect("an executable");
        }
        let run = std::process::Command::new("bash")
            .arg(folder.join("run.sh"))
            .arg(folder.join("out"))
            .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
            .output()
            .expect("bash");
        let summary = fs::read(folder.join("out/summary.json")).expect("a summary");
        let steps = serde_json::from_slice(&summary).expect("JSON");
        (run.status.code(), steps)
    }

    #[test]
    fn the_script_fails_with_a_step_and_sums_up_all_of_them_as_json() {
        let (code, steps) =
            run_script("#!/bin/sh\necho 'test result: \"FAILED\". 1 passed'\nexit 101\n");
        assert_eq!(code, Some(1));
        let step = |name: &str| {
            let mut all = steps.iter();
            all.find(|step| step["step"] == name).expect(name).clone()
        };
        assert_eq!(step("conformance")["exit_code"], 101);
        assert_eq!(
            step("conformance")["summary"],
            "test result: FAILED. 1 passed"
        );
        let race = step("racecheck-gpu_small_quotients_are_exact");
        assert_eq!(race["summary"], "RACECHECK SUMMARY: 0 hazards displayed");
        assert_eq!(step("winning")["exit_code"], 0);
    }

    #[test]
    fn the_script_succeeds_when_all_steps_do() {
        let (code, steps) = run_script("#!/bin/sh\n");
        assert_eq!(code, Some(0), "{steps:?}");
    }

    #[test]
    fn the_script_passes_the_shells_own_check() {
        let checked = std::process::Command::new("bash")
            .args(["-n", "-c", SCRIPT])
            .status();
        assert!(checked.is_ok_and(|status| status.success()));
    }
}
