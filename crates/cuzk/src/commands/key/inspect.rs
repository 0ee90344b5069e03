//! `cuzk key inspect`: what a key file says about itself, and which circuits it could belong to.

use std::path::{Path, PathBuf};

use clap::Args;
use cuzk_circuits::CircuitId;
use cuzk_groth16::{OpenOptions, ProvingKey};
use serde::Serialize;

use super::Counts;
use crate::{
    keys::{KeyResult as _, unexpected_counts},
    option_values::whole,
    output::Page,
    session::Session,
    units,
};

/// Show the header, vector lengths and sizes of a key file, and the circuits that it fits
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk key inspect ./keys/v28-….params\n  cuzk key inspect \
                        ./keys/v28-….params --json"
)]
pub(super) struct InspectArgs {
    /// The .params file
    file: PathBuf,
    /// Bytes after the last vector that belong to something else, such as a ceremony's transcript
    #[arg(long, value_name = "BYTES", value_parser = whole::<u64>)]
    trailer: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Inspection {
    file: PathBuf,
    file_bytes: u64,
    trailer_bytes: u64,
    counts: Counts,
    points: u64,
    log_domain: u32,
    alpha_g1: String,
    circuit_by_name: Option<String>,
    circuits_by_counts: Vec<String>,
    counts_fit_name: Option<bool>,
}

pub(super) fn run(args: &InspectArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[])?;
    let options = OpenOptions {
        trailer_bytes: args.trailer,
    };
    let key = ProvingKey::open(&args.file, &options)
        .or_exit_by_kind(|| "not a usable proving key".to_owned())?;
    let inspection = Inspection::new(&key);
    session
        .output
        .result(&inspection, |page| inspection.write(page))
}

/// The circuit whose key has this file name.
pub(super) fn circuit_named(path: &Path) -> Option<CircuitId> {
    let stem = path.file_stem()?.to_str()?;
    CircuitId::all().find(|id| id.info().key_file_stem == stem)
}

impl Inspection {
    fn new(key: &ProvingKey) -> Self {
        let counts = key.counts();
        let named = circuit_named(key.path());
        // A circuit that nobody counted fits by its inputs alone, which says too little.
        let fitting: Vec<CircuitId> = CircuitId::all()
            .filter(|id| {
                let info = id.info();
                info.num_constraints.is_some() && unexpected_counts(&info, counts).is_empty()
            })
            .collect();
        Self {
            file: key.path().to_owned(),
            file_bytes: key.file_bytes(),
            trailer_bytes: key.trailer().len() as u64,
            points: counts.num_points(),
            log_domain: (counts.h + 1).trailing_zeros(),
            alpha_g1: crate::encoding::hex(&key.verifying_key().alpha_g1.to_compressed()),
            circuit_by_name: named.map(|id| id.to_string()),
            circuits_by_counts: fitting.iter().map(CircuitId::to_string).collect(),
            counts_fit_name: named.map(|id| unexpected_counts(&id.info(), counts).is_empty()),
            counts: counts.into(),
        }
    }

    fn write(&self, page: &mut Page) {
        let by_name = match (&self.circuit_by_name, self.counts_fit_name) {
            (Some(id), Some(true)) => id.clone(),
            (Some(id), _) => format!("{id}, but the vectors are of ANOTHER circuit"),
            (None, _) => "none of ours".to_owned(),
        };
        let by_counts = if self.circuits_by_counts.is_empty() {
            "none that is known".to_owned()
        } else {
            self.circuits_by_counts.join(", ")
        };
        page.fields(&[
            ("file", self.file.display().to_string()),
            (
                "size",
                format!(
                    "{} bytes ({}), trailer {} bytes",
                    units::count(self.file_bytes),
                    units::bytes(self.file_bytes),
                    units::count(self.trailer_bytes)
                ),
            ),
            ("points", self.counts.text()),
            ("domain", format!("2^{}", self.log_domain)),
            ("alpha in G1", self.alpha_g1.clone()),
            ("circuit by name", by_name),
            ("circuit by vectors", by_counts),
        ]);
    }
}
