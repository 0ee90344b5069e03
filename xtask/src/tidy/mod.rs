//! The rules of this project that no compiler checks.
//!
//! Each rule is a pure function from the files, or from the crate graph, to findings. A finding names a place and says
//! what to do there.

mod layers;
mod length;
mod names;
mod prose;
mod readmes;
mod sources;
mod unsafe_modules;

use std::fmt;

use anyhow::{Result, bail};

use crate::output;
use crate::workspace::Workspace;

/// One thing to mend.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// Relative to the workspace root.
    path: String,
    /// Counted from one.
    line: usize,
    /// What is wrong and what to do.
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Applies every rule and prints what it finds.
///
/// # Errors
/// Fails with the number of findings, or when files or the crate graph cannot be read.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let sources = sources::read_all(workspace)?;
    let packages = workspace.packages()?;
    let mut findings = Vec::new();
    for source in &sources {
        findings.extend(length::check(source));
        findings.extend(names::check(source));
        findings.extend(prose::check(source));
        findings.extend(unsafe_modules::check(source));
    }
    findings.extend(layers::check(&packages, workspace.root()));
    findings.extend(readmes::check(&packages, workspace.root(), &sources));
    findings.sort();
    for finding in &findings {
        output::line(finding);
    }
    if !findings.is_empty() {
        bail!(
            "tidy has {} findings in {} files",
            findings.len(),
            sources.len()
        );
    }
    output::line(format_args!(
        "{} files and {} crates are tidy",
        sources.len(),
        packages.len()
    ));
    Ok(())
}

/// What a rule says about a file with this content.
#[cfg(test)]
fn problems(
    rule: impl FnOnce(&sources::Source) -> Vec<Finding>,
    path: &str,
    text: &str,
) -> Vec<String> {
    let findings = rule(&sources::Source {
        path: path.to_owned(),
        text: text.to_owned(),
    });
    findings
        .into_iter()
        .map(|finding| finding.to_string())
        .collect()
}
