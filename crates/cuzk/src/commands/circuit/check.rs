//! `cuzk circuit check`: is a file what its circuit is today? And does a vanilla proof satisfy the circuit?
//!
//! The file is expanded to rows again, and their digest compared with that of a fresh recording. Whatever the compiler, the
//! format or a disk got wrong shows there; the two sides share nothing but the hash.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;
use cuzk_circuits::{CircuitId, with_blank_circuit};
use serde::Serialize;

use super::{
    files::CircuitFile,
    inspect::Summarize,
    satisfied::{self, VanillaValues},
};
use crate::{
    environment::Concern,
    exit::{ExitClass, OrExit as _, failure},
    memory::PeakMeter,
    option_values::{circuit, whole},
    output::Page,
    request_args::MinerId,
    rows::RowProgress,
    session::Session,
    units,
};

/// Expand a compiled circuit and compare it with a fresh recording of its circuit; or, with --satisfied, evaluate all rows of
/// one partition of a vanilla proof
///
/// With --satisfied the circuit is synthesized with the values of the vanilla proof, and the first row that does not hold is
/// named. That takes minutes at 32 GiB, and the memory of all variables as field elements, 4 GiB.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk circuit check ./porep-2k.circuit\n  cuzk circuit check --satisfied --circuit porep-32g \
                  --c1 c1.json --partition 3\n\ncuzk sector synth writes C1 output of synthetic sectors."
)]
pub(super) struct CheckArgs {
    /// A file that `circuit compile` made
    #[arg(
        value_name = "FILE",
        required_unless_present = "satisfied",
        conflicts_with = "satisfied"
    )]
    file: Option<PathBuf>,
    /// Check that all rows hold with the values of a vanilla proof of replication
    #[arg(long, requires_all = ["circuit", "c1", "partition"])]
    satisfied: bool,
    /// The circuit; C1 output of another one is refused
    #[arg(long, value_name = "ID", requires = "satisfied", value_parser = circuit)]
    circuit: Option<CircuitId>,
    /// C1 output as clients send it: JSON with `SectorNum`, `Phase1Out` and `SectorSize`
    #[arg(long, value_name = "FILE", requires = "satisfied")]
    c1: Option<PathBuf>,
    /// The miner, such as 1000 or f01000 [default: 1000, who owns all synthetic sectors]
    #[arg(long, value_name = "ID", requires = "satisfied")]
    miner_id: Option<MinerId>,
    /// The partition, from 0
    #[arg(long, value_name = "N", requires = "satisfied", value_parser = whole::<usize>)]
    partition: Option<usize>,
}

pub(super) fn run(args: &CheckArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Synthesis])?;
    if let (Some(circuit), Some(c1), Some(partition)) = (args.circuit, &args.c1, args.partition) {
        let values = VanillaValues {
            circuit,
            c1,
            miner_id: args.miner_id,
            partition,
        };
        return satisfied::run(&values, session);
    }
    let file = args.file.as_deref();
    check_file(
        file.expect("clap lets nothing else pass without a file"),
        session,
    )
}

#[derive(Debug, Serialize)]
struct Check {
    circuit: String,
    digest: String,
    num_constraints: u64,
    load_s: f64,
    expand_s: f64,
    record_s: f64,
    peak_rss_bytes: Option<u64>,
}

fn check_file(path: &Path, session: &Session) -> anyhow::Result<()> {
    let meter = PeakMeter::start();
    let file = CircuitFile::open(path)?;
    let (id, circuit) = (file.id, &file.circuit);
    let num_constraints = circuit.shape().num_constraints;

    let start = Instant::now();
    let rows = RowProgress::start(
        format!("expanding {id}"),
        Some(num_constraints),
        &session.output,
    );
    let expanded = circuit.expanded_digest(&|done| rows.set(done));
    drop(rows);
    let expand_s = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let rows = RowProgress::start(
        format!("recording {id}"),
        Some(num_constraints),
        &session.output,
    );
    let recorded = with_blank_circuit(id, Summarize(&rows))
        .or_exit(ExitClass::Internal, || format!("synthesizing {id}"))?;
    drop(rows);
    for (what, found, expected) in [
        ("rows", expanded, recorded.digest),
        ("header", circuit.digest(), recorded.digest),
    ] {
        if found != expected {
            return Err(failure(
                ExitClass::InvalidInput,
                format!(
                    "{}: {what} of another circuit: digest {found}, expected {expected} for {id}; \
                     compile it again",
                    path.display()
                ),
            ));
        }
    }
    if circuit.densities() != &recorded.densities {
        return Err(failure(
            ExitClass::Internal,
            format!("{}: equal rows have other densities", path.display()),
        ));
    }
    let check = Check {
        circuit: id.to_string(),
        digest: expanded.to_string(),
        num_constraints: num_constraints as u64,
        load_s: file.seconds,
        expand_s,
        record_s: start.elapsed().as_secs_f64(),
        peak_rss_bytes: meter.finish(),
    };
    session.output.result(&check, |page| check.write(page))
}

impl Check {
    fn write(&self, page: &mut Page) {
        page.fields(&[
            ("circuit", self.circuit.clone()),
            (
                "constraints",
                format!("{}, all as recorded", units::count(self.num_constraints)),
            ),
            ("digest", self.digest.clone()),
            (
                "checked in",
                format!(
                    "{:.2} s loading, {:.1} s expanding, {:.1} s recording, peak memory {}",
                    self.load_s,
                    self.expand_s,
                    self.record_s,
                    units::bytes_or_unknown(self.peak_rss_bytes)
                ),
            ),
        ]);
    }
}
