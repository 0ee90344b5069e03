//! The cargo plugins that `ci` calls, with their versions in one place.

use std::process::Stdio;

use anyhow::Result;

use crate::output;
use crate::steps::Steps;
use crate::workspace::Workspace;

/// A plugin of cargo: `cargo NAME` runs the program `cargo-NAME`.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

/// Checks licences, sources and bans of the dependency graph.
pub(crate) const DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
};

/// Runs tests, one process each.
pub(crate) const NEXTEST: Tool = Tool {
    name: "cargo-nextest",
    version: "0.9.143",
};

impl Tool {
    /// Whether the program can be started.
    pub(crate) fn is_installed(&self) -> bool {
        let mut command = std::process::Command::new(self.name);
        command
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// The command line that installs the pinned version.
    pub(crate) fn install_line(&self) -> String {
        format!("cargo {}", self.install_args().join(" "))
    }

    // Unoptimized: a plugin runs for a second, and is built in a third of the time.
    fn install_args(&self) -> [String; 4] {
        [
            "install",
            "--locked",
            "--debug",
            &format!("{}@{}", self.name, self.version),
        ]
        .map(str::to_owned)
    }
}

/// Installs what is missing into cargo's own folder; what is there is left as it is.
pub(crate) fn install(workspace: &Workspace) -> Result<()> {
    let mut steps = Steps::default();
    for tool in [NEXTEST, DENY] {
        if tool.is_installed() {
            output::line(format_args!("{} is installed", tool.name));
            continue;
        }
        let args = tool.install_args();
        let mut command = workspace.command("cargo", &args.each_ref().map(String::as_str));
        command.env("CARGO_TARGET_DIR", workspace.root().join("target/tools"));
        steps.command(tool.name, command)?;
    }
    Ok(())
}
