//! `cuzk bench partition`: one circuit, proved by us and by bellperson on the same inputs.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    path::PathBuf,
    time::Duration,
};

use clap::{Args, ValueEnum};
use cuzk_circuits::{CircuitId, Statement};
use cuzk_groth16::{Blinding, PROOF_BYTES, PreparedVerifyingKey, Proof, verify};
use serde::Serialize;

use super::{
    oracle::OracleResult,
    proof::{self, ProofArgs},
};
use crate::{
    bellperson_prover::BellpersonKey,
    circuits::load_or_compile,
    development_keys::make_missing_key,
    device_choice::{DeviceChoice, DeviceOptions},
    direct::{DirectProver, PartitionTimes},
    environment::Concern,
    exit::{ExitClass, OrExit as _, failure},
    inputs::request_for,
    keys::KeyStore,
    local::start_device,
    memory::PeakMeter,
    option_values::{circuit, count},
    output::Page,
    request_args::decode,
    session::Session,
    units,
    verification::public_inputs,
};

/// The partition that is proved; all partitions of a proof have the same circuit.
const PARTITION: usize = 0;

/// Prove one partition of a circuit about a real sector, with us and with bellperson by turns
///
/// Both provers get the same statement, key file and blinding, in one process, one after the
/// other, so their proofs must be the same bytes; both are verified. Times are those of the best
/// run of each. We generate the witness (`witness_s`), then evaluate the rows by template
/// (`evaluate_s`); bellperson does both in one pass over the circuit, which is its `evaluate_s`, and its
/// `witness_s` is 0. The clock starts when the key file is mapped; whatever a prover reads or decodes from it
/// afterwards counts. Peak memory is resident memory (`VmHWM`, set back before each run
/// through `/proc/self/clear_refs`, else sampled), mapped pages of the key that are resident included; the
/// smallest peak of each prover's runs counts. On a card this is `bench proof` with one partition: that command tells what
/// it measures.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk bench partition --circuit porep-2k --against bellperson \
                        --json\n  cuzk bench partition --circuit winning-2k --repeat 5\n  cuzk bench \
                        partition --circuit porep-32g --device cuda --json"
)]
pub(super) struct PartitionArgs {
    /// The circuit; at 2 KiB about sealed sectors, at other sizes about synthetic ones
    #[arg(long, value_name = "ID", value_parser = circuit)]
    circuit: CircuitId,
    /// What proves: `cpu`, `cuda`, or `cuda:N` for the card of number N
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceChoice,
    /// Prove with another prover, too; on the processor only
    #[arg(long, value_name = "PROVER")]
    against: Option<Opponent>,
    /// Compare the values that were proved with the direct path: the circuit synthesized by upstream's code, each variable
    /// compared, each row built, evaluated and compared by a digest
    #[arg(long)]
    oracle: bool,
    /// Runs of each prover
    #[arg(long, value_name = "N", value_parser = count::<NonZeroU32>, default_value = "1")]
    repeat: NonZeroU32,
    /// The folder of keys [default: the folder of development keys, where a missing key is made; for a card, a key that is made
    /// on it for this run]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Opponent {
    /// The prover that storage providers run
    Bellperson,
}

#[derive(Debug, Serialize)]
struct BenchResult {
    circuit: String,
    ours: SideResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    bellperson: Option<SideResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_ratio: Option<f64>,
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    oracle: Option<OracleResult>,
}

#[derive(Debug, Clone, Serialize)]
struct SideResult {
    witness_s: f64,
    evaluate_s: f64,
    prove_s: f64,
    total_s: f64,
    peak_rss_bytes: Option<u64>,
}

pub(super) fn run(args: &PartitionArgs, session: &Session) -> anyhow::Result<()> {
    if args.device != DeviceChoice::Cpu {
        return run_on_card(args, session);
    }
    session.announce(&concerns(args))?;
    let threads = session.start_threads()?;
    if args.against.is_some() {
        expect_equal_threads(threads, session)?;
    }
    let id = args.circuit;
    let store = KeyStore::new(session.environment.development_keys(args.keys.as_deref())?);
    if args.keys.is_none() {
        make_missing_key(&store, id, &session.output)?;
    }
    // A key that cannot be used is found before a sector is made.
    store.open(id)?;
    let statement = decode(&request_for(id, &session.output)?)?;
    let bench = Bench {
        statement: &statement,
        store: &store,
        threads,
        session,
    };
    let mut ours = Vec::new();
    let mut bellperson = Vec::new();
    for _ in 0..args.repeat.get() {
        let blinding = Blinding::random();
        let (side, proof) = bench.ours(blinding)?;
        ours.push(side);
        if args.against == Some(Opponent::Bellperson) {
            let (side, theirs) = bench.bellperson(blinding)?;
            bellperson.push(side);
            expect_same(proof, theirs)?;
        }
    }
    let mut result =
        BenchResult::new(id, &ours, &bellperson).expect("at least one run of ours was made");
    if args.oracle {
        result.oracle = Some(bench.oracle()?);
    }
    session.output.result(&result, |page| result.write(page))
}

fn run_on_card(args: &PartitionArgs, session: &Session) -> anyhow::Result<()> {
    let on_cpu_only = [
        (args.against.is_some(), "--against"),
        (args.oracle, "--oracle"),
    ];
    if let Some((_, option)) = on_cpu_only.iter().find(|(given, _)| *given) {
        return Err(failure(
            ExitClass::Usage,
            format!("{option} compares with what is proved on the processor: leave out --device"),
        ));
    }
    let repeat = NonZeroUsize::try_from(args.repeat).unwrap_or(NonZeroUsize::MIN);
    let proof = ProofArgs::of_partition((args.circuit, args.device), repeat, args.keys.clone());
    proof::run(&proof, session)
}

fn concerns(args: &PartitionArgs) -> Vec<Concern> {
    let mut concerns = vec![Concern::Threads, Concern::Sealing, Concern::Synthesis];
    if args.keys.is_none() {
        concerns.extend([Concern::DevelopmentKeys, Concern::CacheFolder]);
    }
    if args.against.is_some() {
        concerns.push(Concern::Bellperson);
    }
    concerns
}

/// A comparison on different numbers of threads would say nothing.
fn expect_equal_threads(threads: NonZeroUsize, session: &Session) -> anyhow::Result<()> {
    let theirs = session.environment.bellperson_threads()?;
    if theirs == threads {
        return Ok(());
    }
    Err(failure(
        ExitClass::Usage,
        format!(
            "bellperson would use {theirs} threads and cuzk {threads}; set EC_GPU_NUM_THREADS={threads}"
        ),
    ))
}

struct Bench<'a> {
    statement: &'a Statement,
    store: &'a KeyStore,
    threads: NonZeroUsize,
    session: &'a Session,
}

impl Bench<'_> {
    fn ours(&self, blinding: Blinding) -> anyhow::Result<(SideResult, [u8; PROOF_BYTES])> {
        let id = self.statement.circuit_id();
        let _step = self.session.output.step(&format!("{id}: cuzk"));
        let compiled = load_or_compile(&self.store.folder().path, id, &self.session.output)?;
        let meter = PeakMeter::start();
        let key = self.store.open(id)?;
        let device = start_device(DeviceOptions::cpu(self.threads))?;
        let prover = DirectProver::load(device, key, id, compiled)?;
        let (proof, times) = prover.prove(self.statement, PARTITION, blinding)?;
        let side = SideResult::new(times, meter.finish());
        self.verify(&proof, "cuzk")?;
        Ok((side, proof.to_bytes()))
    }

    fn bellperson(&self, blinding: Blinding) -> anyhow::Result<(SideResult, [u8; PROOF_BYTES])> {
        let id = self.statement.circuit_id();
        let _step = self.session.output.step(&format!("{id}: bellperson"));
        let meter = PeakMeter::start();
        let key = BellpersonKey::open(&self.store.params_path(&id.info()))?;
        let run = key.prove(self.statement, PARTITION, blinding)?;
        let times = PartitionTimes {
            witness: Duration::ZERO,
            evaluate: run.evaluate,
            prove: run.total.saturating_sub(run.evaluate),
        };
        let side = SideResult::new(times, meter.finish());
        drop(key);
        let proof = Proof::from_bytes(&run.proof)
            .or_exit(ExitClass::NotVerified, || "bellperson's proof".to_owned())?;
        self.verify(&proof, "bellperson")?;
        Ok((side, run.proof))
    }

    fn oracle(&self) -> anyhow::Result<OracleResult> {
        let id = self.statement.circuit_id();
        let output = &self.session.output;
        let compiled = load_or_compile(&self.store.folder().path, id, output)?;
        let _step = output.step(&format!("{id}: the direct path"));
        let alone = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .or_exit(ExitClass::Resource, || "starting a thread".to_owned())?;
        alone.install(|| OracleResult::compare(self.statement, PARTITION, &compiled))
    }

    fn verify(&self, proof: &Proof, whose: &str) -> anyhow::Result<()> {
        let key = self.store.open(self.statement.circuit_id())?;
        let pvk = PreparedVerifyingKey::new(key.verifying_key());
        let inputs = public_inputs(self.statement, PARTITION)?;
        verify(&pvk, &inputs, proof)
            .or_exit(ExitClass::NotVerified, || format!("the proof of {whose}"))
    }
}

fn expect_same(ours: [u8; PROOF_BYTES], theirs: [u8; PROOF_BYTES]) -> anyhow::Result<()> {
    if ours == theirs {
        return Ok(());
    }
    Err(failure(
        ExitClass::Internal,
        "with the same blinding, bellperson's proof has other bytes than ours",
    ))
}

impl SideResult {
    fn new(times: PartitionTimes, peak_rss_bytes: Option<u64>) -> Self {
        let PartitionTimes {
            witness,
            evaluate,
            prove,
        } = times;
        Self {
            witness_s: witness.as_secs_f64(),
            evaluate_s: evaluate.as_secs_f64(),
            prove_s: prove.as_secs_f64(),
            total_s: (witness + evaluate + prove).as_secs_f64(),
            peak_rss_bytes,
        }
    }

    /// The fastest run, with the smallest peak of all runs.
    fn best(runs: &[Self]) -> Option<Self> {
        let fastest = runs
            .iter()
            .min_by(|one, other| one.total_s.total_cmp(&other.total_s))?;
        Some(Self {
            peak_rss_bytes: runs.iter().filter_map(|run| run.peak_rss_bytes).min(),
            ..fastest.clone()
        })
    }

    fn row(&self, name: &str) -> Vec<String> {
        let time = |seconds: f64| units::time(Duration::from_secs_f64(seconds));
        vec![
            name.to_owned(),
            time(self.witness_s),
            time(self.evaluate_s),
            time(self.prove_s),
            time(self.total_s),
            units::bytes_or_unknown(self.peak_rss_bytes),
        ]
    }
}

impl BenchResult {
    fn new(id: CircuitId, ours: &[SideResult], bellperson: &[SideResult]) -> Option<Self> {
        let ours = SideResult::best(ours)?;
        let bellperson = SideResult::best(bellperson);
        let time_ratio = bellperson
            .as_ref()
            .map(|theirs| ours.total_s / theirs.total_s);
        let memory_ratio = bellperson
            .as_ref()
            .and_then(|theirs| Some(ours.peak_rss_bytes? as f64 / theirs.peak_rss_bytes? as f64));
        Some(Self {
            circuit: id.to_string(),
            ours,
            bellperson,
            time_ratio,
            memory_ratio,
            verified: true,
            oracle: None,
        })
    }

    fn write(&self, page: &mut Page) {
        let heading = [
            "prover",
            "witness",
            "evaluate",
            "proof",
            "total",
            "peak memory",
        ];
        let mut rows = vec![heading.map(str::to_owned).to_vec(), self.ours.row("cuzk")];
        rows.extend(self.bellperson.as_ref().map(|side| side.row("bellperson")));
        page.table(&rows);
        let ratio = |ratio: Option<f64>| {
            ratio.map_or_else(|| "unknown".to_owned(), |ratio| format!("{ratio:.2}"))
        };
        if self.bellperson.is_some() {
            page.line(&format!(
                "\n{}: {} of bellperson's time, {} of its memory; the proofs are the same bytes and \
                 verify.",
                self.circuit,
                ratio(self.time_ratio),
                ratio(self.memory_ratio)
            ));
        }
        if let Some(oracle) = &self.oracle {
            oracle.write(page);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(total_s: f64, peak_rss_bytes: Option<u64>) -> SideResult {
        SideResult {
            witness_s: 0.0,
            evaluate_s: 0.0,
            prove_s: total_s,
            total_s,
            peak_rss_bytes,
        }
    }

    #[test]
    fn ratios_are_ours_over_theirs_from_the_best_runs() {
        let id = CircuitId::all().next().expect("there are circuits");
        let ours = [side(4.0, Some(300)), side(2.0, Some(100))];
        let theirs = [side(8.0, Some(400)), side(9.0, Some(200))];
        let result = BenchResult::new(id, &ours, &theirs).expect("runs were made");
        assert_eq!(result.time_ratio, Some(0.25));
        assert_eq!(result.memory_ratio, Some(0.5));
    }

    #[test]
    fn without_an_opponent_or_without_numbers_there_is_no_ratio() {
        let id = CircuitId::all().next().expect("there are circuits");
        let alone = BenchResult::new(id, &[side(1.0, None)], &[]).expect("a run was made");
        assert_eq!((alone.time_ratio, alone.memory_ratio), (None, None));
        let blind = BenchResult::new(id, &[side(1.0, None)], &[side(2.0, Some(1))]);
        assert_eq!(blind.expect("runs were made").memory_ratio, None);
    }
}
