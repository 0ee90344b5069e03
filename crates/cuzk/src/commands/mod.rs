//! One file per command: its arguments, what it does with them, and what it reports.

pub(crate) mod bench;
pub(crate) mod cancel;
pub(crate) mod circuit;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod key;
pub(crate) mod keys;
pub(crate) mod prove;
pub(crate) mod sector;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod verify;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use cuzk_circuits::{Family, SectorSize};

use crate::{cli::Command, session::Session};

/// Runs one command.
///
/// # Errors
/// Whatever the command fails with; [`crate::exit::class_of`] tells the exit code.
pub(crate) fn run(command: Command, session: &Session) -> anyhow::Result<()> {
    match command {
        Command::Demo(args) => demo::run(&args, session),
        Command::Doctor(args) => doctor::run(&args, session),
        Command::Prove(args) => prove::run(&args, session),
        Command::Verify(args) => verify::run(&args, session),
        Command::Bench(args) => bench::run(&args, session),
        Command::Circuit(args) => circuit::run(&args, session),
        Command::Key(args) => key::run(&args, session),
        Command::Sector(args) => sector::run(&args, session),
        Command::Serve(args) => serve::run(&args, session),
        Command::Config(args) => config::run(&args, session),
        Command::Status(args) => status::run(&args, session),
        Command::Cancel(args) => cancel::run(&args, session),
        Command::Keys(args) => keys::run(&args, session),
        Command::Completions(args) => completions::run(&args, session),
    }
}

/// Reads a kind as circuit ids spell it: porep, snap, wpost, winning.
fn family_parser() -> impl TypedValueParser<Value = Family> {
    PossibleValuesParser::new(Family::ALL.map(Family::prefix)).map(|prefix| {
        Family::ALL
            .into_iter()
            .find(|family| family.prefix() == prefix)
            .expect("clap lets only the prefixes pass")
    })
}

/// Reads a sector size as registered proofs spell it: 2KiB, 8MiB, 512MiB, 32GiB, 64GiB.
fn size_parser() -> impl TypedValueParser<Value = SectorSize> {
    PossibleValuesParser::new(SectorSize::ALL.map(SectorSize::label)).map(|label| {
        SectorSize::ALL
            .into_iter()
            .find(|size| size.label() == label)
            .expect("clap lets only the labels pass")
    })
}
