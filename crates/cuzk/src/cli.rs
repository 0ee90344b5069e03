//! The command tree. Each command's arguments stand in its own file below `commands`, beside the
//! code that obeys them; this file holds what they share.

use std::num::NonZeroUsize;

use clap::{Args, Parser, Subcommand};

use crate::{commands, exit::exit_codes_help, option_values::count, variables::variables_help};

/// A Groth16 proving engine for Filecoin: makes and checks PoRep, SnapDeals, WindowPoSt and
/// WinningPoSt proofs.
#[derive(Debug, Parser)]
#[command(
    name = "cuzk",
    version,
    propagate_version = true,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  cuzk demo\n  cuzk key setup --circuit winning-2k --keys ./keys\n  cuzk \
                  circuit inspect porep-32g",
    after_long_help = root_help()
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command takes.
#[derive(Debug, Args)]
pub(crate) struct GlobalOptions {
    /// Print the result as one JSON value on standard output
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// No messages and no progress on standard error; warnings and errors stay
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// Threads to compute with [default: `CUZK_THREADS`, else as many as the system offers]
    #[arg(long, global = true, value_name = "N", value_parser = count::<NonZeroUsize>, help_heading = "Global options")]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(commands::demo::DemoArgs),
    Prove(Box<commands::prove::ProveArgs>),
    Verify(commands::verify::VerifyArgs),
    Key(commands::key::KeyArgs),
    Circuit(commands::circuit::CircuitArgs),
    Sector(commands::sector::SectorArgs),
    Bench(commands::bench::BenchArgs),
    Serve(commands::serve::ServeArgs),
    Config(commands::config::ConfigArgs),
    Doctor(commands::doctor::DoctorArgs),
    Status(commands::status::StatusArgs),
    Cancel(commands::cancel::CancelArgs),
    Keys(commands::keys::KeysArgs),
    Completions(commands::completions::CompletionsArgs),
}

fn root_help() -> String {
    format!(
        "Examples:\n  cuzk demo\n  cuzk key setup --circuit winning-2k --keys ./keys\n  cuzk circuit \
         inspect porep-32g\n\n{}\n\n{}",
        exit_codes_help(),
        variables_help()
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_tree_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_number_that_is_none_is_answered_in_words_of_ours() {
        fn walk(command: &clap::Command, path: &[String]) {
            for option in command.get_arguments().filter_map(clap::Arg::get_long) {
                for value in ["", "abc", "0", "1.5", "99999999999999999999"] {
                    let line = path.iter().cloned().chain([format!("--{option}={value}")]);
                    let Err(error) = Cli::command().try_get_matches_from(line) else {
                        continue;
                    };
                    let error = error.to_string();
                    for words_of_the_library in ["invalid digit", "non-zero type", "fit in target"]
                    {
                        assert!(!error.contains(words_of_the_library), "{path:?}: {error}");
                    }
                }
            }
            for subcommand in command.get_subcommands() {
                let name = subcommand.get_name().to_owned();
                walk(subcommand, &[path, &[name]].concat());
            }
        }
        walk(&Cli::command(), &["cuzk".to_owned()]);
    }

    #[test]
    fn every_command_shows_an_example_of_itself() {
        fn walk(command: &clap::Command, path: &str) {
            let own_path = format!("{path} {}", command.get_name());
            let mut command = command.clone();
            let help = command.render_long_help().to_string();
            let own_path = own_path.trim_start();
            assert!(
                help.contains("Examples:") && help.contains(&format!("  {own_path}")),
                "{own_path} has no example in its help"
            );
            for subcommand in command.get_subcommands() {
                walk(subcommand, own_path);
            }
        }
        walk(&Cli::command(), "");
    }
}
