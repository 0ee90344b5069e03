//! `cuzk verify`: is this the proof of that statement? Only what stands on the chain is needed, and
//! a verifying key.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;
use cuzk_circuits::{Family, PublicData, PublicDataError};
use cuzk_groth16::{Proof, VerifyError, verify_batch};
use serde::Serialize;

use super::family_parser;
use crate::{
    encoding::decode_proof,
    environment::Concern,
    exit::{ExitClass, OrExit as _, classed},
    input_file::read,
    keys::KeyStore,
    output::Page,
    session::Session,
    units,
};

/// Verify one proof against what stands on the chain
///
/// The exit code is 0 when the proof verifies, 5 when it is well-formed and does not.
///
/// Public data is a JSON object; hashes are 64 hexadecimal digits, registered proofs names such as
/// `StackedDrg32GiBV1_1`.
#[derive(Debug, Args)]
#[command(
    after_long_help = concat!(
        "Keys of the public data:\n",
        "  porep           registered_proof, miner_id, sector_number, ticket, seed, comm_r, comm_d\n",
        "  snap            registered_proof, comm_r_old, comm_r_new, comm_d_new\n",
        "  wpost, winning  registered_proof, miner_id, randomness, sectors: list of {number, comm_r}\n\n",
        "Examples:\n",
        "  cuzk verify porep --public public.json --proof proof.bin\n",
        "  cuzk verify winning --public public.json --proof proof.hex --keys ./keys --json\n\n",
        "cuzk demo --save DIR writes public data and proofs of every kind and prints the commands that\n",
        "verify them."
    ),
    after_help = "Examples:\n  cuzk verify porep --public public.json --proof proof.bin\n  cuzk \
                  verify winning --public public.json --proof proof.hex --keys ./keys --json\n\n\
                  cuzk demo --save DIR writes public data and proofs of every kind and prints the \
                  commands that verify them."
)]
pub(crate) struct VerifyArgs {
    /// What was proved
    #[arg(value_name = "KIND", value_parser = family_parser())]
    kind: Family,
    /// What the chain knows of the statement, as JSON
    #[arg(long, value_name = "FILE")]
    public: PathBuf,
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
    let concerns = if args.keys.is_none() {
        &[Concern::Threads, Concern::ParameterFolder][..]
    } else {
        &[Concern::Threads]
    };
    session.announce(concerns)?;
    session.start_threads()?;
    let refused = || format!("the public data in {} is refused", args.public.display());
    let public = PublicData::from_json(args.kind, &read(&args.public)?)
        .or_exit(ExitClass::InvalidInput, refused)?;
    let id = public
        .circuit_id()
        .or_exit(ExitClass::InvalidInput, refused)?;
    let folder = session.environment.parameter_folder(args.keys.as_deref())?;
    let key = KeyStore::new(folder).verifying_key(id)?;

    let start = Instant::now();
    let inputs = public.public_inputs().map_err(|error| {
        let class = match error {
            PublicDataError::Field(_) => ExitClass::InvalidInput,
            PublicDataError::Upstream { .. } => ExitClass::Internal,
        };
        classed(class, refused(), error)
    })?;
    let num_partitions = inputs.len();
    let proofs = read_proofs(&args.proof, num_partitions)?;
    let statements: Vec<_> = inputs.into_iter().zip(proofs).collect();
    verify_batch(&key, &statements).map_err(|error| classify(error, &args.proof))?;
    let elapsed = start.elapsed();

    let result = VerifyResult {
        kind: args.kind.prefix(),
        circuit: id.to_string(),
        partitions: num_partitions as u64,
        verified: true,
        verify_s: elapsed.as_secs_f64(),
    };
    session.output.result(&result, |page: &mut Page| {
        page.line(&format!(
            "verified: {} of {id} in {}",
            units::counted(num_partitions as u64, "proof"),
            units::time(elapsed)
        ));
    })
}

fn read_proofs(path: &Path, num_partitions: usize) -> anyhow::Result<Vec<Proof>> {
    let malformed = || format!("{} holds no proof", path.display());
    let bytes = decode_proof(&read(path)?).or_exit(ExitClass::InvalidInput, malformed)?;
    Proof::parse_exactly(&bytes, num_partitions).or_exit(ExitClass::InvalidInput, || {
        format!("{} does not hold the proof", path.display())
    })
}

fn classify(error: VerifyError, proof: &Path) -> anyhow::Error {
    let class = match error {
        VerifyError::NumInputs { .. } => ExitClass::Key,
        VerifyError::NoProofs => ExitClass::InvalidInput,
        VerifyError::Randomness(_) => ExitClass::Resource,
        _ => ExitClass::NotVerified,
    };
    classed(class, proof.display().to_string(), error)
}
