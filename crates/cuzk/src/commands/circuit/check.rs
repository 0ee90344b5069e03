//! `cuzk circuit check`: is a file what its circuit is today?
//!
//! The file is expanded to rows again, and their digest compared with that of a fresh recording. Whatever the compiler, the
//! format or a disk got wrong shows there; the two sides share nothing but the hash.

use std::{path::PathBuf, time::Instant};

use clap::Args;
use cuzk_circuits::with_blank_circuit;
use serde::Serialize;

use super::{files::CircuitFile, inspect::Summarize, rows::RowProgress};
use crate::{
    environment::Concern,
    exit::{ExitClass, OrExit as _, failure},
    memory::PeakMeter,
    output::Page,
    session::Session,
    units,
};

/// Expand a compiled circuit and compare it with a fresh recording of its circuit
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cuzk circuit check ./porep-2k.circuit")]
pub(super) struct CheckArgs {
    /// A file that `circuit compile` made
    #[arg(value_name = "FILE")]
    file: PathBuf,
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

pub(super) fn run(args: &CheckArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Synthesis])?;
    let meter = PeakMeter::start();
    let file = CircuitFile::open(&args.file)?;
    let (id, circuit) = (file.id, &file.circuit);
    let num_constraints = circuit.shape().num_constraints;

    let start = Instant::now();
    let rows = RowProgress::start(format!("expanding {id}"), Some(num_constraints), session);
    let expanded = circuit.expanded_digest(&|done| rows.set(done));
    drop(rows);
    let expand_s = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let rows = RowProgress::start(format!("recording {id}"), Some(num_constraints), session);
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
                    args.file.display()
                ),
            ));
        }
    }
    if circuit.densities() != &recorded.densities {
        return Err(failure(
            ExitClass::Internal,
            format!("{}: equal rows have other densities", args.file.display()),
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
