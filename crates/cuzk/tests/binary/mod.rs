//! Runs the built binary as a user would, with an environment that holds nothing but a home.

use std::{
    path::Path,
    process::{Command, Output},
};

/// One finished run.
#[derive(Debug)]
pub(crate) struct Run {
    /// Exit code; `None` when a signal ended the process.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Run {
    /// The one JSON value on standard output.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("no JSON on standard output: {error}\n{self:?}"))
    }

    /// This run, if it ended with `code`.
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
}

/// Runs `cuzk` with `home` as its home folder and these variables alone.
pub(crate) fn cuzk_with(home: &Path, variables: &[(&str, &str)], args: &[&str]) -> Run {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_cuzk"))
        .args(args)
        .env_clear()
        .env("HOME", home)
        .envs(variables.iter().copied())
        .current_dir(home)
        .output()
        .expect("the binary starts");
    Run {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs `cuzk` in an empty home folder that is gone afterwards.
pub(crate) fn cuzk(args: &[&str]) -> Run {
    let home = tempfile::tempdir().expect("a folder for the run");
    cuzk_with(home.path(), &[], args)
}
