//! Which variable did what? Operators set variables for a whole family of provers and rarely learn
//! which of them a program obeys. This is the only place that reads the environment; it resolves
//! every setting that a variable can give, and it tells the effect of each variable of ours and of
//! the ecosystem that is set, or that it has none.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use crate::{
    config::setting_of_variable,
    exit::{ExitClass, failure},
    variables::{self, Syntax, Variable},
};

pub(crate) use crate::variables::Concern;

/// Where the upstream crates, and every storage provider, keep proving keys.
const DEFAULT_PARAMETER_FOLDER: &str = "/var/tmp/filecoin-proof-parameters";
/// Folder of the development keys below the user's cache folder.
const DEVELOPMENT_KEYS_SUBFOLDER: &str = "cuzk/development-keys";
/// Folder of the records of finished key checks below the user's cache folder.
const KEY_CHECKS_SUBFOLDER: &str = "cuzk/key-checks";
/// Folder of the daemon's journal below the user's state folder.
const JOURNAL_SUBFOLDER: &str = "cuzk/journal";
/// File in the working folder that the upstream crates read as well.
const UPSTREAM_CONFIG_FILE: &str = "rust-fil-proofs.config.toml";

/// Where a setting comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A command line option.
    Option(&'static str),
    /// An environment variable.
    Variable(&'static str),
    /// A setting of the daemon, whose own origin `config print` shows.
    Setting(&'static str),
    /// Nobody set it.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(name) => write!(formatter, "from {name}"),
            Self::Variable(name) => write!(formatter, "from the variable {name}"),
            Self::Setting(key) => write!(formatter, "from the setting {key}"),
            Self::Default => formatter.write_str("the default"),
        }
    }
}

/// A folder and who chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folder {
    /// The folder, which need not exist.
    pub(crate) path: PathBuf,
    /// Where the path comes from.
    pub(crate) origin: Origin,
}

impl fmt::Display for Folder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.path.display(), self.origin)
    }
}

/// The environment as it was when the process started.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<OsString, OsString>,
    upstream_config_file: bool,
}

impl Environment {
    /// Reads the environment of this process.
    #[allow(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the environment"
    )]
    pub(crate) fn read() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
            upstream_config_file: Path::new(UPSTREAM_CONFIG_FILE).exists(),
        }
    }

    /// Whether text may be styled; see <https://no-color.org>.
    pub(crate) fn color_allowed(&self) -> bool {
        self.text("NO_COLOR").is_none()
    }

    /// Threads of the CPU prover: the option, else `CUZK_THREADS`, else `RAYON_NUM_THREADS`, else
    /// what the system offers.
    ///
    /// # Errors
    /// Usage, when a variable is not a count of at least one.
    pub(crate) fn threads(&self, option: Option<NonZeroUsize>) -> anyhow::Result<NonZeroUsize> {
        if let Some(threads) = option {
            return Ok(threads);
        }
        for name in [variables::THREADS, variables::RAYON_THREADS] {
            if let Some(value) = self.text(name) {
                return parse_count(name, value);
            }
        }
        Ok(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }

    /// Threads that bellperson starts: `EC_GPU_NUM_THREADS`, else what the system offers.
    ///
    /// # Errors
    /// Usage, when the variable is not a count of at least one.
    pub(crate) fn bellperson_threads(&self) -> anyhow::Result<NonZeroUsize> {
        match self.text(variables::BELLPERSON_THREADS) {
            Some(value) => parse_count(variables::BELLPERSON_THREADS, value),
            None => Ok(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)),
        }
    }

    /// The folder of proving keys for commands that serve real proofs.
    ///
    /// # Errors
    /// Usage, when `FIL_PROOFS_PARAMETER_CACHE` is set to nothing.
    pub(crate) fn parameter_folder(&self, option: Option<&Path>) -> anyhow::Result<Folder> {
        let default = || Folder {
            path: PathBuf::from(DEFAULT_PARAMETER_FOLDER),
            origin: Origin::Default,
        };
        Ok(self
            .chosen_folder(option, variables::PARAMETER_FOLDER)?
            .unwrap_or_else(default))
    }

    /// The folder of development keys, which `demo` and `bench` fill. It is never the folder of
    /// production keys unless the option names it.
    ///
    /// # Errors
    /// Usage, when `CUZK_DEVELOPMENT_KEYS` is set to nothing or no cache folder is known.
    pub(crate) fn development_keys(&self, option: Option<&Path>) -> anyhow::Result<Folder> {
        match self.chosen_folder(option, variables::DEVELOPMENT_KEYS)? {
            Some(folder) => Ok(folder),
            None => self.cache_folder(DEVELOPMENT_KEYS_SUBFOLDER),
        }
    }

    /// The folder of the records of finished key checks.
    ///
    /// # Errors
    /// Usage, when no cache folder is known.
    pub(crate) fn key_checks(&self) -> anyhow::Result<Folder> {
        self.cache_folder(KEY_CHECKS_SUBFOLDER)
    }

    /// One line per variable that is set: what it does to a command with these concerns, or that it
    /// does nothing.
    ///
    /// # Errors
    /// Usage, when a variable that the upstream crates would obey cannot be read by them.
    pub(crate) fn notices(&self, concerns: &[Concern]) -> anyhow::Result<Vec<String>> {
        let mut lines = Vec::new();
        for (name, value) in &self.variables {
            let (Some(name), value) = (name.to_str(), value.to_string_lossy()) else {
                continue;
            };
            match variables::find(name) {
                Some(variable) if concerns.contains(&variable.concern) => {
                    check_syntax(variable, &value)?;
                    lines.push(format!("{name}={value}: {}", variable.effect));
                }
                Some(_) => lines.push(format!("{name} is set and has no effect on this command")),
                None if setting_of_variable(name).is_some() => {
                    lines.push(setting_notice(name, &value, concerns));
                }
                None => lines.extend(
                    variables::reason_without_effect(name)
                        .map(|reason| format!("{name} is set and has no effect: {reason}")),
                ),
            }
        }
        if self.upstream_config_file && concerns.contains(&Concern::Sealing) {
            lines.push(format!(
                "{UPSTREAM_CONFIG_FILE} in this folder: read by the upstream crates while they seal"
            ));
        }
        Ok(lines)
    }

    fn chosen_folder(
        &self,
        option: Option<&Path>,
        variable: &'static str,
    ) -> anyhow::Result<Option<Folder>> {
        if let Some(path) = option {
            return Ok(Some(Folder {
                path: path.to_owned(),
                origin: Origin::Option("--keys"),
            }));
        }
        match self.variables.get(OsStr::new(variable)) {
            Some(value) if value.is_empty() => Err(failure(
                ExitClass::Usage,
                format!("{variable} is set but empty; unset it or give it a folder"),
            )),
            Some(value) => Ok(Some(Folder {
                path: PathBuf::from(value),
                origin: Origin::Variable(variable),
            })),
            None => Ok(None),
        }
    }

    /// The folder of the daemon's journal.
    ///
    /// # Errors
    /// Usage, when no state folder is known.
    pub(crate) fn journal_folder(&self) -> anyhow::Result<Folder> {
        self.user_folder(variables::XDG_STATE, ".local/state", JOURNAL_SUBFOLDER)
    }

    /// The address of the daemon for client commands, if the environment names one.
    pub(crate) fn daemon_address(&self) -> Option<String> {
        let address = self.text(variables::ADDRESS)?;
        Some(address.to_string_lossy().into_owned())
    }

    /// The file of the token that client commands show, if the environment names one.
    pub(crate) fn client_token_file(&self) -> Option<PathBuf> {
        self.text(variables::CLIENT_TOKEN_FILE).map(PathBuf::from)
    }

    /// Variables that give settings of the daemon, with their values.
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        let pairs = self.variables.iter().filter_map(|(name, value)| {
            let name = name.to_str()?;
            setting_of_variable(name)?;
            Some((name.to_owned(), value.to_string_lossy().into_owned()))
        });
        pairs.collect()
    }

    fn cache_folder(&self, subfolder: &str) -> anyhow::Result<Folder> {
        self.user_folder(variables::XDG_CACHE, ".cache", subfolder)
    }

    /// A folder of the user, as the XDG base directory specification finds it: a relative path in
    /// the variable is as good as none.
    fn user_folder(
        &self,
        variable: &'static str,
        below_home: &str,
        subfolder: &str,
    ) -> anyhow::Result<Folder> {
        let absolute = |name: &'static str| {
            let path = PathBuf::from(self.variables.get(OsStr::new(name))?);
            path.is_absolute().then_some(path)
        };
        if let Some(path) = absolute(variable) {
            return Ok(Folder {
                path: path.join(subfolder),
                origin: Origin::Variable(variable),
            });
        }
        if let Some(path) = absolute("HOME") {
            return Ok(Folder {
                path: path.join(below_home).join(subfolder),
                origin: Origin::Default,
            });
        }
        Err(failure(
            ExitClass::Usage,
            format!(
                "no folder for {subfolder}: neither {variable} nor HOME is an absolute path; set one of them"
            ),
        ))
    }

    fn text(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name))?;
        (!value.is_empty()).then_some(value)
    }
}

/// What a variable that gives a setting of the daemon does to a command with these concerns.
fn setting_notice(name: &str, value: &str, concerns: &[Concern]) -> String {
    match setting_of_variable(name).filter(|_| concerns.contains(&Concern::Settings)) {
        Some(setting) => format!("{name}={value}: the setting {}", setting.key),
        None => format!("{name} is set and has no effect on this command"),
    }
}

fn parse_count(name: &str, value: &OsStr) -> anyhow::Result<NonZeroUsize> {
    let text = value.to_string_lossy();
    text.parse().map_err(|_| {
        failure(
            ExitClass::Usage,
            format!("{name}={text}: expected a count of at least 1"),
        )
    })
}

fn check_syntax(variable: &Variable, value: &str) -> anyhow::Result<()> {
    let fits = match variable.syntax {
        Syntax::Text => true,
        Syntax::Count => value.parse::<u32>().is_ok(),
        Syntax::PositiveCount => value.parse::<u32>().is_ok_and(|count| count > 0),
        Syntax::Flag => matches!(value, "true" | "false" | "1" | "0"),
    };
    if fits {
        return Ok(());
    }
    Err(failure(
        ExitClass::Usage,
        format!("{}={value}: expected {}", variable.name, variable.syntax),
    ))
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test and says where"
)]
mod tests {
    use super::*;
    use crate::exit::class_of;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment {
            variables: variables
                .iter()
                .map(|&(name, value)| (name.into(), value.into()))
                .collect(),
            upstream_config_file: false,
        }
    }

    #[test]
    fn an_empty_folder_variable_is_refused_and_never_means_the_working_folder() {
        let environment = environment(&[("FIL_PROOFS_PARAMETER_CACHE", "")]);
        let error = environment.parameter_folder(None).unwrap_err();
        assert_eq!(class_of(&error), ExitClass::Usage);
        assert!(error.to_string().contains("FIL_PROOFS_PARAMETER_CACHE"));
    }

    #[test]
    fn an_option_wins_over_a_variable_and_the_origin_says_so() {
        let environment = environment(&[("FIL_PROOFS_PARAMETER_CACHE", "/b")]);
        let folder = environment.parameter_folder(Some(Path::new("/a"))).unwrap();
        assert_eq!(folder.to_string(), "/a (from --keys)");
        let folder = environment.parameter_folder(None).unwrap();
        assert_eq!(
            folder.to_string(),
            "/b (from the variable FIL_PROOFS_PARAMETER_CACHE)"
        );
    }

    #[test]
    fn development_keys_never_land_in_the_production_folder_by_a_variable() {
        let environment = environment(&[
            ("FIL_PROOFS_PARAMETER_CACHE", "/production"),
            ("HOME", "/h"),
        ]);
        let folder = environment.development_keys(None).unwrap();
        assert_eq!(folder.path, Path::new("/h/.cache/cuzk/development-keys"));
    }

    #[test]
    fn a_relative_xdg_cache_home_is_ignored_and_no_home_at_all_is_refused() {
        let with_home = environment(&[("XDG_CACHE_HOME", "relative"), ("HOME", "/h")]);
        let folder = with_home.development_keys(None).unwrap();
        assert!(folder.path.starts_with("/h/.cache"));
        let error = environment(&[]).development_keys(None).unwrap_err();
        assert_eq!(class_of(&error), ExitClass::Usage);
    }

    #[test]
    fn a_thread_count_that_is_no_count_is_refused_with_name_and_value() {
        for value in ["0", "-1", "two", "1.5"] {
            let error = environment(&[("CUZK_THREADS", value)])
                .threads(None)
                .unwrap_err();
            assert!(error.to_string().contains(&format!("CUZK_THREADS={value}")));
        }
    }

    #[test]
    fn threads_come_from_the_option_then_our_variable_then_rayons() {
        let environment = environment(&[("CUZK_THREADS", "3"), ("RAYON_NUM_THREADS", "5")]);
        assert_eq!(environment.threads(NonZeroUsize::new(7)).unwrap().get(), 7);
        assert_eq!(environment.threads(None).unwrap().get(), 3);
    }

    #[test]
    fn every_known_variable_is_named_with_its_effect_or_as_having_none() {
        let environment = environment(&[
            ("FIL_PROOFS_PARENT_CACHE", "/parents"),
            ("FIL_PROOFS_USE_GPU_TREE_BUILDER", "true"),
            ("BELLMAN_NO_GPU", "1"),
            ("CUZK_THREDS", "4"),
            ("PATH", "/bin"),
        ]);
        let lines = environment.notices(&[Concern::Sealing]).unwrap();
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[0].starts_with("BELLMAN_NO_GPU is set and has no effect"));
        assert!(lines[1].starts_with("CUZK_THREDS is set and has no effect"));
        assert!(lines[2].starts_with("FIL_PROOFS_PARENT_CACHE=/parents: "));
        assert!(lines[3].starts_with("FIL_PROOFS_USE_GPU_TREE_BUILDER is set and has no effect"));
        let lines = environment.notices(&[Concern::Threads]).unwrap();
        assert!(lines[2].ends_with("no effect on this command"), "{lines:?}");
    }

    #[test]
    fn a_variable_of_a_setting_matters_to_the_daemon_alone() {
        let environment = environment(&[("CUZK_ENGINE_LOOKAHEAD", "4"), ("CUZK_ENGINE_X", "4")]);
        let lines = environment.notices(&[Concern::Settings]).unwrap();
        assert_eq!(
            lines[0],
            "CUZK_ENGINE_LOOKAHEAD=4: the setting engine.lookahead"
        );
        assert!(lines[1].contains("no effect"), "{lines:?}");
        let lines = environment.notices(&[Concern::Threads]).unwrap();
        assert!(lines[0].contains("no effect"), "{lines:?}");
        assert_eq!(environment.settings().len(), 1);
    }

    #[test]
    fn a_value_that_upstream_would_panic_on_is_refused_first() {
        for (name, value) in [
            ("FIL_PROOFS_ROWS_TO_DISCARD", "many"),
            ("FIL_PROOFS_VERIFY_CACHE", "maybe"),
        ] {
            let error = environment(&[(name, value)])
                .notices(&[Concern::Sealing])
                .unwrap_err();
            assert_eq!(class_of(&error), ExitClass::Usage);
            assert!(error.to_string().contains(value));
        }
    }
}
