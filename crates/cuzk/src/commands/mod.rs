//! One file per command: its arguments, what it does with them, and what it reports.

pub(crate) mod completions;

use crate::{cli::Command, session::Session};

/// Runs one command.
///
/// # Errors
/// Whatever the command fails with; [`crate::exit::class_of`] tells the exit code.
pub(crate) fn run(command: Command, session: &Session) -> anyhow::Result<()> {
    match command {
        Command::Completions(args) => completions::run(&args, session),
    }
}
