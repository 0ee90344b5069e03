//! `cuzk circuit compile`: finds what a circuit repeats and writes it as a file.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;
use cuzk_circuits::{CircuitId, CircuitVisitor, with_blank_circuit};
use cuzk_r1cs::{CompileError, CompiledCircuit, Fr};
use serde::Serialize;

use super::{files, rows::RowProgress};
use crate::{
    environment::Concern,
    exit::{ExitClass, OrExit as _},
    keys::create_folder,
    memory::PeakMeter,
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
    #[arg(value_name = "ID")]
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
    let path = match &args.out {
        Some(path) => path.clone(),
        None => session
            .environment
            .parameter_folder(args.keys.as_deref())?
            .path
            .join(files::default_name(id)),
    };
    let meter = PeakMeter::start();
    let start = Instant::now();
    let rows = RowProgress::start(
        format!("compiling {id}"),
        id.info().num_constraints,
        session,
    );
    let circuit = with_blank_circuit(id, Compile(&rows))
        .or_exit(ExitClass::Internal, || format!("compiling {id}"))?;
    drop(rows);
    let compile_s = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let bytes = circuit.to_file_bytes(&files::label(id));
    write_whole(&path, &bytes)?;
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

/// Compiles whatever circuit it is shown.
pub(super) struct Compile<'a>(pub(super) &'a RowProgress);

impl CircuitVisitor for Compile<'_> {
    type Output = Result<CompiledCircuit, CompileError>;

    fn visit<C: bellpepper_core::Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        CompiledCircuit::compile(circuit, &|rows| self.0.set(rows))
    }
}

/// Writes a file that is there as a whole or not at all, so that no other process reads a part of it.
fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    create_folder(folder)?;
    let context = || format!("writing {}", path.display());
    let mut file = tempfile::NamedTempFile::new_in(folder).or_exit(ExitClass::Resource, context)?;
    file.write_all(bytes)
        .and_then(|()| file.as_file().sync_all())
        .or_exit(ExitClass::Resource, context)?;
    file.persist(path)
        .or_exit(ExitClass::Resource, context)
        .map(drop)
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
