//! Every crate says on one screen what it is, and its documentation begins with that text.

use std::path::Path;

use super::Finding;
use super::sources::Source;
use crate::workspace::Package;

/// What fits on one screen.
const MAX_LINES: usize = 60;

/// How a library takes its README as its documentation.
const INCLUDE: &str = "include_str!(\"../README.md\")";

/// Finds crates without a README, with one that has no title or is too long, or whose library does not include it.
pub(super) fn check(packages: &[Package], root: &Path, sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let folder = package.manifest_path.parent().unwrap_or(root);
        let folder = folder
            .strip_prefix(root)
            .unwrap_or(folder)
            .to_string_lossy()
            .into_owned();
        let text = |path: &str| {
            sources
                .iter()
                .find(|source| source.path == path)
                .map(|source| source.text.as_str())
        };
        findings.extend(readme_problem(&format!("{folder}/README.md"), text));
        findings.extend(library_problem(&format!("{folder}/src/lib.rs"), text));
    }
    findings.extend(readme_problem("README.md", |path| {
        sources
            .iter()
            .find(|source| source.path == path)
            .map(|source| source.text.as_str())
    }));
    findings
}

fn readme_problem<'a>(path: &str, text: impl Fn(&str) -> Option<&'a str>) -> Option<Finding> {
    let finding = |line, message: String| {
        Some(Finding {
            path: path.to_owned(),
            line,
            message,
        })
    };
    let Some(text) = text(path) else {
        return finding(
            1,
            "missing; say on one screen what this is and what it is not".to_owned(),
        );
    };
    if !text.starts_with("# ") {
        return finding(
            1,
            "the first line is no title; begin with `# name`".to_owned(),
        );
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        let message = format!("{lines} lines, at most {MAX_LINES}; move the details to docs/");
        return finding(MAX_LINES + 1, message);
    }
    None
}

fn library_problem<'a>(path: &str, text: impl Fn(&str) -> Option<&'a str>) -> Option<Finding> {
    let library = text(path)?;
    (!library.contains(INCLUDE)).then(|| Finding {
        path: path.to_owned(),
        line: 1,
        message: format!("the README is not its documentation; begin with `#![doc = {INCLUDE}]`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let package = Package {
            name: "a".to_owned(),
            manifest_path: "crates/a/Cargo.toml".into(),
            dependencies: Vec::new(),
        };
        let mut sources = vec![Source {
            path: "README.md".to_owned(),
            text: "# all".to_owned(),
        }];
        sources.extend(files.iter().map(|(path, text)| Source {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        }));
        let findings = check(&[package], Path::new(""), &sources);
        findings
            .into_iter()
            .map(|finding| finding.to_string())
            .collect()
    }

    #[test]
    fn a_library_that_includes_its_readme_passes() {
        let library = format!("#![doc = {INCLUDE}]\n");
        let files = [
            ("crates/a/README.md", "# a\n"),
            ("crates/a/src/lib.rs", library.as_str()),
        ];
        assert_eq!(messages(&files), Vec::<String>::new());
    }

    #[test]
    fn a_missing_untitled_or_long_readme_is_found() {
        assert!(messages(&[])[0].contains("missing"));
        assert!(messages(&[("crates/a/README.md", "")])[0].contains("no title"));
        let long = format!("# a\n{}", "line\n".repeat(MAX_LINES));
        assert!(messages(&[("crates/a/README.md", &long)])[0].contains("61 lines"));
    }

    #[test]
    fn a_library_without_its_readme_is_found() {
        let files = [
            ("crates/a/README.md", "# a\n"),
            ("crates/a/src/lib.rs", "//! Other words.\n"),
        ];
        assert!(messages(&files)[0].contains("is not its documentation"));
    }
}
