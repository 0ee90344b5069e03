//! The environment variables that cuzk knows, as one table: what each does, which commands it
//! concerns, and why the other variables of the Filecoin ecosystem do nothing here.

use std::fmt;

/// Folder of proving keys, shared with the upstream crates.
pub(crate) const PARAMETER_FOLDER: &str = "FIL_PROOFS_PARAMETER_CACHE";
/// Folder of development keys.
pub(crate) const DEVELOPMENT_KEYS: &str = "CUZK_DEVELOPMENT_KEYS";
/// Threads of the CPU prover.
pub(crate) const THREADS: &str = "CUZK_THREADS";
/// Threads of the CPU prover where [`THREADS`] is not set.
pub(crate) const RAYON_THREADS: &str = "RAYON_NUM_THREADS";
/// Threads of bellperson.
pub(crate) const BELLPERSON_THREADS: &str = "EC_GPU_NUM_THREADS";
/// Where client commands find the daemon.
pub(crate) const ADDRESS: &str = "CUZK_ADDR";
/// The token that client commands show.
pub(crate) const CLIENT_TOKEN_FILE: &str = "CUZK_TOKEN_FILE";
/// The user's state folder.
pub(crate) const XDG_STATE: &str = "XDG_STATE_HOME";
/// The user's cache folder.
pub(crate) const XDG_CACHE: &str = "XDG_CACHE_HOME";

/// What a command does that a variable can influence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Concern {
    /// It computes on many threads.
    Threads,
    /// It looks for proving keys in the parameter folder.
    ParameterFolder,
    /// It makes or reuses development keys.
    DevelopmentKeys,
    /// It uses the user's cache folder.
    CacheFolder,
    /// It seals sectors with the upstream crates.
    Sealing,
    /// It synthesizes circuits of the upstream crates.
    Synthesis,
    /// It runs bellperson.
    Bellperson,
    /// It reads the settings of the daemon.
    Settings,
    /// It asks a daemon.
    Client,
}

/// What a value must look like for the crate that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// Anything; checked where it is used.
    Text,
    /// A whole number.
    Count,
    /// A whole number above zero.
    PositiveCount,
    /// `true` or `false`.
    Flag,
}

impl fmt::Display for Syntax {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Text => "text",
            Self::Count => "a whole number below 2^32",
            Self::PositiveCount => "a whole number from 1 below 2^32",
            Self::Flag => "true or false",
        })
    }
}

/// One variable that has an effect somewhere.
#[derive(Debug)]
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: &'static str,
    /// What a command must do for the variable to matter.
    pub(crate) concern: Concern,
    /// What its value must look like.
    pub(crate) syntax: Syntax,
    /// What it does.
    pub(crate) effect: &'static str,
}

const fn variable(
    name: &'static str,
    concern: Concern,
    syntax: Syntax,
    effect: &'static str,
) -> Variable {
    Variable {
        name,
        concern,
        syntax,
        effect,
    }
}

/// All variables with an effect, besides `HOME` and `NO_COLOR`, which every program obeys.
pub(crate) const VARIABLES: &[Variable] = &[
    variable(
        THREADS,
        Concern::Threads,
        Syntax::Text,
        "threads of the CPU prover, unless --threads is given",
    ),
    variable(
        RAYON_THREADS,
        Concern::Threads,
        Syntax::Text,
        "threads of the CPU prover, unless --threads or CUZK_THREADS is given",
    ),
    variable(
        PARAMETER_FOLDER,
        Concern::ParameterFolder,
        Syntax::Text,
        "folder of proving keys, unless --keys is given",
    ),
    variable(
        DEVELOPMENT_KEYS,
        Concern::DevelopmentKeys,
        Syntax::Text,
        "folder of development keys, unless --keys is given",
    ),
    variable(
        XDG_CACHE,
        Concern::CacheFolder,
        Syntax::Text,
        "what cuzk caches lies below this folder",
    ),
    variable(
        XDG_STATE,
        Concern::Settings,
        Syntax::Text,
        "the daemon's journal lies below this folder, unless journal.folder is set",
    ),
    variable(
        ADDRESS,
        Concern::Client,
        Syntax::Text,
        "address of the daemon, unless --addr is given",
    ),
    variable(
        CLIENT_TOKEN_FILE,
        Concern::Client,
        Syntax::Text,
        "file of the token that is shown to the daemon, unless --token-file is given",
    ),
    variable(
        "FIL_PROOFS_PARENT_CACHE",
        Concern::Sealing,
        Syntax::Text,
        "folder of the graph parents that sealing computes and reuses",
    ),
    variable(
        "FIL_PROOFS_CACHE_DIR",
        Concern::Sealing,
        Syntax::Text,
        "prefix of the folder of graph parents, unless FIL_PROOFS_PARENT_CACHE is set",
    ),
    variable(
        "FIL_PROOFS_VERIFY_CACHE",
        Concern::Sealing,
        Syntax::Flag,
        "whether sealing checks a cached file of graph parents",
    ),
    variable(
        "FIL_PROOFS_SDR_PARENTS_CACHE_SIZE",
        Concern::Sealing,
        Syntax::Count,
        "graph nodes whose parents sealing keeps in memory",
    ),
    variable(
        "FIL_PROOFS_ROWS_TO_DISCARD",
        Concern::Sealing,
        Syntax::Count,
        "rows of a tree that sealing does not store",
    ),
    variable(
        "FIL_PROOFS_WINDOW_POST_SYNTHESIS_NUM_CPUS",
        Concern::Synthesis,
        Syntax::PositiveCount,
        "parts in which a WindowPoSt or WinningPoSt circuit may be synthesized",
    ),
    variable(
        BELLPERSON_THREADS,
        Concern::Bellperson,
        Syntax::PositiveCount,
        "threads of bellperson, the prover compared with",
    ),
];

/// Prefixes of variables that people set for other provers, and why they do nothing here.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("CUZK_", "cuzk knows no variable of this name"),
    (
        "FIL_PROOFS_USE_GPU_",
        "cuzk builds the upstream crates without their GPU code",
    ),
    (
        "FIL_PROOFS_MAX_GPU_",
        "cuzk builds the upstream crates without their GPU code",
    ),
    (
        "FIL_PROOFS_GPU_",
        "cuzk builds the upstream crates without their GPU code",
    ),
    (
        "FIL_PROOFS_USE_MULTICORE_SDR",
        "cuzk builds the upstream crates without multicore sealing",
    ),
    (
        "FIL_PROOFS_MULTICORE_SDR_",
        "cuzk builds the upstream crates without multicore sealing",
    ),
    (
        "FIL_PROOFS_VERIFY_PRODUCTION_PARAMS",
        "keys are checked by `cuzk key check`",
    ),
    ("FIL_PROOFS_", "no code that cuzk runs reads it"),
    (
        "BELLMAN_",
        "it steers bellperson's GPU prover, which is not built in",
    ),
    (
        "BELLPERSON_",
        "it steers bellperson's GPU prover, which is not built in",
    ),
    (
        "NEPTUNE_",
        "it steers neptune's GPU hashing, which is not built in",
    ),
    (
        "EC_GPU_",
        "it steers ec-gpu's kernels, which are not built in",
    ),
    ("RUST_GPU_TOOLS_", "it steers GPU code that is not built in"),
    (
        "RUST_LOG",
        "the daemon logs by its setting log.level, other commands write no log",
    ),
];

/// The entry of a variable that has an effect somewhere.
pub(crate) fn find(name: &str) -> Option<&'static Variable> {
    VARIABLES.iter().find(|variable| variable.name == name)
}

/// Why a variable of the ecosystem has no effect; `None` for variables that are none of ours.
pub(crate) fn reason_without_effect(name: &str) -> Option<&'static str> {
    WITHOUT_EFFECT
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .map(|&(_, reason)| reason)
}

/// The variables as a block for the end of `--help`.
pub(crate) fn variables_help() -> String {
    use std::fmt::Write as _;
    let mut text = String::from("Environment variables:\n");
    for variable in VARIABLES {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {}\n      {}", variable.name, variable.effect);
    }
    text.push_str(
        "  CUZK_SECTION_NAME\n      a setting of `cuzk serve`; see `cuzk config example`\n  \
         NO_COLOR\n      no bold text\nEvery command names those that are set, with their effect \
         or without.",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variable_is_listed_twice_and_each_has_words() {
        for (index, variable) in VARIABLES.iter().enumerate() {
            assert!(!variable.effect.is_empty());
            assert!(
                VARIABLES[..index]
                    .iter()
                    .all(|earlier| earlier.name != variable.name),
                "{}",
                variable.name
            );
        }
    }

    #[test]
    fn strangers_are_left_alone_and_misspelled_names_of_ours_are_not() {
        assert_eq!(reason_without_effect("PATH"), None);
        assert!(reason_without_effect("CUZK_KEYZ").is_some());
        assert!(find("CUZK_THREADS").is_some());
    }

    #[test]
    fn the_help_text_names_every_variable() {
        let help = variables_help();
        for variable in VARIABLES {
            assert!(help.contains(variable.name));
        }
    }
}
