//! `cuzk completions`: the command tree as a completion script for a shell.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::{cli::Cli, session::Session};

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cuzk completions bash > \
                        ~/.local/share/bash-completion/completions/cuzk\n  cuzk completions zsh > \
                        ~/.zfunc/_cuzk")]
pub(crate) struct CompletionsArgs {
    /// The shell to complete in
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, session: &Session) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cuzk", &mut script);
    session.output.raw(&script)
}
