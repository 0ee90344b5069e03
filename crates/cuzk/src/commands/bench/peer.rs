//! Another library's times on the same card, from a program of its own: its kernels have no place in ours.

use std::{path::Path, process::Command};

use cuzk_cuda::{BenchPlan, TimeLine};
use serde::{Deserialize, Serialize};

use crate::exit::{ExitClass, OrExit as _, failure};

/// One line of the program.
#[derive(Debug, Deserialize)]
struct Line {
    operation: String,
    log_size: u32,
    ms: f64,
}

/// The time of another library's operation, and ours over it.
#[derive(Debug, Serialize)]
pub(super) struct PeerTime {
    pub(super) operation: String,
    pub(super) log_size: u32,
    pub(super) ms: f64,
    /// Our time over the peer's, where we measured the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ours_over_peer: Option<f64>,
}

/// Refuses a program that is no file, before anything is measured. A bare name is one of this folder.
///
/// # Errors
/// Resource, with its path.
pub(super) fn find_peer(program: &Path) -> anyhow::Result<()> {
    let metadata = std::fs::metadata(program);
    let found = metadata.or_exit(ExitClass::Resource, || {
        format!("--peer {}", program.display())
    })?;
    if found.is_file() {
        return Ok(());
    }
    Err(failure(
        ExitClass::Resource,
        format!("--peer {}: not a file", program.display()),
    ))
}

/// Runs `PROGRAM CARD SMALLEST LARGEST`, which prints one JSON object a line: operation, `log_size`, ms.
///
/// # Errors
/// Resource, when the program cannot be run or fails; invalid input, when it prints something else.
pub(super) fn run_peer(
    program: &Path,
    ordinal: usize,
    plan: BenchPlan,
    ours: &[TimeLine],
) -> anyhow::Result<Vec<PeerTime>> {
    let numbers = [
        ordinal.to_string(),
        plan.smallest.to_string(),
        plan.largest.to_string(),
    ];
    let output = std::path::absolute(program)
        .and_then(|program| Command::new(program).args(numbers).output())
        .or_exit(ExitClass::Resource, || {
            format!("running {}", program.display())
        })?;
    if !output.status.success() {
        return Err(failure(
            ExitClass::Resource,
            format!(
                "{} failed with {}: {}",
                program.display(),
                output.status,
                String::from_utf8_lossy(&output.stderr).trim()
            ),
        ));
    }
    parse(&String::from_utf8_lossy(&output.stdout), ours).or_exit(ExitClass::InvalidInput, || {
        format!("reading what {} printed", program.display())
    })
}

fn parse(text: &str, ours: &[TimeLine]) -> serde_json::Result<Vec<PeerTime>> {
    text.lines()
        .map(|line| {
            let Line {
                operation,
                log_size,
                ms,
            } = serde_json::from_str(line)?;
            let own = ours
                .iter()
                .find(|own| own.operation == operation && own.log_size == log_size);
            Ok(PeerTime {
                ours_over_peer: own.map(|own| own.ms / ms),
                operation,
                log_size,
                ms,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> [TimeLine; 1] {
        [TimeLine {
            operation: "multiexp g1",
            log_size: 20,
            width: Some(15),
            ms: 5.0,
            floor_ms: 4.0,
            ratio: 1.25,
            stages_ms: None,
        }]
    }

    #[test]
    fn a_peer_is_compared_where_both_measured_the_same() {
        let text = r#"{"operation": "multiexp g1", "log_size": 20, "ms": 20.0}
{"operation": "multiexp g1", "log_size": 21, "ms": 30.0}
"#;
        let peer = parse(text, &ours()).expect("two lines");
        assert_eq!(peer[0].ours_over_peer, Some(0.25));
        assert_eq!(peer[1].ours_over_peer, None);
    }

    #[test]
    fn a_program_that_is_not_there_is_found_missing_without_running_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = find_peer(&folder.path().join("peer")).expect_err("nothing there");
        assert!(
            format!("{missing:#}").contains("No such file"),
            "{missing:#}"
        );
        let folder = find_peer(folder.path()).expect_err("a folder");
        assert!(folder.to_string().ends_with("not a file"), "{folder}");
    }

    #[test]
    fn other_output_is_refused() {
        assert!(parse("CUDA error", &ours()).is_err());
        assert!(parse("", &ours()).expect("nothing").is_empty());
    }
}
