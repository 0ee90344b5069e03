//! The example file and the reference page, made from the table of settings.

use std::fmt::Write as _;

use super::{SETTINGS, Setting, catalog::DefaultValue};

/// A configuration file in which every setting stands as a comment with its default.
pub(crate) fn example() -> String {
    let mut page = String::from(
        "# Configuration of `cuzk serve`. Every setting stands here with its default; remove the mark before a line to\n\
         # change it. Variables (CUZK_SECTION_NAME) win over this file, options win over variables.\n",
    );
    let mut last_section = "";
    for setting in SETTINGS {
        let (section, name) = setting.section_and_name();
        if section != last_section {
            let _ = writeln!(page, "\n[{section}]");
            last_section = section;
        }
        for line in wrapped(setting.effect, 110) {
            let _ = writeln!(page, "# {line}");
        }
        let _ = match setting.default {
            DefaultValue::Text(_) => writeln!(page, "#{name} = {}", default_toml(setting)),
            DefaultValue::Derived(words) => {
                writeln!(page, "# Default: {words}.\n#{name} = {}", sample(setting))
            }
        };
    }
    page
}

/// The reference page in Markdown.
pub(crate) fn reference() -> String {
    let mut page = String::from(
        "# Settings of `cuzk serve`\n\n\
         From lowest to highest: the default, the file of `--config`, the variable, the option (`--set KEY=VALUE`, or one of\n\
         its own). `cuzk config print` shows the value of each and who chose it. Made from the table in\n\
         `crates/cuzk/src/config/catalog.rs` by `cuzk config reference settings`; do not edit.\n",
    );
    let mut last_section = "";
    for setting in SETTINGS {
        let (section, name) = setting.section_and_name();
        if section != last_section {
            let _ = write!(
                page,
                "\n## {section}\n\n| name | value | default | effect |\n|---|---|---|---|\n"
            );
            last_section = section;
        }
        let default = match setting.default {
            DefaultValue::Text(_) => format!("`{}`", default_toml(setting)),
            DefaultValue::Derived(words) => words.to_owned(),
        };
        let _ = writeln!(
            page,
            "| `{name}` | {} | {default} | {} |",
            setting.syntax, setting.effect
        );
    }
    page
}

fn default_toml(setting: &Setting) -> String {
    match setting.default {
        DefaultValue::Derived(words) => words.to_owned(),
        DefaultValue::Text(text) => match setting.syntax.read_text(text) {
            Ok(value) => value.to_toml(setting.syntax),
            Err(error) => error,
        },
    }
}

/// A value that fits, for settings whose default is not one.
fn sample(setting: &Setting) -> &'static str {
    use super::Syntax;
    match setting.syntax {
        Syntax::Count => "4",
        Syntax::Bytes => "\"64GiB\"",
        _ => match setting.key {
            "server.token_file" => "\"/etc/cuzk/token\"",
            "keys.folder" => "\"/var/tmp/filecoin-proof-parameters\"",
            "journal.folder" => "\"/var/lib/cuzk/journal\"",
            "tls.key" => "\"/etc/cuzk/server.key\"",
            _ => "\"/etc/cuzk/certificate.pem\"",
        },
    }
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let length = lines.last().map_or(0, String::len);
        if length > 0 && length + 1 + word.len() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test and says where"
)]
mod tests {
    use super::{
        super::{Layers, Settings},
        *,
    };

    #[test]
    fn the_example_without_its_marks_is_a_valid_file_with_every_setting() {
        let text: String = example()
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cuzk.toml");
        std::fs::write(&file, &text).unwrap();
        let layers = Layers {
            file: Some(file),
            ..Layers::default()
        };
        let settings = Settings::load(&layers).unwrap();
        for (setting, resolved) in settings.iter() {
            assert!(
                resolved.value.is_some(),
                "{} is not in\n{text}",
                setting.key
            );
            assert_ne!(resolved.origin, super::super::SettingOrigin::Default);
        }
    }

    #[test]
    fn the_example_as_it_is_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cuzk.toml");
        std::fs::write(&file, example()).unwrap();
        let layers = Layers {
            file: Some(file),
            ..Layers::default()
        };
        let settings = Settings::load(&layers).unwrap();
        let unchanged = super::super::SettingOrigin::Default;
        assert!(settings.iter().all(|(_, found)| found.origin == unchanged));
    }
}
