//! `cuzk circuit compile`: finds what a circuit repeats and writes it as a file.

use std::{path::PathBuf, time::Instant};

use clap::Args;
use cuzk_circuits::{CircuitId, circuit_label, circuit_path, write_circuit};
use serde::Serialize;

use crate::{
    circuits,
    environment::Concern,
    exit::{ExitClass, OrExit as _},
    memory::PeakMeter,
    option_values::circuit,
    output::Page,
    session::Session,
    units,
};

/// Compile a circuit into a file of megabytes that expands to its rows
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk circuit compile porep-2k --out ./porep-2k.circuit\n  cuzk circuit \
                  compile porep-32g --keys ./keys --json"
)]
pub(super) struct CompileArgs {
    /// The circuit, such as porep-2k, snap-32g, wpost-512m or winning-64g
    #[arg(value_name = "ID", value_parser = circuit)]
    circuit: CircuitId,
    /// The file to write; without it, one in the key folder, named after the circuit and what it was
    /// built from
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The key folder [default: `FIL_PROOFS_PARAMETER_CACHE`, else the usual one]
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    keys: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Compilation {
    circuit: String,
    file: PathBuf,
    file_bytes: u64,
    digest: String,
    templates: u64,
    compile_s: f64,
    write_s: f64,
    peak_rss_bytes: Option<u64>,
}

pub(super) fn run(args: &CompileArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Synthesis])?;
    let id = args.circuit;
    let path = if let Some(path) = &args.out {
        path.clone()
    } else {
        let folder = session.environment.parameter_folder(args.keys.as_deref())?;
        circuit_path(&folder.path, id)
    };
    let meter = PeakMeter::start();
    let start = Instant::now();
    let circuit = circuits::compile(id, &session.output)?;
    let compile_s = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let bytes = circuit.to_file_bytes(&circuit_label(id));
    write_circuit(&path, &bytes).or_exit(ExitClass::Resource, || {
        format!("writing {}", path.display())
    })?;
    let compilation = Compilation {
        circuit: id.to_string(),
        file: path,
        file_bytes: bytes.len() as u64,
        digest: circuit.digest().to_string(),
        templates: circuit.templates().len() as u64,
        compile_s,
        write_s: start.elapsed().as_secs_f64(),
        peak_rss_bytes: meter.finish(),
    };
    session
        .output
        .result(&compilation, |page| compilation.write(page))
}

impl Compilation {
    fn write(&self, page: &mut Page) {
        page.fields(&[
            ("circuit", self.circuit.clone()),
            (
                "file",
                format!(
                    "{} ({})",
                    self.file.display(),
                    units::bytes(self.file_bytes)
                ),
            ),
            ("digest", self.digest.clone()),
            ("templates", units::count(self.templates)),
            (
                "made in",
                format!(
                    "{:.1} s, peak memory {}",
                    self.compile_s + self.write_s,
                    units::bytes_or_unknown(self.peak_rss_bytes)
                ),
            ),
        ]);
    }
}
