//! `cuzk sector synth`: vanilla proofs that are valid, about sectors that nobody sealed.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::{Args, Subcommand, ValueEnum};
use cuzk_circuits::{
    CircuitId, Family, SectorSize,
    synthetic::{SectorData, SyntheticError, SyntheticKind, SyntheticSpec},
};
use serde::Serialize;

use super::{family_parser, size_parser};
use crate::{
    environment::Concern,
    exit::{ExitClass, classed},
    inputs::check_sectors,
    memory::PeakMeter,
    option_values::{count, whole},
    output::Page,
    saved::write_request,
    session::Session,
    units,
};

/// Make sectors to prove something about
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  cuzk sector synth --kind porep --size 32GiB --seed 1 --out c1.json"
)]
pub(crate) struct SectorArgs {
    #[command(subcommand)]
    command: SectorCommand,
}

#[derive(Debug, Subcommand)]
enum SectorCommand {
    Synth(SynthArgs),
}

/// Write the vanilla proof of a synthetic sector as a client would send it, without sealing anything
///
/// Upstream's verification accepts the vanilla proof and `cuzk prove` proves it, but nobody stores the sector, so that it is
/// worthless on a chain. Only what the proof looks at is computed: seconds at any size. The same options give the same bytes.
/// A replication is one file, the C1 output in its wrapper; the other kinds are a folder with one file per partition or
/// sector.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk sector synth --kind porep --size 32GiB --seed 1 --out c1.json\n  cuzk sector synth \
                  --kind wpost --size 32GiB --seed 7 --sectors 100 --out ./wpost --json"
)]
struct SynthArgs {
    /// What is to be proved
    #[arg(long, value_name = "KIND", value_parser = family_parser())]
    kind: Family,
    /// Size of the sector
    #[arg(long, value_name = "SIZE", value_parser = size_parser())]
    size: SectorSize,
    /// Where all free content comes from
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    seed: u64,
    /// The file of a replication; the folder of any other kind
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// What the sector stores; proofs of spacetime do not see it
    #[arg(long, value_name = "DATA", default_value = "random")]
    data: DataChoice,
    /// Sectors of a WindowPoSt; other kinds have one
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>, default_value = "1")]
    sectors: NonZeroUsize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum DataChoice {
    /// Pseudo-random nodes
    Random,
    /// Zeros, as in a sector that was sealed empty
    Zero,
}

#[derive(Debug, Serialize)]
struct SynthResult {
    circuit: String,
    seed: u64,
    data: DataChoice,
    sectors: u64,
    files: Vec<PathBuf>,
    bytes: u64,
    seconds: f64,
    peak_rss_bytes: Option<u64>,
    /// Proves what was written.
    command: String,
}

pub(crate) fn run(args: &SectorArgs, session: &Session) -> anyhow::Result<()> {
    match &args.command {
        SectorCommand::Synth(args) => synth(args, session),
    }
}

fn synth(args: &SynthArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Threads, Concern::Sealing])?;
    session.start_threads()?;
    let spec = args.spec()?;
    let circuit = spec.circuit_id();
    let meter = PeakMeter::start();
    let start = Instant::now();
    let step = session
        .output
        .step(&format!("making a synthetic sector for {circuit}"));
    let request = spec.request().map_err(|error| {
        let class = match error {
            SyntheticError::NumSectors { .. } | SyntheticError::ChallengesNeedReplica { .. } => {
                ExitClass::Usage
            }
            SyntheticError::Upstream { .. } => ExitClass::Internal,
        };
        classed(class, circuit.to_string(), error)
    })?;
    step.rename("writing files");
    let place = |name: &str| place(args.kind, &args.out, name);
    let written = write_request(&request, &place)?;
    drop(step);
    let result = SynthResult {
        circuit: circuit.to_string(),
        seed: args.seed,
        data: args.data,
        sectors: args.sectors.get() as u64,
        bytes: written.bytes,
        seconds: start.elapsed().as_secs_f64(),
        peak_rss_bytes: meter.finish(),
        command: format!("cuzk prove {} {}", args.kind.prefix(), written.options),
        files: written.files,
    };
    session.output.result(&result, |page| result.write(page))
}

/// Where a file of a request goes: a replication has only one.
fn place(kind: Family, out: &Path, name: &str) -> PathBuf {
    match kind {
        Family::PoRep => out.to_owned(),
        Family::SnapDeals | Family::WindowPoSt | Family::WinningPoSt => out.join(name),
    }
}

impl SynthArgs {
    fn spec(&self) -> anyhow::Result<SyntheticSpec> {
        let num_sectors = self.sectors.get();
        check_sectors(CircuitId::new(self.kind, self.size), num_sectors)?;
        Ok(SyntheticSpec {
            kind: SyntheticKind::current(self.kind, num_sectors),
            sector_size: self.size,
            seed: self.seed,
            data: match self.data {
                DataChoice::Random => SectorData::Random,
                DataChoice::Zero => SectorData::Zero,
            },
        })
    }
}

impl SynthResult {
    fn write(&self, page: &mut Page) {
        let files = match self.files.as_slice() {
            [file] => file.display().to_string(),
            files => format!("{} files", files.len()),
        };
        page.line(&format!(
            "{}: {files}, {}, in {:.1} s\n\nIt is proved by\n{}",
            self.circuit,
            units::bytes(self.bytes),
            self.seconds,
            self.command
        ));
    }
}
