//! The files under the rules: those that git tracks or would track.

use std::path::Path;

use anyhow::{Context, Result};

use crate::workspace::{Workspace, stdout_of};

/// A text file of the workspace.
pub(super) struct Source {
    /// Relative to the workspace root, with forward slashes.
    pub(super) path: String,
    pub(super) text: String,
}

/// What a file holds, as far as the rules differ.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Cuda,
    /// Markdown, manifests and scripts.
    Text,
}

impl Source {
    pub(super) fn language(&self) -> Language {
        match self.path.rsplit_once('.') {
            Some((_, "rs")) => Language::Rust,
            Some((_, "cu" | "cuh")) => Language::Cuda,
            _ => Language::Text,
        }
    }

    pub(super) fn is_code(&self) -> bool {
        self.language() != Language::Text
    }

    /// Lines with their number, counted from one.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }
}

/// Reads every text file that git tracks or would track, sorted by path. Lock files are left out: cargo writes them.
///
/// # Errors
/// Fails outside a git checkout, or when a listed file cannot be read.
pub(super) fn read_all(workspace: &Workspace) -> Result<Vec<Source>> {
    let mut list = workspace.command(
        "git",
        &[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ],
    );
    let listed = stdout_of(&mut list).context("tidy asks git which files belong to the project")?;
    let listed = String::from_utf8(listed).context("a file name is not UTF-8")?;
    let mut sources = Vec::new();
    for path in listed
        .split_terminator('\0')
        .filter(|path| !is_lock_file(path))
    {
        let full = workspace.root().join(path);
        // A deleted file stays listed until the deletion is committed.
        if !full.is_file() {
            continue;
        }
        let bytes = std::fs::read(&full).with_context(|| format!("cannot read {path}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            sources.push(Source {
                path: path.to_owned(),
                text,
            });
        }
    }
    sources.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(sources)
}

fn is_lock_file(path: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "lock")
}
