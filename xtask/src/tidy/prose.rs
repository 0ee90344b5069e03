//! Text that outlives its occasion: reminders, history, banners, and places on somebody's machine.

use super::Finding;
use super::sources::{Language, Source};

/// Marks of work left undone. Spelled in halves, since this file is under its own rule.
const REMINDERS: [&str; 3] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
];

/// First parts of absolute paths that exist on one person's machine only.
const PERSONAL_FOLDERS: [&str; 4] = ["home", "root", "work", "Users"];

/// Words that a number makes into history.
const NUMBERED: [(&str, &str); 2] = [
    (
        "phase",
        "phases mean nothing to a later reader; name the step",
    ),
    (
        "issue",
        "say the fact itself; the tracker is not part of the source",
    ),
];

/// A run of these in a comment is a banner.
const RULERS: [char; 5] = ['=', '-', '*', '#', '~'];
const BANNER_LENGTH: usize = 4;

/// Finds lines that should not be kept.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in source.lines() {
        let problems = [
            reminder_problem(line),
            numbered_problem(line),
            personal_path_problem(line),
            banner_problem(source.language(), line),
        ];
        findings.extend(problems.into_iter().flatten().map(|message| Finding {
            path: source.path.clone(),
            line: number,
            message,
        }));
    }
    findings
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
}

fn reminder_problem(line: &str) -> Option<String> {
    let word = words(line).find(|word| REMINDERS.contains(word))?;
    Some(format!(
        "`{word}` is left in; do it now or file it where work is tracked"
    ))
}

fn numbered_problem(line: &str) -> Option<String> {
    let lower = line.to_ascii_lowercase();
    NUMBERED.iter().find_map(|(word, remedy)| {
        let rest = lower.split(word).skip(1);
        let mut starts = rest.map(|after| after.trim_start_matches('s'));
        let found = starts.any(|after| {
            let number = after.strip_prefix([' ', '-']).unwrap_or("");
            number
                .trim_start_matches('#')
                .starts_with(|digit: char| digit.is_ascii_digit())
        });
        found.then(|| format!("`{word}` with a number; {remedy}"))
    })
}

fn personal_path_problem(line: &str) -> Option<String> {
    PERSONAL_FOLDERS.iter().find_map(|folder| {
        let path = format!("/{folder}/");
        let found = line.match_indices(&path).any(|(at, _)| {
            !line[..at]
                .ends_with(|before: char| before.is_alphanumeric() || "._-}>)".contains(before))
        });
        found.then(|| {
            format!("`{path}` is a folder of one machine; use a relative path or a setting")
        })
    })
}

fn banner_problem(language: Language, line: &str) -> Option<String> {
    let comment = match language {
        Language::Rust | Language::Cuda => line.trim_start().strip_prefix("//")?,
        Language::Text => return None,
    };
    RULERS.iter().find_map(|ruler| {
        let run: String = ruler.to_string().repeat(BANNER_LENGTH);
        // A row of dashes between bars is a table in documentation.
        let is_table = comment.contains('|');
        (comment.contains(&run) && !is_table)
            .then(|| "a banner in a comment; a file that needs sections is two files".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        crate::tidy::problems(check, path, text)
    }

    #[test]
    fn reminders_are_found_in_code_and_prose() {
        for word in REMINDERS {
            let found = problems("docs/a.md", &format!("fine\nlater: {word}(me)\n"));
            assert_eq!(found.len(), 1, "{word}");
            assert!(found[0].starts_with("docs/a.md:2: "), "{}", found[0]);
            assert_eq!(problems("a.rs", &format!("let x = 1; // {word}")).len(), 1);
        }
    }

    #[test]
    fn numbered_steps_of_a_plan_are_found() {
        for (word, _) in NUMBERED {
            for text in [
                format!("as in {word} 3"),
                format!("{word}s 1 and 2"),
                format!("{word} #12"),
            ] {
                assert_eq!(problems("a.md", &text).len(), 1, "{text}");
            }
            assert!(problems("a.md", &format!("every {word} has 3 parts")).is_empty());
        }
    }

    #[test]
    fn a_folder_of_one_machine_is_found() {
        for folder in PERSONAL_FOLDERS {
            for before in ["", "cd ", "\"", "(", "`"] {
                let text = format!("{before}/{folder}/keys");
                assert_eq!(problems("run.sh", &text).len(), 1, "{text}");
            }
            assert!(problems("a.md", &format!("crates/{folder}/keys")).is_empty());
            assert!(problems("a.md", &format!("$HOME_DIR/{folder}/keys")).is_empty());
        }
    }

    #[test]
    fn banners_are_found_and_tables_are_not() {
        let ruler = "-".repeat(BANNER_LENGTH);
        assert_eq!(
            problems("a.rs", &format!("// {ruler} queries {ruler}")).len(),
            1
        );
        assert_eq!(problems("a.cu", &format!("//{}", "=".repeat(40))).len(), 1);
        assert!(problems("a.rs", &format!("/// |{ruler}|{ruler}|")).is_empty());
        assert!(problems("a.md", &format!("{ruler}\n")).is_empty());
        assert!(problems("a.rs", "// a -> b, twice --").is_empty());
    }
}
