//! A file that cannot be read in one sitting holds more than one idea.

use super::Finding;
use super::sources::Source;

const MAX_LINES: usize = 600;

/// Finds code files above the limit.
pub(super) fn check(source: &Source) -> Option<Finding> {
    let count = source.text.lines().count();
    (source.is_code() && count > MAX_LINES).then(|| Finding {
        path: source.path.clone(),
        line: MAX_LINES + 1,
        message: format!(
            "{count} lines, at most {MAX_LINES}; split the file by idea into a folder of modules"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, lines: usize) -> Source {
        Source {
            path: path.to_owned(),
            text: "line\n".repeat(lines),
        }
    }

    #[test]
    fn a_file_of_exactly_the_limit_passes() {
        assert_eq!(check(&source("a.rs", MAX_LINES)), None);
    }

    #[test]
    fn a_code_file_above_the_limit_is_found() {
        for path in ["a.rs", "kernel.cu", "kernel.cuh"] {
            let finding = check(&source(path, MAX_LINES + 1)).expect("one line too many");
            assert_eq!(finding.line, MAX_LINES + 1);
            assert!(
                finding.message.starts_with("601 lines"),
                "{}",
                finding.message
            );
        }
    }

    #[test]
    fn prose_may_be_long() {
        assert_eq!(check(&source("docs/a.md", MAX_LINES + 1)), None);
    }
}
