//! `cuzk bench evaluate`: row values by templates and by building every row.

use std::{num::NonZeroU32, path::PathBuf, time::Duration};

use anyhow::Context as _;

use clap::Args;
use cuzk_circuits::{CircuitId, CircuitVisitor, Statement, WitnessLayout};
use cuzk_r1cs::{
    CompiledCircuit, DirectEvaluation, EvaluateError, Fr, PackedWitness, RowDigest,
    TemplateEvaluator, evaluate_first_rows,
};
use serde::Serialize;

use super::oracle::{DirectRows, random_point};
use crate::{
    circuits,
    commands::circuit::open_compiled,
    cpu_time::ThreadTimer,
    environment::Concern,
    exit::{ExitClass, OrExit as _, failure},
    inputs::request_for,
    option_values::{circuit, count},
    output::{Output, Page},
    request_args::decode,
    session::Session,
    units,
};

/// The partition that is evaluated; all partitions of a proof have the same circuit.
const PARTITION: usize = 0;

/// Evaluate the rows of a circuit by templates and by building every row
///
/// Both sides evaluate the same first rows of the same partition on one thread, and all values are compared. Times are those that
/// the thread ran. Building rows gives the values of the variables on the way, which cannot be taken out of its time;
/// evaluating by templates begins with them, and writes into memory of some MiB that is used again. With --digest all rows are
/// evaluated and none is kept: both sides fold them into a digest, which counts in the time of both.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk bench evaluate --circuit porep-2k --json\n  cuzk bench evaluate \
                  --circuit porep-32g --rows-fraction 0.06 --compiled ./porep-32g.circuit\n  cuzk bench evaluate --circuit porep-32g --digest"
)]
pub(super) struct EvaluateArgs {
    /// The circuit; at 2 KiB about sealed sectors, at other sizes about synthetic ones
    #[arg(long, value_name = "ID", value_parser = circuit)]
    circuit: CircuitId,
    /// The part of the rows to evaluate, above 0 and at most 1; a row takes 96 bytes
    #[arg(long, value_name = "F", default_value = "1", value_parser = fraction)]
    rows_fraction: f64,
    /// Compare a digest of all rows instead, in little memory
    #[arg(long, conflicts_with = "rows_fraction")]
    digest: bool,
    /// The compiled circuit [default: compiled anew]
    #[arg(long, value_name = "FILE")]
    compiled: Option<PathBuf>,
    /// Runs by templates, of which the best counts
    #[arg(long, value_name = "N", value_parser = count::<NonZeroU32>, default_value = "3")]
    repeat: NonZeroU32,
}

fn fraction(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|&fraction| fraction > 0.0 && fraction <= 1.0)
        .ok_or_else(|| "not above 0 and at most 1".to_owned())
}

#[derive(Debug, Serialize)]
struct EvaluateResult {
    circuit: String,
    /// `values` or `digest`.
    compared: &'static str,
    num_rows: u64,
    ours_core_s: f64,
    direct_core_s: f64,
    ratio: f64,
    ours_ns_per_row: f64,
    direct_ns_per_row: f64,
    prepare_core_s: f64,
    equal: bool,
}

pub(super) fn run(args: &EvaluateArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Threads, Concern::Sealing, Concern::Synthesis])?;
    session.start_threads()?;
    let id = args.circuit;
    let circuit = compiled_circuit(args, session)?;
    let statement = decode(&request_for(id, &session.output)?)?;
    // One thread, so that the time of that thread is all time.
    let alone = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .context("starting a thread")?;
    let timer = ThreadTimer::start();
    let evaluator = TemplateEvaluator::new(&circuit);
    let prepare = timer.finish();
    let sides = alone.install(|| {
        let comparison = Comparison {
            circuit: &circuit,
            evaluator: &evaluator,
            statement: &statement,
            repeat: args.repeat,
        };
        if args.digest {
            comparison.of_digests(&session.output)
        } else {
            comparison.of_values(args.rows_fraction, &session.output)
        }
    })?;
    let result = EvaluateResult::new(id, args.digest, &sides, prepare);
    session.output.result(&result, |page| result.write(page))
}

/// What both sides took for the same rows, whose values are equal.
struct Sides {
    num_rows: usize,
    ours: Duration,
    direct: Duration,
}

/// Both sides on this thread, which has the current pool for itself.
struct Comparison<'a> {
    circuit: &'a CompiledCircuit,
    evaluator: &'a TemplateEvaluator,
    statement: &'a Statement,
    repeat: NonZeroU32,
}

impl Comparison<'_> {
    /// Of the first rows, all kept.
    fn of_values(&self, rows_fraction: f64, output: &Output) -> anyhow::Result<Sides> {
        let id = self.statement.circuit_id();
        #[allow(clippy::cast_sign_loss, reason = "a fraction of a count is a count")]
        let num_rows =
            (self.circuit.shape().num_constraints as f64 * rows_fraction).ceil() as usize;
        let step = output.step(&format!("{id}: building rows"));
        let (built, direct) = build_rows(self.statement, num_rows)?;
        step.rename(&format!("{id}: evaluating by templates"));
        let packed = PackedWitness::pack(self.circuit.kinds(), &built.witness)
            .or_exit(ExitClass::Internal, || {
                format!("{id} partition {PARTITION}")
            })?;
        let ours = best_of(self.repeat, || {
            self.evaluator
                .evaluate_blocks(&packed, num_rows, &|_, values| {
                    std::hint::black_box(values);
                })
        })?;
        expect_equal(self.evaluator, &packed, &built)?;
        Ok(Sides {
            num_rows,
            ours,
            direct,
        })
    }

    /// Of all rows, none kept.
    fn of_digests(&self, output: &Output) -> anyhow::Result<Sides> {
        let id = self.statement.circuit_id();
        let num_rows = self.circuit.shape().num_constraints;
        let layout = WitnessLayout::of_compiled(id, self.circuit)
            .or_exit(ExitClass::Internal, || id.to_string())?;
        let packed = self
            .statement
            .packed_witness(PARTITION, &layout)
            .or_exit(ExitClass::Internal, || id.to_string())?;
        let point = random_point();
        let step = output.step(&format!("{id}: evaluating by templates"));
        let mut digest = RowDigest::default();
        let ours = best_of(self.repeat, || {
            digest = self.evaluator.row_digest(&packed, point)?;
            Ok(())
        })?;
        step.rename(&format!("{id}: building rows"));
        let rows = DirectRows::build(self.statement, PARTITION, &packed, point)?;
        rows.expect(num_rows, digest)?;
        Ok(Sides {
            num_rows,
            ours,
            direct: rows.core,
        })
    }
}

fn compiled_circuit(args: &EvaluateArgs, session: &Session) -> anyhow::Result<CompiledCircuit> {
    let id = args.circuit;
    if let Some(path) = &args.compiled {
        let (found, circuit) = open_compiled(path)?;
        return if found == id {
            Ok(circuit)
        } else {
            Err(failure(
                ExitClass::InvalidInput,
                format!("{}: a file of {found}, expected {id}", path.display()),
            ))
        };
    }
    circuits::compile(id, &session.output)
}

/// The first rows of a statement's circuit, and the processor time until they were there.
fn build_rows(
    statement: &Statement,
    num_rows: usize,
) -> anyhow::Result<(DirectEvaluation, Duration)> {
    struct Build<'a> {
        num_rows: usize,
        reached: &'a mut (dyn FnMut() + Send),
    }
    impl CircuitVisitor for Build<'_> {
        type Output = Result<DirectEvaluation, bellpepper_core::SynthesisError>;

        fn visit<C: bellpepper_core::Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
            evaluate_first_rows(circuit, self.num_rows, self.reached)
        }
    }
    let context = || format!("{} partition {PARTITION}", statement.circuit_id());
    let mut timer = Some(ThreadTimer::start());
    let mut time = Duration::ZERO;
    let build = Build {
        num_rows,
        reached: &mut || time = timer.take().map_or(time, ThreadTimer::finish),
    };
    let direct = statement
        .with_circuit(PARTITION, build)
        .or_exit(ExitClass::InvalidInput, context)?
        .or_exit(ExitClass::Internal, context)?;
    Ok((direct, time))
}

/// The time of the best run, on the current thread.
fn best_of(
    runs: NonZeroU32,
    mut evaluate: impl FnMut() -> Result<(), EvaluateError>,
) -> anyhow::Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..runs.get() {
        let timer = ThreadTimer::start();
        evaluate().or_exit(ExitClass::Internal, || "evaluating".to_owned())?;
        best = best.min(timer.finish());
    }
    Ok(best)
}

/// Every value by templates is the one that the row gave when it was built.
fn expect_equal(
    evaluator: &TemplateEvaluator,
    packed: &PackedWitness,
    direct: &DirectEvaluation,
) -> anyhow::Result<()> {
    let num_rows = direct.shape.num_constraints;
    let (sender, different) = std::sync::mpsc::channel();
    let rows = &direct.evaluations;
    evaluator
        .evaluate_blocks(packed, num_rows, &|first, values| {
            let last = num_rows.min(first + values[0].len());
            for (values, expected) in values.into_iter().zip([&rows.a, &rows.b, &rows.c]) {
                if values[..last - first] != expected[first..last] {
                    // Nobody has stopped listening.
                    let _ = sender.send(first);
                }
            }
        })
        .or_exit(ExitClass::Internal, || "evaluating".to_owned())?;
    drop(sender);
    match different.into_iter().min() {
        None => Ok(()),
        Some(first) => Err(failure(
            ExitClass::Internal,
            format!("the rows from {first} on have other values by templates"),
        )),
    }
}

impl EvaluateResult {
    fn new(id: CircuitId, digest: bool, sides: &Sides, prepare: Duration) -> Self {
        let [ours, direct] = [sides.ours, sides.direct].map(|time| time.as_secs_f64());
        let rows = sides.num_rows as f64;
        Self {
            circuit: id.to_string(),
            compared: if digest { "digest" } else { "values" },
            num_rows: sides.num_rows as u64,
            ours_core_s: ours,
            direct_core_s: direct,
            ratio: direct / ours,
            ours_ns_per_row: ours * 1e9 / rows,
            direct_ns_per_row: direct * 1e9 / rows,
            prepare_core_s: prepare.as_secs_f64(),
            equal: true,
        }
    }

    fn write(&self, page: &mut Page) {
        let time = |seconds: f64, ns_per_row: f64| {
            format!("{seconds:.2} core-seconds, {ns_per_row:.1} ns per row")
        };
        page.fields(&[
            ("circuit", self.circuit.clone()),
            (
                "rows",
                format!(
                    "{}, equal by {}",
                    units::count(self.num_rows),
                    self.compared
                ),
            ),
            ("by templates", time(self.ours_core_s, self.ours_ns_per_row)),
            (
                "building rows",
                time(self.direct_core_s, self.direct_ns_per_row),
            ),
            ("ratio", format!("{:.1}", self.ratio)),
            (
                "prepared in",
                format!("{:.2} core-seconds, once per circuit", self.prepare_core_s),
            ),
        ]);
    }
}
