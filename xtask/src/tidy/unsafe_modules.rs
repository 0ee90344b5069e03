//! A new opt-in to unsafe code is a decision that a reviewer should see in this list, not find in a diff.

use super::Finding;
use super::sources::{Language, Source};

/// Modules that may hold unsafe code: files, or folders with a slash at the end.
const ALLOWED: [&str; 4] = [
    // Foreign functions of blst over coordinates, vector instructions, prefetches; see docs/adr/0004.
    "crates/cuzk-groth16/src/field/",
    // The mapped key file.
    "crates/cuzk-groth16/src/key/mapped.rs",
    // One setting of the C allocator.
    "crates/cuzk/src/allocation.rs",
    // Launches, device memory and pinned memory.
    "crates/cuzk-cuda/",
];

/// The lint, spelled in halves, since this file is under its own rule.
const OPT_IN: &str = concat!("(unsafe", "_code");

/// Finds opt-ins to unsafe code outside the list.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let allowed = ALLOWED.iter().any(|module| source.path.starts_with(module));
    if allowed || source.language() != Language::Rust {
        return Vec::new();
    }
    let lines = source.lines().filter(|(_, line)| line.contains(OPT_IN));
    lines
        .map(|(number, _)| Finding {
            path: source.path.clone(),
            line: number,
            message:
                "unsafe code outside the modules of xtask/src/tidy/unsafe_modules.rs; move it there"
                    .to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str) -> Vec<Finding> {
        let text = format!("//! Reads.\n#![allow{OPT_IN}, reason = \"reads\")]\n");
        check(&Source {
            path: path.to_owned(),
            text,
        })
    }

    #[test]
    fn an_opt_in_outside_the_list_is_found_with_its_line() {
        assert_eq!(findings("crates/cuzk/src/main.rs")[0].line, 2);
        assert_eq!(findings("crates/cuzk-groth16/src/verify.rs").len(), 1);
    }

    #[test]
    fn an_opt_in_of_a_listed_module_passes() {
        for module in ALLOWED {
            let path = if module.ends_with('/') {
                format!("{module}x.rs")
            } else {
                module.to_owned()
            };
            assert_eq!(findings(&path), []);
        }
    }
}
