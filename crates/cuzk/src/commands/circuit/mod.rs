//! `cuzk circuit`: counting circuits, compiling them into files, and checking such files.

mod check;
mod compile;
mod files;
mod inspect;
mod satisfied;

use std::path::Path;

use clap::{Args, Subcommand};
use cuzk_circuits::CircuitId;
use cuzk_r1cs::CompiledCircuit;

use crate::session::Session;

/// Look at circuits, and compile them
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  cuzk circuit inspect porep-2k\n  cuzk circuit compile porep-2k --out \
                  ./porep-2k.circuit\n  cuzk circuit check ./porep-2k.circuit"
)]
pub(crate) struct CircuitArgs {
    #[command(subcommand)]
    command: CircuitCommand,
}

#[derive(Debug, Subcommand)]
enum CircuitCommand {
    Inspect(inspect::InspectArgs),
    Compile(compile::CompileArgs),
    Check(check::CheckArgs),
}

pub(crate) fn run(args: &CircuitArgs, session: &Session) -> anyhow::Result<()> {
    match &args.command {
        CircuitCommand::Inspect(args) => inspect::run(args, session),
        CircuitCommand::Compile(args) => compile::run(args, session),
        CircuitCommand::Check(args) => check::run(args, session),
    }
}

/// The circuit in a file that `circuit compile` made, and which one it is.
///
/// # Errors
/// Resource, when it cannot be read; invalid input, when it is damaged or of an unknown circuit.
pub(crate) fn open_compiled(path: &Path) -> anyhow::Result<(CircuitId, CompiledCircuit)> {
    let file = files::CircuitFile::open(path)?;
    Ok((file.id, file.circuit))
}
