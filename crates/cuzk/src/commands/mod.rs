//! One file per command: its arguments, what it does with them, and what it reports.

pub(crate) mod circuit;
pub(crate) mod completions;
pub(crate) mod key;

use crate::{cli::Command, session::Session};

/// Runs one command.
///
/// # Errors
/// Whatever the command fails with; [`crate::exit::class_of`] tells the exit code.
pub(crate) fn run(command: Command, session: &Session) -> anyhow::Result<()> {
    match command {
        Command::Circuit(args) => circuit::run(&args, session),
        Command::Key(args) => key::run(&args, session),
        Command::Completions(args) => completions::run(&args, session),
    }
}
