//! What cargo knows about this workspace: its root and its members' declared dependencies.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// The workspace that this program was built from.
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Finds the workspace of the current folder.
    pub(crate) fn load() -> Result<Self> {
        #[derive(Deserialize)]
        struct Located {
            root: PathBuf,
        }
        let mut locate = Command::new("cargo");
        locate.args(["locate-project", "--workspace", "--message-format", "json"]);
        let located: Located = serde_json::from_slice(&stdout_of(&mut locate)?)
            .context("`cargo locate-project` printed something else than JSON")?;
        let root = located
            .root
            .parent()
            .context("the workspace manifest has no folder")?
            .to_owned();
        Ok(Self { root })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A command that runs in the workspace root.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).args(args);
        command
    }

    /// Where cargo builds, which need not be below the root.
    pub(crate) fn target(&self) -> Result<PathBuf> {
        #[derive(Deserialize)]
        struct Built {
            target_directory: PathBuf,
        }
        let mut metadata =
            self.command("cargo", &["metadata", "--no-deps", "--format-version", "1"]);
        let built: Built = serde_json::from_slice(&stdout_of(&mut metadata)?)
            .context("`cargo metadata` printed an unknown form")?;
        Ok(built.target_directory)
    }

    /// The members and what they declare to depend on, without resolving the graph.
    pub(crate) fn packages(&self) -> Result<Vec<Package>> {
        let mut metadata =
            self.command("cargo", &["metadata", "--no-deps", "--format-version", "1"]);
        Metadata::parse(&stdout_of(&mut metadata)?)
    }
}

/// The part of `cargo metadata` that the checks read.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

impl Metadata {
    fn parse(json: &[u8]) -> Result<Vec<Package>> {
        let metadata: Self =
            serde_json::from_slice(json).context("`cargo metadata` printed an unknown form")?;
        Ok(metadata.packages)
    }
}

/// One workspace member.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One line of a member's dependency tables.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` for an ordinary dependency, else `"dev"` or `"build"`.
    pub(crate) kind: Option<String>,
}

impl Dependency {
    pub(crate) fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

/// Runs a command to its end and returns what it wrote to standard output.
///
/// # Errors
/// Fails when the command cannot start or exits with a failure; its standard error is part of the message.
pub(crate) fn stdout_of(command: &mut Command) -> Result<Vec<u8>> {
    let output = command
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?} failed with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output.stdout)
}
