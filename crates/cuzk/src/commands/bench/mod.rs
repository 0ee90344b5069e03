//! `cuzk bench`: how fast, and against whom.

mod evaluate;
mod kernels;
mod load;
mod oracle;
mod partition;
mod peer;
mod proof;
mod witness;

use clap::{Args, Subcommand};

use crate::session::Session;

/// The commit that the program was built from, where the build was told.
const COMMIT: Option<&str> = option_env!("CUZK_COMMIT");

/// Measure
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  cuzk bench partition --circuit winning-2k --against bellperson\n  cuzk \
                  bench evaluate --circuit porep-2k"
)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    Evaluate(evaluate::EvaluateArgs),
    Kernels(kernels::KernelsArgs),
    Load(Box<load::LoadArgs>),
    Partition(partition::PartitionArgs),
    Proof(proof::ProofArgs),
    Witness(witness::WitnessArgs),
}

pub(crate) fn run(args: &BenchArgs, session: &Session) -> anyhow::Result<()> {
    match &args.command {
        BenchCommand::Evaluate(args) => evaluate::run(args, session),
        BenchCommand::Kernels(args) => kernels::run(args, session),
        BenchCommand::Load(args) => load::run(args, session),
        BenchCommand::Partition(args) => partition::run(args, session),
        BenchCommand::Proof(args) => proof::run(args, session),
        BenchCommand::Witness(args) => witness::run(args, session),
    }
}
