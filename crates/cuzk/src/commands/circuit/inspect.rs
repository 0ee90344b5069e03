//! `cuzk circuit inspect`: counts the real circuit, row by row, without keeping it, or tells what a file of a
//! compiled circuit holds. What the counts say about the key (lengths, file size) follows from them.

use std::{path::Path, time::Instant};

use clap::Args;
use cuzk_circuits::{CircuitId, CircuitInfo, CircuitVisitor, PartitionRule, with_blank_circuit};
use cuzk_groth16::QueryCounts;
use cuzk_r1cs::{CircuitSummary, Fr, summarize};
use serde::Serialize;

use super::files::{CircuitFile, CompiledFacts};
use crate::{
    environment::Concern,
    exit::{ExitClass, OrExit as _},
    memory::PeakMeter,
    output::Page,
    rows::RowProgress,
    session::Session,
    units,
};

/// Count a circuit: constraints, variables, non-zeros, densities, coefficients, digest, and the key
/// that fits it
///
/// A circuit id is synthesized without values, which takes a minute for the largest circuits; a file
/// of a compiled circuit is loaded. Rows and non-zeros include the row that the prover adds for each input; constraints, longest
/// rows and digest do not.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk circuit inspect porep-2k\n  cuzk circuit inspect \
                        porep-32g --json\n  cuzk circuit inspect ./porep-32g.circuit"
)]
pub(super) struct InspectArgs {
    /// The circuit, such as porep-2k, snap-32g, wpost-512m or winning-64g, or a file that `circuit
    /// compile` made
    #[arg(value_name = "ID|FILE")]
    circuit: String,
}

#[derive(Debug, Serialize)]
struct Inspection {
    circuit: String,
    num_constraints: u64,
    num_aux: u64,
    num_inputs: u64,
    num_rows: u64,
    log_domain: u32,
    non_zeros: PerMatrix,
    longest_rows: PerMatrix,
    densities: DensityCounts,
    coefficients: u64,
    digest: String,
    partitions: Option<u64>,
    sectors_per_partition: Option<u64>,
    key_file: String,
    key_bytes: u64,
    expected_constraints: Option<u64>,
    matches_expected: Option<bool>,
    seconds: f64,
    peak_rss_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compiled: Option<CompiledFacts>,
}

#[derive(Debug, Serialize)]
struct PerMatrix {
    a: u64,
    b: u64,
    c: u64,
}

#[derive(Debug, Serialize)]
struct DensityCounts {
    a_aux: u64,
    b_input: u64,
    b_aux: u64,
}

pub(super) fn run(args: &InspectArgs, session: &Session) -> anyhow::Result<()> {
    match args.circuit.parse() {
        Ok(id) => inspect(id, session),
        Err(error) => {
            let path = Path::new(&args.circuit);
            if path.exists() {
                inspect_file(path, session)
            } else {
                Err(error).or_exit(ExitClass::Usage, || {
                    format!("{} is no file and no circuit", args.circuit)
                })
            }
        }
    }
}

fn inspect(id: CircuitId, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Synthesis])?;
    let info = id.info();
    let meter = PeakMeter::start();
    let start = Instant::now();
    let what = format!("counting {id}");
    let rows = RowProgress::start(what, info.num_constraints, &session.output);
    let summary = with_blank_circuit(id, Summarize(&rows))
        .or_exit(ExitClass::Internal, || format!("synthesizing {id}"))?;
    drop(rows);
    let cost = Cost {
        seconds: start.elapsed().as_secs_f64(),
        peak_rss_bytes: meter.finish(),
    };
    let inspection = Inspection::new(&info, &summary, None, cost);
    session
        .output
        .result(&inspection, |page| inspection.write(page))
}

fn inspect_file(path: &Path, session: &Session) -> anyhow::Result<()> {
    session.announce(&[])?;
    let meter = PeakMeter::start();
    let opened = CircuitFile::open(path)?;
    let cost = Cost {
        seconds: opened.seconds,
        peak_rss_bytes: meter.finish(),
    };
    let compiled = CompiledFacts::new(&opened);
    let summary = opened.circuit.summary();
    let inspection = Inspection::new(&opened.id.info(), &summary, Some(compiled), cost);
    session
        .output
        .result(&inspection, |page| inspection.write(page))
}

/// What it took to know.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    peak_rss_bytes: Option<u64>,
}

/// Counts whatever circuit it is shown.
pub(super) struct Summarize<'a>(pub(super) &'a RowProgress);

impl CircuitVisitor for Summarize<'_> {
    type Output = Result<CircuitSummary, bellpepper_core::SynthesisError>;

    fn visit<C: bellpepper_core::Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        summarize(circuit, &|rows| self.0.set(rows))
    }
}

impl Inspection {
    fn new(
        info: &CircuitInfo,
        summary: &CircuitSummary,
        compiled: Option<CompiledFacts>,
        cost: Cost,
    ) -> Self {
        let shape = summary.shape;
        let counts = QueryCounts::of_circuit(&shape, &summary.densities);
        let (partitions, sectors_per_partition) = match info.partitions {
            PartitionRule::Fixed(partitions) => (Some(partitions as u64), None),
            PartitionRule::Sectors { per_partition } => (None, Some(per_partition as u64)),
        };
        let [a, b, c] = summary.non_zeros;
        let [longest_a, longest_b, longest_c] = summary.longest_rows.map(|row| row as u64);
        Self {
            circuit: info.id.to_string(),
            num_constraints: shape.num_constraints as u64,
            num_aux: shape.num_aux as u64,
            num_inputs: shape.num_inputs as u64,
            num_rows: shape.num_rows() as u64,
            log_domain: shape.log_domain(),
            non_zeros: PerMatrix { a, b, c },
            longest_rows: PerMatrix {
                a: longest_a,
                b: longest_b,
                c: longest_c,
            },
            densities: DensityCounts {
                a_aux: summary.densities.a_aux.count_ones() as u64,
                b_input: summary.densities.b_input.count_ones() as u64,
                b_aux: summary.densities.b_aux.count_ones() as u64,
            },
            coefficients: summary.num_coefficients as u64,
            digest: summary.digest.to_string(),
            partitions,
            sectors_per_partition,
            key_file: format!("{}.params", info.key_file_stem),
            key_bytes: counts.file_bytes(),
            expected_constraints: info.num_constraints.map(|count| count as u64),
            matches_expected: info
                .num_constraints
                .map(|expected| expected == shape.num_constraints),
            seconds: cost.seconds,
            peak_rss_bytes: cost.peak_rss_bytes,
            compiled,
        }
    }

    fn write(&self, page: &mut Page) {
        let mut fields = self.count_fields();
        fields.extend(self.key_fields());
        fields.push(self.cost_field());
        if let Some(compiled) = &self.compiled {
            fields.extend(compiled.fields());
        }
        page.fields(&fields);
    }

    fn count_fields(&self) -> Vec<(&'static str, String)> {
        let three = |matrix: &PerMatrix| {
            format!(
                "A {}, B {}, C {}",
                units::count(matrix.a),
                units::count(matrix.b),
                units::count(matrix.c)
            )
        };
        let expected = self.expected_text();
        vec![
            ("circuit", self.circuit.clone()),
            (
                "constraints",
                format!("{} ({expected})", units::count(self.num_constraints)),
            ),
            (
                "inputs",
                format!("{} with ONE", units::count(self.num_inputs)),
            ),
            ("aux variables", units::count(self.num_aux)),
            (
                "rows",
                format!(
                    "{} in a domain of 2^{}",
                    units::count(self.num_rows),
                    self.log_domain
                ),
            ),
            ("non-zeros", three(&self.non_zeros)),
            ("longest rows", three(&self.longest_rows)),
            (
                "densities",
                format!(
                    "A aux {}, B input {}, B aux {}",
                    units::count(self.densities.a_aux),
                    units::count(self.densities.b_input),
                    units::count(self.densities.b_aux)
                ),
            ),
            ("coefficients", units::count(self.coefficients)),
            ("digest", self.digest.clone()),
        ]
    }

    fn key_fields(&self) -> [(&'static str, String); 3] {
        [
            ("partitions", self.partitions_text()),
            ("key file", self.key_file.clone()),
            (
                "key size",
                format!(
                    "{} bytes ({})",
                    units::count(self.key_bytes),
                    units::bytes(self.key_bytes)
                ),
            ),
        ]
    }

    fn cost_field(&self) -> (&'static str, String) {
        let what = match self.compiled {
            Some(_) => "loaded in",
            None => "counted in",
        };
        let peak = units::bytes_or_unknown(self.peak_rss_bytes);
        (what, format!("{:.2} s, peak memory {peak}", self.seconds))
    }

    fn expected_text(&self) -> String {
        match (self.expected_constraints, self.matches_expected) {
            (Some(_), Some(true)) => "as known for this circuit".to_owned(),
            (Some(expected), _) => format!("DIFFERS from the known {}", units::count(expected)),
            (None, _) => "no known count to compare with".to_owned(),
        }
    }

    fn partitions_text(&self) -> String {
        match (self.partitions, self.sectors_per_partition) {
            (Some(partitions), _) => format!("{partitions} per proof"),
            (None, Some(sectors)) => format!("one per {} sectors", units::count(sectors)),
            (None, None) => "unknown".to_owned(),
        }
    }
}
