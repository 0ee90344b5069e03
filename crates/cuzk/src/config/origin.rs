//! Who chose a value.

use std::{fmt, path::PathBuf};

/// Where the value of a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingOrigin {
    /// A command line option.
    Option(&'static str),
    /// An environment variable.
    Variable(String),
    /// The configuration file.
    File {
        /// Which file.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
    },
    /// Nobody set it.
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(name) => write!(formatter, "from {name}"),
            Self::Variable(name) => write!(formatter, "from the variable {name}"),
            Self::File { path, line } => write!(formatter, "line {line} of {}", path.display()),
            Self::Default => formatter.write_str("the default"),
        }
    }
}
