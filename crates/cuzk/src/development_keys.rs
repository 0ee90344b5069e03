//! Small networks have no ceremony: they make their own keys. Whoever makes one could keep its
//! secret exponents and forge proofs with it, so this is said each time, on standard error, and no
//! command does it without saying so.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use cuzk_circuits::CircuitId;
use cuzk_groth16::setup::{
    KeyFiles, KeySummary, SetupError, SetupProgress, SetupStep, ToxicWaste, generate, generate_from,
};
use cuzk_r1cs::Fr;
use ff::Field as _;
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng as _};

use crate::{
    cards::CardPoints,
    circuits::load_or_compile,
    device_choice::DeviceChoice,
    encoding::Hex32,
    exit::{ExitClass, OrExit as _, classed, failure},
    keys::{KeyStore, create_folder},
    output::Output,
};

/// What everybody who makes such a key must read.
pub(crate) const WARNING: &str = "this key is for DEVELOPMENT ONLY: whoever makes a key can forge \
                                  proofs with it. Never use it on a network that holds value.";

/// A key that was made.
#[derive(Debug)]
pub(crate) struct MadeKey {
    /// The proving key's file.
    pub(crate) params: PathBuf,
    /// The verifying key's file.
    pub(crate) verifying_key: PathBuf,
    /// Lengths, sizes and digests.
    pub(crate) summary: KeySummary,
    /// Reading the compiled circuit, or compiling it.
    pub(crate) circuit_time: Duration,
    /// Computing and writing the points.
    pub(crate) generate_time: Duration,
}

/// Whether files that are there already may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// Refuse.
    Keep,
    /// Replace both files.
    Replace,
}

/// Secret exponents from a seed, for keys that can be made again: tau, alpha, beta, gamma, delta
/// drawn in this order from `ChaCha20` keyed with the seed; from the operating system without one.
///
/// # Errors
/// Resource, when the system has no randomness; internal, when the seed gives exponents that make
/// no key, which happens with probability 2^-250.
pub(crate) fn toxic_waste(seed: Option<Hex32>) -> anyhow::Result<ToxicWaste> {
    let Some(Hex32(seed)) = seed else {
        return ToxicWaste::random().or_exit(ExitClass::Resource, || {
            "drawing the secret exponents".to_owned()
        });
    };
    let mut stream = ChaCha20Rng::from_seed(seed);
    let [tau, alpha, beta, gamma, delta] = std::array::from_fn(|_| Fr::random(&mut stream));
    ToxicWaste::from_parts(tau, alpha, beta, gamma, delta)
        .or_exit(ExitClass::Internal, || "exponents of this seed".to_owned())
}

/// A key to be made.
#[derive(Debug)]
pub(crate) struct KeyOrder<'a> {
    /// The folder that receives it, and keeps the compiled circuit.
    pub(crate) store: &'a KeyStore,
    /// Whose key.
    pub(crate) circuit: CircuitId,
    /// What happens to files that are there.
    pub(crate) existing: Existing,
    /// What computes the points.
    pub(crate) device: DeviceChoice,
}

/// Makes the key of a circuit in the folder of a store, from its compiled file there, which is made where it is missing.
///
/// # Errors
/// Key, when a file is there and may not be replaced; resource, when the folder cannot be written or the card cannot
/// be used; internal otherwise.
pub(crate) fn make_key(
    order: &KeyOrder<'_>,
    waste: &ToxicWaste,
    output: &Output,
) -> anyhow::Result<MadeKey> {
    let (store, id) = (order.store, order.circuit);
    let info = id.info();
    let (params, verifying_key) = (store.params_path(&info), store.vk_path(&info));
    if order.existing == Existing::Keep
        && let Some(path) = [&params, &verifying_key]
            .into_iter()
            .find(|path| path.exists())
    {
        return Err(already_there(path));
    }
    // What cannot be used is found before anything is computed or written.
    let card = match order.device {
        DeviceChoice::Cpu => None,
        DeviceChoice::Cuda(ordinal) => Some(CardPoints::open(ordinal)?),
    };
    create_folder(&store.folder().path)?;
    output.warning(WARNING);
    let start = Instant::now();
    let circuit = load_or_compile(&store.folder().path, id, output)?;
    let circuit_time = start.elapsed();

    let step = output.bar(&format!("making the key of {id}"), 1);
    let start = Instant::now();
    let files = KeyFiles {
        params: &params,
        verifying_key: &verifying_key,
        replace: order.existing == Existing::Replace,
    };
    let progress = |progress: SetupProgress| {
        if progress.step == SetupStep::Points {
            step.set(progress.done, progress.total);
        }
    };
    let made = match card {
        None => generate(&circuit, waste, &files, &progress),
        Some(mut points) => generate_from(&circuit, waste, &files, &mut points, &progress),
    };
    Ok(MadeKey {
        summary: made.map_err(|error| classify(error, id))?,
        params,
        verifying_key,
        circuit_time,
        generate_time: start.elapsed(),
    })
}

/// Makes a key from random secret exponents, unless the folder has one.
///
/// # Errors
/// As [`toxic_waste`] and [`make_key`].
pub(crate) fn make_missing_key(
    store: &KeyStore,
    id: CircuitId,
    output: &Output,
) -> anyhow::Result<Option<MadeKey>> {
    if store.params_path(&id.info()).exists() {
        return Ok(None);
    }
    let order = KeyOrder {
        store,
        circuit: id,
        existing: Existing::Keep,
        device: DeviceChoice::Cpu,
    };
    make_key(&order, &toxic_waste(None)?, output).map(Some)
}

fn classify(error: SetupError, id: CircuitId) -> anyhow::Error {
    let class = match error {
        SetupError::Exists { path } => return already_there(&path),
        SetupError::Io { .. } | SetupError::Source(_) => ExitClass::Resource,
        _ => ExitClass::Internal,
    };
    classed(class, format!("making the key of {id}"), error)
}

fn already_there(path: &Path) -> anyhow::Error {
    failure(
        ExitClass::Key,
        format!(
            "{} exists already; cuzk key setup --force replaces it and its twin",
            path.display()
        ),
    )
}
