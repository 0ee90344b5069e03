//! One statement from circuit to verified proofs. Each partition is synthesized and evaluated in
//! one pass, checked row by row (a wrong vanilla proof must fail here, early, and never become a
//! bad proof), proved on the CPU device, and verified. Nothing unverified leaves this module.

use std::{
    num::NonZeroUsize,
    sync::Arc,
    time::{Duration, Instant},
};

use bellpepper_core::{Circuit, SynthesisError};
use cuzk_circuits::{CircuitError, CircuitId, CircuitVisitor, Statement};
use cuzk_groth16::{
    Blinding, CircuitData, CpuDevice, CpuSettings, DeviceError, LoadedCircuit, LoadedKey,
    Partition, PreparedVerifyingKey, Proof, ProverDevice as _, ProvingKey, verify,
};
use cuzk_r1cs::{
    DirectEvaluation, Evaluations, Fr, SatisfactionError, Shape, check_satisfied, evaluate,
    evaluate_with_hint,
};
use rayon::prelude::*;

use crate::{
    exit::{ExitClass, OrExit as _, classed, failure},
    output::Output,
    progress::Step,
};

/// Time spent on one statement, all partitions together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProvingTimes {
    /// Variables and rows, in one pass over the circuit.
    pub(crate) witness: Duration,
    /// Quotient, multi-scalar multiplications, assembly.
    pub(crate) prove: Duration,
    /// Pairings.
    pub(crate) verify: Duration,
}

/// Verified proofs of all partitions of a statement.
#[derive(Debug)]
pub(crate) struct ProvedStatement {
    /// One proof per partition, in order.
    pub(crate) proofs: Vec<Proof>,
    /// Size of the circuit.
    pub(crate) shape: Shape,
    /// Where the time went.
    pub(crate) times: ProvingTimes,
}

/// The CPU prover.
pub(crate) struct Prover {
    device: CpuDevice,
}

impl Prover {
    /// Starts a device with `threads` threads.
    ///
    /// # Errors
    /// Resource, when the system does not start them.
    pub(crate) fn new(threads: NonZeroUsize) -> anyhow::Result<Self> {
        let settings = CpuSettings {
            threads,
            tail_threads: threads,
            ..CpuSettings::default()
        };
        let device = CpuDevice::new(settings)
            .or_exit(ExitClass::Resource, || "starting the prover".to_owned())?;
        Ok(Self { device })
    }

    /// Proves and verifies all partitions of a statement.
    ///
    /// # Errors
    /// Invalid input, when the circuit is not satisfied; key, when the key is of another circuit;
    /// not verified, when a finished proof does not verify (a damaged key, above all).
    pub(crate) fn prove(
        &self,
        statement: &Statement,
        key: &Arc<ProvingKey>,
        output: &Output,
    ) -> anyhow::Result<ProvedStatement> {
        let id = statement.circuit_id();
        let loaded_key = self.load_key(key)?;
        let pvk = PreparedVerifyingKey::new(key.verifying_key());
        let num_partitions = statement.num_partitions();
        let mut circuit: Option<LoadedCircuit> = None;
        let mut times = ProvingTimes::default();
        let mut proofs = Vec::with_capacity(num_partitions);
        for partition in 0..num_partitions {
            let label = partition_label(id, partition, num_partitions);
            let step = output.step(&format!("{label}: circuit"));
            let start = Instant::now();
            let direct = evaluate_partition(statement, partition)?;
            times.witness += start.elapsed();
            expect_satisfied(statement, partition, &direct.evaluations)?;

            step.rename(&format!("{label}: proof"));
            let start = Instant::now();
            let loaded = match &circuit {
                Some(loaded) => loaded.clone(),
                None => circuit
                    .insert(self.load_circuit(&loaded_key, &direct)?)
                    .clone(),
            };
            let proof = self.prove_partition(loaded, direct, Blinding::random())?;
            times.prove += start.elapsed();

            step.rename(&format!("{label}: verification"));
            times.verify += verify_partition(statement, partition, &pvk, key, &proof, &step)?;
            proofs.push(proof);
        }
        let Some(circuit) = circuit else {
            return Err(failure(
                ExitClass::InvalidInput,
                format!("the {id} request has no partition"),
            ));
        };
        Ok(ProvedStatement {
            proofs,
            shape: circuit.circuit().shape,
            times,
        })
    }

    /// Makes a key ready.
    ///
    /// # Errors
    /// Key, when it must not be used.
    pub(crate) fn load_key(&self, key: &Arc<ProvingKey>) -> anyhow::Result<LoadedKey> {
        self.device
            .load_key(Arc::clone(key))
            .map_err(|error| device_failure(error, "loading the key"))
    }

    /// Joins a key and the circuit that was evaluated.
    ///
    /// # Errors
    /// Key, when they do not belong together.
    pub(crate) fn load_circuit(
        &self,
        key: &LoadedKey,
        direct: &DirectEvaluation,
    ) -> anyhow::Result<LoadedCircuit> {
        let circuit = CircuitData {
            shape: direct.shape,
            densities: Arc::new(direct.densities.clone()),
        };
        self.device
            .load_circuit(key, circuit)
            .map_err(|error| device_failure(error, "loading the circuit"))
    }

    /// Proves one partition; the result is not verified yet.
    ///
    /// # Errors
    /// Internal, when the device fails.
    pub(crate) fn prove_partition(
        &self,
        circuit: LoadedCircuit,
        direct: DirectEvaluation,
        blinding: Blinding,
    ) -> anyhow::Result<Proof> {
        self.device
            .start(Partition {
                circuit,
                witness: direct.witness,
                evaluations: direct.evaluations,
                blinding,
            })
            .and_then(|pending| self.device.finish(pending))
            .map_err(|error| device_failure(error, "proving"))
    }
}

/// Synthesizes one partition's circuit and evaluates its rows.
///
/// # Errors
/// Invalid input, when the circuit cannot be synthesized with the values of the request.
pub(crate) fn evaluate_partition(
    statement: &Statement,
    partition: usize,
) -> anyhow::Result<DirectEvaluation> {
    let hint = known_shape(statement.circuit_id());
    statement
        .with_circuit(partition, Evaluate { hint })
        .map_err(|error| circuit_failure(error, "building the circuit"))?
        .or_exit(ExitClass::InvalidInput, || {
            format!(
                "{} partition {partition} cannot be synthesized",
                statement.circuit_id()
            )
        })
}

/// Refuses values that violate a constraint, with the name of the first one.
///
/// # Errors
/// Invalid input.
pub(crate) fn expect_satisfied(
    statement: &Statement,
    partition: usize,
    evaluations: &Evaluations,
) -> anyhow::Result<()> {
    let Evaluations { a, b, c } = evaluations;
    let violated = a
        .par_iter()
        .zip(b)
        .zip(c)
        .position_first(|((a, b), c)| a * b != *c);
    let Some(row) = violated else {
        return Ok(());
    };
    let place = format!("{} partition {partition}", statement.circuit_id());
    let named = statement
        .with_circuit(partition, NameViolation)
        .map_err(|error| circuit_failure(error, "building the circuit"))?;
    Err(match named {
        Err(error) => classed(ExitClass::InvalidInput, place, error),
        Ok(()) => failure(
            ExitClass::Internal,
            format!("{place}: row {row} is violated in one synthesis and holds in another"),
        ),
    })
}

#[allow(
    clippy::too_many_arguments,
    reason = "one call site; key and statement are only there for the message"
)]
fn verify_partition(
    statement: &Statement,
    partition: usize,
    pvk: &PreparedVerifyingKey,
    key: &ProvingKey,
    proof: &Proof,
    step: &Step,
) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let inputs = public_inputs(statement, partition)?;
    let verified = verify(pvk, &inputs, proof);
    step.rename("done");
    verified.or_exit(ExitClass::NotVerified, || {
        format!(
            "the finished proof of {} partition {partition} does not verify and is thrown away; the \
             key may be damaged: cuzk key check {}",
            statement.circuit_id(),
            crate::keys::shell_word(key.path())
        )
    })?;
    Ok(start.elapsed())
}

/// Public inputs of one partition, without ONE.
///
/// # Errors
/// Internal, when upstream cannot derive them from a decoded statement.
pub(crate) fn public_inputs(statement: &Statement, partition: usize) -> anyhow::Result<Vec<Fr>> {
    statement
        .public_inputs(partition)
        .map_err(|error| circuit_failure(error, "deriving the public inputs"))
}

/// How a partition is called in messages and progress.
pub(crate) fn partition_label(id: CircuitId, partition: usize, num_partitions: usize) -> String {
    if num_partitions == 1 {
        id.to_string()
    } else {
        format!("{id} partition {} of {num_partitions}", partition + 1)
    }
}

fn known_shape(id: CircuitId) -> Option<Shape> {
    let info = id.info();
    Some(Shape {
        num_inputs: info.num_inputs,
        num_aux: info.num_aux?,
        num_constraints: info.num_constraints?,
    })
}

fn device_failure(error: DeviceError, what: &str) -> anyhow::Error {
    let class = match error {
        DeviceError::Key(_) | DeviceError::Identity { .. } => ExitClass::Key,
        DeviceError::Threads { .. } => ExitClass::Resource,
        _ => ExitClass::Internal,
    };
    classed(class, what, error)
}

fn circuit_failure(error: CircuitError, what: &str) -> anyhow::Error {
    let class = match error {
        CircuitError::VanillaProof { .. } => ExitClass::InvalidInput,
        _ => ExitClass::Internal,
    };
    classed(class, what, error)
}

/// Evaluates whatever circuit it is shown.
struct Evaluate {
    hint: Option<Shape>,
}

impl CircuitVisitor for Evaluate {
    type Output = Result<DirectEvaluation, SynthesisError>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        match self.hint {
            Some(shape) => evaluate_with_hint(circuit, shape),
            None => evaluate(circuit),
        }
    }
}

/// Names the first violated constraint of whatever circuit it is shown.
struct NameViolation;

impl CircuitVisitor for NameViolation {
    type Output = Result<(), SatisfactionError>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        check_satisfied(circuit, &|_| {}).map(drop)
    }
}
