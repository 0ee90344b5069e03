//! `cuzk prove`: one proof from files. What it writes has been verified.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use cuzk_circuits::{CircuitId, DecodeError, ProofRequest, Statement};
use cuzk_engine::{EngineSettings, JobOutcome, JobRequest, JobStatus, SubmitError};
use cuzk_groth16::{PROOF_BYTES, ProverDevice};
use cuzk_proto::v1::ProveRequest;
use cuzk_server::listen::Address;
use serde::Serialize;

use crate::{
    blame::{exit_class, failed_job},
    client::{
        CredentialArgs, DaemonArgs, Terms, expect_completed, from_status, message, on_runtime,
    },
    daemon::KeyFolder,
    device_choice::{DeviceChoice, DeviceOptions},
    encoding::{ProofEncoding, hex},
    environment::Concern,
    exit::{ExitClass, OrExit as _, classed, failure},
    keys::KeyStore,
    local::{Shown, start_device, start_engine, start_runtime, unless_lost},
    memory::PeakMeter,
    output::Page,
    request_args::{
        FileRequest, PayloadFiles, PoRepArgs, SnapDealsArgs, WindowPoStArgs, WinningPoStArgs,
        refused,
    },
    result_file::ResultFile,
    session::Session,
    units,
};

/// Make one proof from files; it is verified before it is written
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  cuzk prove porep --c1 c1.json --miner-id 1000 --out proof.bin\n\n\
                  cuzk demo --save DIR writes request files of every kind and prints the commands \
                  that prove them."
)]
pub(crate) struct ProveArgs {
    #[command(subcommand)]
    kind: ProveKind,
}

#[derive(Debug, Subcommand)]
enum ProveKind {
    /// Prove a replication (PoRep C2)
    #[command(
        name = "porep",
        after_help = "Examples:\n  cuzk prove porep --c1 c1.json --miner-id 1000\n  cuzk prove \
                      porep --c1 c1.json --miner-id f01000 --keys ./keys --out proof.bin \
                      --check-vanilla"
    )]
    PoRep {
        #[command(flatten)]
        request: PoRepArgs,
        #[command(flatten)]
        options: ProveOptions,
    },
    /// Prove a sector update
    #[command(
        name = "snap",
        after_help = "Examples:\n  cuzk prove snap --vanilla vanilla-*.bin --registered-proof 3 \
                      --comm-r-old HEX --comm-r-new HEX --comm-d-new HEX --out proof.bin"
    )]
    SnapDeals {
        #[command(flatten)]
        request: SnapDealsArgs,
        #[command(flatten)]
        options: ProveOptions,
    },
    /// Prove that the sectors of a deadline are stored
    #[command(
        name = "wpost",
        after_help = "Examples:\n  cuzk prove wpost --vanilla sector-*.bin --registered-proof 13 \
                      --miner-id 1000 --randomness HEX --out proof.bin\n  cuzk prove wpost \
                      --vanilla sector-*.bin --registered-proof 8 --miner-id 1000 --randomness HEX \
                      --partition-index 1"
    )]
    WindowPoSt {
        #[command(flatten)]
        request: WindowPoStArgs,
        #[command(flatten)]
        options: ProveOptions,
    },
    /// Prove that one sector is stored, for a block
    #[command(
        name = "winning",
        after_help = "Examples:\n  cuzk prove winning --vanilla sector.bin --registered-proof 3 \
                      --miner-id 1000 --randomness HEX --out proof.bin\n  cuzk prove winning \
                      --vanilla sector.bin --registered-proof 3 --miner-id 1000 --randomness HEX \
                      --addr 127.0.0.1:9820 --deadline 20s"
    )]
    WinningPoSt {
        #[command(flatten)]
        request: WinningPoStArgs,
        #[command(flatten)]
        options: ProveOptions,
    },
}

#[derive(Debug, Args)]
struct ProveOptions {
    /// The folder of proving keys [default: `FIL_PROOFS_PARAMETER_CACHE`, else
    /// /var/tmp/filecoin-proof-parameters]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// Write the proof to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How the proof is written [default: raw to a file, hex to standard output]
    #[arg(long, value_name = "ENCODING")]
    encoding: Option<ProofEncoding>,
    /// Verify the vanilla proofs with the upstream crates first, which names the faulty challenge
    #[arg(long, conflicts_with = "addr")]
    check_vanilla: bool,
    /// What proves: `cpu`, `cuda`, or `cuda:N` for the card of number N
    #[arg(
        long,
        value_name = "DEVICE",
        default_value = "cpu",
        conflicts_with = "addr"
    )]
    device: DeviceChoice,
    /// Let the daemon at HOST:PORT or unix:PATH prove it
    #[arg(
        long,
        value_name = "ADDR",
        conflicts_with = "keys",
        help_heading = "Daemon"
    )]
    addr: Option<Address>,
    #[command(flatten)]
    credentials: CredentialArgs,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Debug, Serialize)]
struct ProveResult {
    kind: &'static str,
    circuit: String,
    partitions: u64,
    proof: String,
    proof_bytes: u64,
    out: Option<PathBuf>,
    verified: bool,
    decode_s: f64,
    witness_s: f64,
    evaluate_s: f64,
    prove_s: f64,
    verify_s: f64,
    peak_rss_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct AskResult {
    kind: &'static str,
    job: String,
    proof: String,
    proof_bytes: u64,
    out: Option<PathBuf>,
    devices: Vec<String>,
    queue_wait_ms: u64,
    load_ms: u64,
    witness_ms: u64,
    device_ms: u64,
    verify_ms: u64,
    total_ms: u64,
}

pub(crate) fn run(args: &ProveArgs, session: &Session) -> anyhow::Result<()> {
    let (request, options) = args.kind.read()?;
    let out = options
        .out
        .as_deref()
        .map(ResultFile::prepare)
        .transpose()?;
    let destination = Destination {
        file: out,
        options,
        session,
    };
    match &options.addr {
        Some(address) => ask(address, request.request, &destination),
        None => prove(&args.kind, request, &destination),
    }
}

impl ProveKind {
    /// Reads the payloads.
    fn read(&self) -> anyhow::Result<(FileRequest, &ProveOptions)> {
        Ok(match self {
            Self::PoRep { request, options } => (request.request()?, options),
            Self::SnapDeals { request, options } => (request.request()?, options),
            Self::WindowPoSt { request, options } => (request.request()?, options),
            Self::WinningPoSt { request, options } => (request.request()?, options),
        })
    }

    /// Reads the payloads once more and decodes them: while a proof is made they are not kept.
    fn statement(&self) -> anyhow::Result<Statement> {
        self.read()?.0.decode()
    }
}

/// Lets a daemon prove.
fn ask(
    address: &Address,
    request: ProofRequest,
    destination: &Destination<'_>,
) -> anyhow::Result<()> {
    let Destination {
        options, session, ..
    } = *destination;
    session.announce(&[Concern::Client])?;
    let kind = request.family().prefix();
    let daemon = DaemonArgs {
        addr: Some(address.clone()),
        credentials: options.credentials.clone(),
    };
    let submit = Some(message(request, &options.terms));
    let step = session.output.step(&format!("waiting for {address}"));
    let answer = on_runtime(async {
        let mut client = daemon.connect(session).await?;
        let answer = client.prove(ProveRequest { submit }).await;
        let answer = answer.map_err(|status| from_status(&status))?;
        expect_completed(answer.into_inner().result.unwrap_or_default())
    })?;
    drop(step);
    let result = AskResult {
        kind,
        job: answer.job_id,
        proof: hex(&answer.proof),
        proof_bytes: answer.proof.len() as u64,
        out: options.out.clone(),
        devices: answer.devices,
        queue_wait_ms: answer.queue_wait_ms,
        load_ms: answer.srs_load_ms,
        witness_ms: answer.synthesis_ms,
        device_ms: answer.gpu_compute_ms,
        verify_ms: answer.verify_ms,
        total_ms: answer.total_ms,
    };
    session.output.message(&format!(
        "job {} on {}: {}",
        result.job,
        result.devices.join(", "),
        units::time(Duration::from_millis(result.total_ms))
    ));
    destination.deliver(&answer.proof)?;
    if options.out.is_none() && !session.output.is_json() {
        return Ok(());
    }
    session.output.result(&result, |page| {
        page.line(&delivered(result.proof_bytes, result.out.as_deref()));
    })
}

/// Where the proof goes, and all else that both ways of proving need.
struct Destination<'a> {
    file: Option<ResultFile>,
    options: &'a ProveOptions,
    session: &'a Session,
}

impl Destination<'_> {
    /// Writes the proof to its file, or to standard output where results are for people.
    fn deliver(&self, proof: &[u8]) -> anyhow::Result<()> {
        let encoding = self.options.encoding;
        let output = &self.session.output;
        match &self.file {
            Some(file) => file.write(&encoding.unwrap_or(ProofEncoding::Raw).encode(proof)),
            None if output.is_json() => Ok(()),
            None => output.raw(&encoding.unwrap_or(ProofEncoding::Hex).encode(proof)),
        }
    }
}

fn delivered(proof_bytes: u64, out: Option<&Path>) -> String {
    let place = out.map_or_else(String::new, |out| format!(", in {}", out.display()));
    format!("{proof_bytes} bytes of proof, verified{place}")
}

fn prove(
    kind: &ProveKind,
    files: FileRequest,
    destination: &Destination<'_>,
) -> anyhow::Result<()> {
    let Destination {
        options, session, ..
    } = *destination;
    let mut concerns = vec![Concern::Threads, Concern::Synthesis];
    if options.keys.is_none() {
        concerns.push(Concern::ParameterFolder);
    }
    session.announce(&concerns)?;
    let threads = session.start_threads()?;
    let family = files.request.family();
    let meter = PeakMeter::start();
    let store = KeyStore::new(
        session
            .environment
            .parameter_folder(options.keys.as_deref())?,
    );
    // Key and device are looked for before the payload is decoded: they are missing more often.
    let id = files
        .request
        .circuit_id()
        .or_exit(ExitClass::InvalidInput, || refused(&files.request))?;
    store.open(id)?;
    let device = start_device(DeviceOptions::new(options.device, threads))?;
    if options.check_vanilla {
        check_vanilla(&kind.statement()?, session)?;
    }
    let (outcome, decode_time) = run_job(id, files, (&store, &device), session)?;
    let (proof, timings) = match &*outcome {
        JobOutcome::Completed { proof, timings, .. } => (proof, timings),
        JobOutcome::Failed { error, .. } => {
            return Err(failed_job(error, id, &store, || kind.statement()));
        }
        JobOutcome::Cancelled { reason, .. } => {
            return Err(failure(ExitClass::Internal, reason.name()));
        }
    };
    let bytes = proof.bytes();
    let result = ProveResult {
        kind: family.prefix(),
        circuit: id.to_string(),
        partitions: (bytes.len() / PROOF_BYTES) as u64,
        proof: hex(bytes),
        proof_bytes: bytes.len() as u64,
        out: options.out.clone(),
        verified: true,
        decode_s: decode_time.as_secs_f64(),
        witness_s: timings.witness.as_secs_f64(),
        evaluate_s: timings.evaluate.as_secs_f64(),
        prove_s: timings.proving().as_secs_f64(),
        verify_s: timings.verify.as_secs_f64(),
        peak_rss_bytes: meter.finish(),
    };
    session.output.message(&result.summary());
    destination.deliver(bytes)?;
    if options.out.is_none() && !session.output.is_json() {
        return Ok(());
    }
    session.output.result(&result, |page| result.write(page))
}

/// Lets an engine in this process prove a request; gives the time to decode it, too.
fn run_job(
    id: CircuitId,
    files: FileRequest,
    (store, device): (&KeyStore, &Arc<dyn ProverDevice>),
    session: &Session,
) -> anyhow::Result<(Arc<JobOutcome>, Duration)> {
    let FileRequest { request, files } = files;
    let refusal = refused(&request);
    start_runtime()?.block_on(async {
        let output = &session.output;
        let (folder, settings) = (&store.folder().path, EngineSettings::default());
        let keys = Arc::new(KeyFolder::new(store.clone()));
        let engine = start_engine(settings, device, keys, folder, output)?;
        let _shown = Shown::start(&engine, output.step(&format!("proving {id}")));
        let began = Instant::now();
        let submitted = engine.submit(JobRequest::new(request)).await;
        let submitted = submitted.map_err(|error| not_admitted(error, &files, &refusal))?;
        let decode_time = began.elapsed();
        let ended = async { engine.wait(submitted.job, None).await.context("the job") };
        match unless_lost(&engine, ended).await? {
            JobStatus::Ended(outcome) => Ok((outcome, decode_time)),
            JobStatus::Running { .. } => Err(failure(ExitClass::Internal, "the job goes on")),
        }
    })
}

fn not_admitted(error: SubmitError, files: &PayloadFiles, refusal: &str) -> anyhow::Error {
    let class = exit_class(error.class());
    match error {
        SubmitError::Refused(error) => match error.source.downcast::<DecodeError>() {
            Ok(error) => files.refused(refusal, *error),
            Err(error) => failure(class, format!("{refusal}: {error}")),
        },
        error => classed(class, refusal, error),
    }
}

fn check_vanilla(statement: &Statement, session: &Session) -> anyhow::Result<()> {
    let _step = session.output.step("checking the vanilla proofs");
    statement
        .check_vanilla()
        .or_exit(ExitClass::InvalidInput, || {
            "the vanilla proofs do not pass".to_owned()
        })
}

impl ProveResult {
    fn summary(&self) -> String {
        let time = |seconds: f64| units::time(Duration::from_secs_f64(seconds));
        format!(
            "{}: witness {}, rows {}, proof {}, verified in {}, peak memory {}",
            self.circuit,
            time(self.witness_s),
            time(self.evaluate_s),
            time(self.prove_s),
            time(self.verify_s),
            units::bytes_or_unknown(self.peak_rss_bytes)
        )
    }

    fn write(&self, page: &mut Page) {
        page.line(&delivered(self.proof_bytes, self.out.as_deref()));
    }
}
