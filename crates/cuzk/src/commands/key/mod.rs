//! `cuzk key`: development keys, and looking at keys from elsewhere.

mod check;
mod ephemeral;
mod inspect;
mod setup;

use clap::{Args, Subcommand};
use cuzk_groth16::QueryCounts;
use serde::Serialize;

use crate::session::Session;

/// Make, look at and check proving keys
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  cuzk key setup --circuit winning-2k --keys ./keys\n  cuzk key \
                  inspect ./keys/v28-….params\n  cuzk key check ./keys/v28-….params --digest"
)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    Setup(setup::SetupArgs),
    Inspect(inspect::InspectArgs),
    Check(check::CheckArgs),
}

pub(crate) fn run(args: &KeyArgs, session: &Session) -> anyhow::Result<()> {
    match &args.command {
        KeyCommand::Setup(args) => setup::run(args, session),
        KeyCommand::Inspect(args) => inspect::run(args, session),
        KeyCommand::Check(args) => check::run(args, session),
    }
}

/// Lengths of a key's vectors, as JSON names them.
#[derive(Debug, Serialize)]
struct Counts {
    ic: u64,
    h: u64,
    l: u64,
    a: u64,
    b_g1: u64,
    b_g2: u64,
}

impl From<QueryCounts> for Counts {
    fn from(counts: QueryCounts) -> Self {
        Self {
            ic: counts.ic,
            h: counts.h,
            l: counts.l,
            a: counts.a,
            b_g1: counts.b_g1,
            b_g2: counts.b_g2,
        }
    }
}

impl Counts {
    fn text(&self) -> String {
        use crate::units::count;
        format!(
            "ic {}, h {}, l {}, a {}, b_g1 {}, b_g2 {}",
            count(self.ic),
            count(self.h),
            count(self.l),
            count(self.a),
            count(self.b_g1),
            count(self.b_g2)
        )
    }
}
