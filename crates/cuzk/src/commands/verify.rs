//! `cuzk verify`: is this the proof of that statement?

use std::{path::PathBuf, time::Instant};

use clap::{Args, Subcommand};
use cuzk_circuits::ProofRequest;
use cuzk_groth16::{Proof, VerifyError, verify_batch};
use serde::Serialize;

use crate::{
    encoding::decode_proof,
    environment::Concern,
    exit::{ExitClass, OrExit as _},
    keys::KeyStore,
    output::Page,
    proving::public_inputs,
    request_args::{PoRepArgs, PoStArgs, SnapDealsArgs, decode, read},
    session::Session,
    units,
};

/// Verify one proof from files
///
/// The exit code is 0 when the proof verifies, 5 when it is well-formed and does not.
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  cuzk verify porep --c1 c1.json --miner-id 1000 --proof proof.bin\n\n\
                  cuzk demo --save DIR writes requests and proofs of every kind and prints the \
                  commands that verify them."
)]
pub(crate) struct VerifyArgs {
    #[command(subcommand)]
    kind: VerifyKind,
}

#[derive(Debug, Subcommand)]
enum VerifyKind {
    /// Verify a proof of replication (PoRep C2)
    #[command(
        name = "porep",
        after_help = "Examples:\n  cuzk verify porep --c1 c1.json --miner-id 1000 --proof proof.bin"
    )]
    PoRep {
        #[command(flatten)]
        request: PoRepArgs,
        #[command(flatten)]
        options: VerifyOptions,
    },
    /// Verify a proof of a sector update
    #[command(
        name = "snap",
        after_help = "Examples:\n  cuzk verify snap --vanilla vanilla-*.bin --registered-proof 3 \
                      --comm-r-old HEX --comm-r-new HEX --comm-d-new HEX --proof proof.bin"
    )]
    SnapDeals {
        #[command(flatten)]
        request: SnapDealsArgs,
        #[command(flatten)]
        options: VerifyOptions,
    },
    /// Verify a proof that the sectors of a deadline are stored
    #[command(
        name = "wpost",
        after_help = "Examples:\n  cuzk verify wpost --vanilla sector-*.bin --registered-proof 13 \
                      --miner-id 1000 --randomness HEX --proof proof.bin"
    )]
    WindowPoSt {
        #[command(flatten)]
        request: PoStArgs,
        #[command(flatten)]
        options: VerifyOptions,
    },
    /// Verify a proof that one sector is stored
    #[command(
        name = "winning",
        after_help = "Examples:\n  cuzk verify winning --vanilla sector.bin --registered-proof 3 \
                      --miner-id 1000 --randomness HEX --proof proof.bin"
    )]
    WinningPoSt {
        #[command(flatten)]
        request: PoStArgs,
        #[command(flatten)]
        options: VerifyOptions,
    },
}

#[derive(Debug, Args)]
struct VerifyOptions {
    /// The proof: raw bytes, hex or base64, which the file's content tells
    #[arg(long, value_name = "FILE")]
    proof: PathBuf,
    /// The folder of keys; a .vk file is enough [default: `FIL_PROOFS_PARAMETER_CACHE`, else
    /// /var/tmp/filecoin-proof-parameters]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct VerifyResult {
    kind: &'static str,
    circuit: String,
    partitions: u64,
    verified: bool,
    verify_s: f64,
}

pub(crate) fn run(args: &VerifyArgs, session: &Session) -> anyhow::Result<()> {
    let (request, options) = match &args.kind {
        VerifyKind::PoRep { request, options } => (request.request()?, options),
        VerifyKind::SnapDeals { request, options } => (request.request()?, options),
        VerifyKind::WindowPoSt { request, options } => (request.window_request()?, options),
        VerifyKind::WinningPoSt { request, options } => (request.winning_request()?, options),
    };
    verify(&request, options, session)
}

fn verify(
    request: &ProofRequest,
    options: &VerifyOptions,
    session: &Session,
) -> anyhow::Result<()> {
    let concerns = if options.keys.is_none() {
        &[Concern::Threads, Concern::ParameterFolder][..]
    } else {
        &[Concern::Threads]
    };
    session.announce(concerns)?;
    session.start_threads()?;
    let family = request.family();
    let store = KeyStore::new(
        session
            .environment
            .parameter_folder(options.keys.as_deref())?,
    );
    let id = request.circuit_id().or_exit(ExitClass::InvalidInput, || {
        format!("the {family} request is refused")
    })?;
    let key = store.verifying_key(id)?;
    let statement = decode(request)?;
    let num_partitions = statement.num_partitions();
    let proofs = read_proofs(options, num_partitions)?;

    let start = Instant::now();
    let statements: Vec<_> = proofs
        .into_iter()
        .enumerate()
        .map(|(partition, proof)| Ok((public_inputs(&statement, partition)?, proof)))
        .collect::<anyhow::Result<_>>()?;
    verify_batch(&key, &statements).map_err(|error| classify(error, &options.proof))?;
    let elapsed = start.elapsed();
    let result = VerifyResult {
        kind: family.prefix(),
        circuit: id.to_string(),
        partitions: num_partitions as u64,
        verified: true,
        verify_s: elapsed.as_secs_f64(),
    };
    session.output.result(&result, |page: &mut Page| {
        page.line(&format!(
            "verified: {} proof{} of {id} in {}",
            num_partitions,
            if num_partitions == 1 { "" } else { "s" },
            units::time(elapsed)
        ));
    })
}

fn read_proofs(options: &VerifyOptions, num_partitions: usize) -> anyhow::Result<Vec<Proof>> {
    let path = &options.proof;
    let content = read(path)?;
    let bytes =
        decode_proof(&content).or_exit(ExitClass::InvalidInput, || path.display().to_string())?;
    Proof::parse_exactly(&bytes, num_partitions)
        .or_exit(ExitClass::InvalidInput, || path.display().to_string())
}

fn classify(error: VerifyError, proof: &std::path::Path) -> anyhow::Error {
    let class = match error {
        VerifyError::NumInputs { .. } => ExitClass::Key,
        VerifyError::NoProofs => ExitClass::InvalidInput,
        VerifyError::Randomness(_) => ExitClass::Resource,
        _ => ExitClass::NotVerified,
    };
    crate::exit::classed(class, proof.display().to_string(), error)
}
