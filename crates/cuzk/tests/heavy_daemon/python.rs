//! gRPC for Python, in the environment that `cargo xtask test` prepares, with stubs made from the published protocol file.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use super::daemon::Home;

/// The environment's folder below cargo's target folder; `cargo xtask test` makes it.
const ENVIRONMENT: &str = "python-client";

/// A Python with generated stubs.
pub(crate) struct Python {
    interpreter: PathBuf,
    stubs: PathBuf,
}

impl Python {
    /// Generates the stubs.
    pub(crate) fn new(home: &Home) -> Self {
        let binary = Path::new(env!("CARGO_BIN_EXE_cuzk"));
        let target = binary.ancestors().nth(2).expect("target/profile/binary");
        let interpreter = target.join(ENVIRONMENT).join("bin/python");
        assert!(
            interpreter.exists(),
            "{} is missing: `cargo xtask python` makes it (needs python3 and the network)",
            interpreter.display()
        );
        let stubs = home.path("stubs");
        std::fs::create_dir(&stubs).expect("a folder");
        let protocol = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuzk-proto/proto");
        let status = Command::new(&interpreter)
            .args([
                "-m",
                "grpc_tools.protoc",
                "cuzk/v1/proving_engine.proto",
                "-I",
            ])
            .arg(protocol)
            .arg(format!("--python_out={}", stubs.display()))
            .arg(format!("--grpc_python_out={}", stubs.display()))
            .status()
            .expect("Python runs");
        assert!(status.success(), "grpc_tools refuses the protocol file");
        Self { interpreter, stubs }
    }

    /// Runs a script of the folder `python` with a JSON value on its standard input; returns the one it prints.
    pub(crate) fn run(&self, script: &str, input: &Value) -> Value {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/heavy_daemon/python");
        let mut child = Command::new(&self.interpreter)
            .arg(scripts.join(script))
            .env("PYTHONPATH", &self.stubs)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python runs");
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin
            .write_all(input.to_string().as_bytes())
            .expect("it reads");
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{script} failed");
        serde_json::from_slice(&output.stdout).expect("it prints JSON")
    }
}
