//! File, variables and options become one value per setting, each with its origin. A later layer wins: file, variable,
//! option.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use toml::de::{DeTable, DeValue};

use super::{SETTINGS, Setting, SettingOrigin, Value, catalog::DefaultValue};
use crate::exit::{ExitClass, OrExit as _, failure};

/// How far a misspelled key may be from the one that is suggested.
const MAX_DISTANCE: usize = 4;

/// Where settings come from.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    /// The configuration file.
    pub(crate) file: Option<PathBuf>,
    /// Variables of settings that are set.
    pub(crate) variables: Vec<(String, String)>,
    /// Option, key and text.
    pub(crate) options: Vec<(&'static str, String, String)>,
}

/// A value and who chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// The value; `None` where it is derived.
    pub(crate) value: Option<Value>,
    /// Who chose it.
    pub(crate) origin: SettingOrigin,
}

/// All settings with their values.
#[derive(Debug)]
pub(crate) struct Settings {
    values: BTreeMap<&'static str, Resolved>,
}

impl Settings {
    /// Reads all layers.
    ///
    /// # Errors
    /// Usage, with file and line, variable or option, for an unknown key (with the nearest one) or a value that does not
    /// fit; resource or usage, when the file cannot be read.
    pub(crate) fn load(layers: &Layers) -> anyhow::Result<Self> {
        let mut settings = Self::defaults();
        if let Some(path) = &layers.file {
            let text = std::fs::read_to_string(path).or_exit(ExitClass::Usage, || {
                format!("reading the configuration {}", path.display())
            })?;
            settings.take_file(path, &text)?;
        }
        for (name, text) in &layers.variables {
            let setting = super::setting_of_variable(name)
                .ok_or_else(|| usage(format!("{name}: no setting has this variable")))?;
            let origin = SettingOrigin::Variable(name.clone());
            settings.take_text(setting, text, origin, name)?;
        }
        for (option, key, text) in &layers.options {
            let setting = find(key).map_err(|error| usage(format!("{option} {key}: {error}")))?;
            let what = format!("{option} {key}");
            settings.take_text(setting, text, SettingOrigin::Option(option), &what)?;
        }
        Ok(settings)
    }

    /// The value of a setting; `None` where it is derived.
    ///
    /// # Panics
    /// For a key that is in no row of the table.
    pub(crate) fn get(&self, key: &str) -> &Resolved {
        self.values
            .get(key)
            .unwrap_or_else(|| unreachable!("{key} is no setting"))
    }

    /// All settings, in the order of the table.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static Setting, &Resolved)> {
        SETTINGS
            .iter()
            .map(|setting| (setting, self.get(setting.key)))
    }

    fn defaults() -> Self {
        let values = SETTINGS.iter().map(|setting| {
            let value = match setting.default {
                DefaultValue::Derived(_) => None,
                DefaultValue::Text(text) => setting.syntax.read_text(text).ok(),
            };
            let resolved = Resolved {
                value,
                origin: SettingOrigin::Default,
            };
            (setting.key, resolved)
        });
        Self {
            values: values.collect(),
        }
    }

    fn take_text(
        &mut self,
        setting: &'static Setting,
        text: &str,
        origin: SettingOrigin,
        what: &str,
    ) -> anyhow::Result<()> {
        let value = setting
            .syntax
            .read_text(text)
            .map_err(|error| usage(format!("{what}: {error}")))?;
        self.set(setting.key, value, origin);
        Ok(())
    }

    fn take_file(&mut self, path: &Path, text: &str) -> anyhow::Result<()> {
        let table = DeTable::parse(text).or_exit(ExitClass::Usage, || {
            format!("{} is no TOML", path.display())
        })?;
        let line_of = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
        for (section, content) in table.get_ref() {
            let line = line_of(section.span().start);
            let DeValue::Table(entries) = content.get_ref() else {
                let near = nearest_key(section.get_ref());
                return Err(usage(format!(
                    "{}, line {line}: {:?} stands outside a section{near}",
                    path.display(),
                    section.get_ref()
                )));
            };
            for (name, value) in entries {
                let line = line_of(name.span().start);
                let key = format!("{}.{}", section.get_ref(), name.get_ref());
                let at = |error: String| usage(format!("{}, line {line}: {error}", path.display()));
                let setting = find(&key).map_err(at)?;
                let value = setting
                    .syntax
                    .read_toml(value.get_ref())
                    .map_err(|error| at(format!("{key}: {error}")))?;
                let path = path.to_owned();
                self.set(setting.key, value, SettingOrigin::File { path, line });
            }
        }
        Ok(())
    }

    fn set(&mut self, key: &'static str, value: Value, origin: SettingOrigin) {
        let resolved = Resolved {
            value: Some(value),
            origin,
        };
        self.values.insert(key, resolved);
    }
}

fn usage(message: String) -> anyhow::Error {
    failure(ExitClass::Usage, message)
}

fn find(key: &str) -> Result<&'static Setting, String> {
    SETTINGS
        .iter()
        .find(|setting| setting.key == key)
        .ok_or_else(|| format!("{key:?} is no setting{}", nearest_key(key)))
}

/// The suggestion for a misspelled key, if any is near.
fn nearest_key(key: &str) -> String {
    let name = key.rsplit('.').next().unwrap_or(key);
    SETTINGS
        .iter()
        .map(|setting| {
            let (_, own) = setting.section_and_name();
            let whole = strsim::damerau_levenshtein(setting.key, key);
            // The right name in the wrong section is a near miss, however long the sections are.
            let distance = if own == name { 2.min(whole) } else { whole };
            (distance, setting.key)
        })
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= MAX_DISTANCE)
        .map_or_else(
            || "; `cuzk config example` shows all".to_owned(),
            |(_, near)| format!("; did you mean {near:?}?"),
        )
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test and says where"
)]
mod tests {
    use super::*;
    use crate::exit::class_of;

    fn from_file(text: &str) -> anyhow::Result<Settings> {
        let mut settings = Settings::defaults();
        settings.take_file(Path::new("cuzk.toml"), text)?;
        Ok(settings)
    }

    #[test]
    fn an_option_wins_over_a_variable_and_a_variable_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cuzk.toml");
        std::fs::write(&file, "\n[engine]\nlookahead = 2\ndevice_workers = 3\n").unwrap();
        let mut layers = Layers {
            file: Some(file.clone()),
            variables: vec![("CUZK_ENGINE_LOOKAHEAD".into(), "4".into())],
            options: Vec::new(),
        };
        let settings = Settings::load(&layers).unwrap();
        let lookahead = settings.get("engine.lookahead");
        assert_eq!(lookahead.value, Some(Value::Number(4)));
        assert!(
            lookahead
                .origin
                .to_string()
                .contains("CUZK_ENGINE_LOOKAHEAD")
        );
        let workers = settings.get("engine.device_workers");
        let origin = format!("line 4 of {}", file.display());
        assert_eq!(workers.origin.to_string(), origin);
        layers.options = vec![("--set", "engine.lookahead".into(), "5".into())];
        let settings = Settings::load(&layers).unwrap();
        let lookahead = settings.get("engine.lookahead");
        assert_eq!(lookahead.value, Some(Value::Number(5)));
        assert_eq!(lookahead.origin.to_string(), "from --set");
    }

    #[test]
    fn an_unknown_key_is_refused_with_line_and_suggestion() {
        for (text, line, near) in [
            (
                "[server]\nlisten = []\nmax_mesage = \"1MiB\"",
                3,
                "server.max_message",
            ),
            ("[sever]\nlisten = []", 2, "server.listen"),
            ("listen = []", 1, "server.listen"),
            ("[engine]\ntoken_file = \"a\"", 2, "server.token_file"),
            ("[server]\ncolour = \"blue\"", 2, "cuzk config example"),
        ] {
            let error = from_file(text).unwrap_err();
            assert_eq!(class_of(&error), ExitClass::Usage);
            let message = error.to_string();
            assert!(message.contains(&format!("line {line}")), "{message}");
            assert!(message.contains(near), "{message}");
        }
    }

    #[test]
    fn a_value_that_does_not_fit_is_refused_with_line_and_key() {
        let error = from_file("[engine]\n\nlookahead = \"two\"").unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("line 3: engine.lookahead: expected a whole number"),
            "{message}"
        );
        assert!(from_file("[engine\n").is_err());
    }

    #[test]
    fn a_variable_that_does_not_fit_is_named() {
        let layers = Layers {
            variables: vec![("CUZK_ENGINE_BUDGET".into(), "lots".into())],
            ..Layers::default()
        };
        let error = Settings::load(&layers).unwrap_err().to_string();
        assert!(
            error.starts_with("CUZK_ENGINE_BUDGET: expected bytes"),
            "{error}"
        );
    }
}
