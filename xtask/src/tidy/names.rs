//! A name that says nothing gathers everything: no file, module or item is named after a drawer.
//!
//! The rule reads definitions, not uses, so that names of other people's crates pass.

use super::Finding;
use super::sources::Source;

/// Words that name a drawer instead of its content.
const DRAWERS: [&str; 8] = [
    "manager",
    "managers",
    "helper",
    "helpers",
    "util",
    "utils",
    "utilities",
    "common",
];

/// Verbs that do not say what a function does.
const EMPTY_VERBS: [&str; 2] = ["process", "handle"];

/// Filecoin counts the phases of sealing, so the crate that speaks of them may, too.
const COUNTS_PHASES: &str = "crates/cuzk-circuits/";

/// Keywords that are followed by the name they define. Local variables are left alone.
const DEFINING: [&str; 10] = [
    "fn",
    "struct",
    "enum",
    "union",
    "trait",
    "mod",
    "type",
    "const",
    "static",
    "macro_rules",
];

/// Finds file names and defined names that contain a banned word.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let mut findings: Vec<Finding> = path_problem(&source.path)
        .map(|problem| finding(source, 1, &problem))
        .into_iter()
        .collect();
    if source.is_code() {
        for (number, line) in source.lines() {
            let problems = definitions(&code_of(line))
                .into_iter()
                .filter_map(|(keyword, name)| {
                    name_problem(&name)
                        .or_else(|| verb_problem(&keyword, &name))
                        .or_else(|| phase_problem(&source.path, &name))
                });
            findings.extend(problems.map(|problem| finding(source, number, &problem)));
        }
    }
    findings
}

fn finding(source: &Source, line: usize, message: &str) -> Finding {
    Finding {
        path: source.path.clone(),
        line,
        message: message.to_owned(),
    }
}

fn path_problem(path: &str) -> Option<String> {
    path.split('/').find_map(|part| {
        let stem = part
            .split('.')
            .find(|piece| !piece.is_empty())
            .unwrap_or(part);
        name_problem(stem)
    })
}

fn name_problem(name: &str) -> Option<String> {
    let words = words_of(name);
    if let Some(word) = words.iter().find(|word| DRAWERS.contains(&word.as_str())) {
        return Some(format!(
            "`{name}` contains `{word}`; name it after what it holds or does"
        ));
    }
    if words.iter().any(|word| word == "v2") {
        return Some(format!(
            "`{name}` counts versions; a new path replaces the old one and takes its name"
        ));
    }
    None
}

fn phase_problem(path: &str, name: &str) -> Option<String> {
    let words = words_of(name);
    let mut pairs = words.iter().zip(words.iter().skip(1));
    let numbered = |word: &str| word.strip_prefix("phase").is_some_and(is_number);
    let counts = words.iter().any(|word| numbered(word))
        || pairs.any(|(word, next)| word == "phase" && is_number(next));
    (counts && !path.starts_with(COUNTS_PHASES))
        .then(|| format!("`{name}` counts phases; name the step after what it does"))
}

fn verb_problem(keyword: &str, name: &str) -> Option<String> {
    let words = words_of(name);
    let verb = words
        .first()
        .filter(|_| keyword == "fn" && words.len() > 1)?;
    EMPTY_VERBS
        .contains(&verb.as_str())
        .then(|| format!("`{name}` begins with `{verb}_`; begin with what it does to its argument"))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Splits `snake_case`, `kebab-case` and `CamelCase` into lower-case words.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous_is_lower = false;
    for letter in name.chars() {
        let starts_word = letter.is_ascii_uppercase() && previous_is_lower;
        previous_is_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        let is_separator = matches!(letter, '_' | '-' | ' ');
        if starts_word || is_separator {
            words.push(String::new());
        }
        if let (false, Some(word)) = (is_separator, words.last_mut()) {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The line without string literals and without its trailing comment.
fn code_of(line: &str) -> String {
    let mut code = String::new();
    let mut letters = line.chars().peekable();
    let mut in_string = false;
    while let Some(letter) = letters.next() {
        match (in_string, letter) {
            (true, '\\') => {
                letters.next();
            }
            (_, '"') => in_string = !in_string,
            (true, _) => {}
            (false, '/') if letters.peek() == Some(&'/') => break,
            (false, _) => code.push(letter),
        }
    }
    code
}

/// Pairs of a defining keyword and the name behind it.
fn definitions(code: &str) -> Vec<(String, String)> {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let tokens: Vec<&str> = code
        .split(|letter: char| !is_name(letter))
        .filter(|token| !token.is_empty())
        .collect();
    let pairs = tokens.iter().zip(tokens.iter().skip(1));
    pairs
        .filter(|(keyword, name)| DEFINING.contains(keyword) && !DEFINING.contains(name))
        .map(|(keyword, name)| ((*keyword).to_owned(), (*name).to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        crate::tidy::problems(check, path, text)
    }

    #[test]
    fn an_empty_file_with_a_plain_name_passes() {
        assert!(problems("src/key/header.rs", "").is_empty());
    }

    #[test]
    fn files_and_folders_named_after_drawers_are_found() {
        for path in [
            "src/utils.rs",
            "src/common/mod.rs",
            "docs/key-helpers.md",
            "src/ntt_v2.rs",
        ] {
            assert_eq!(problems(path, "").len(), 1, "{path}");
        }
    }

    #[test]
    fn definitions_of_every_kind_are_read() {
        for bad in [
            "pub(crate) struct KeyManager;",
            "mod test_helpers;",
            "pub static common: u8 = 1;",
            "const UTILS: u8 = 1;",
            "trait ProveV2 {}",
            "fn phase1() {}",
            "fn run_phase_2() {}",
            "pub async fn process_block(x: u8) {}",
            "fn handle_request() {}",
        ] {
            let found = problems("a.rs", &format!("\n{bad}\n"));
            assert_eq!(found.len(), 1, "{bad}");
            assert!(found[0].starts_with("a.rs:2: "), "{}", found[0]);
        }
    }

    #[test]
    fn uses_strings_and_comments_are_not_definitions() {
        for good in [
            "let out = seal_commit_phase1(a)?;",
            "use upstream::utils::helper;",
            "let text = \"fn process_block\";",
            "let mut common = 1;",
            "// fn handle_request is theirs",
            "fn processor(handle: u8) {}",
            "fn uncommon() {}",
        ] {
            assert_eq!(problems("a.rs", good), Vec::<String>::new(), "{good}");
        }
    }

    #[test]
    fn the_crate_of_sealing_may_count_its_phases() {
        let text = "const PHASE1_OUT: &str = \"Phase1Out\";";
        assert!(problems("crates/cuzk-circuits/src/decode.rs", text).is_empty());
        assert_eq!(problems("crates/cuzk/src/decode.rs", text).len(), 1);
    }

    #[test]
    fn names_split_at_case_and_underscore() {
        assert_eq!(words_of("KeyManager"), ["key", "manager"]);
        assert_eq!(words_of("MAX_LINES"), ["max", "lines"]);
        assert_eq!(words_of("run_phase_2"), ["run", "phase", "2"]);
        assert_eq!(words_of("ProveV2"), ["prove", "v2"]);
    }
}
