//! One statement from circuit to verified proofs. Each partition's witness is generated in packed form
//! and given to the CPU device, which evaluates the rows and refuses values that violate one: a wrong
//! vanilla proof must fail there, early, and never become a bad proof. Nothing unverified leaves this
//! module.

use std::{
    num::NonZeroUsize,
    sync::Arc,
    time::{Duration, Instant},
};

use bellpepper_core::Circuit;
use cuzk_circuits::{
    CircuitError, CircuitId, CircuitVisitor, Statement, WitnessError, WitnessLayout,
};
use cuzk_groth16::{
    Blinding, CpuDevice, CpuSettings, DeviceError, LoadedCircuit, Partition, PointCheck,
    PreparedVerifyingKey, Proof, ProverDevice as _, ProvingKey, verify,
};
use cuzk_r1cs::{CompiledCircuit, Fr, PackedWitness, SatisfactionError, Shape, check_satisfied};

use crate::{
    exit::{ExitClass, OrExit as _, classed, failure},
    output::Output,
    progress::Step,
};

/// Time spent on one statement, all partitions together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProvingTimes {
    /// Values of the variables.
    pub(crate) witness: Duration,
    /// Values of the rows.
    pub(crate) evaluate: Duration,
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
        circuit: &ProvableCircuit,
        output: &Output,
    ) -> anyhow::Result<ProvedStatement> {
        let id = statement.circuit_id();
        let key = circuit.loaded.key();
        let pvk = PreparedVerifyingKey::new(key.verifying_key());
        let num_partitions = statement.num_partitions();
        let mut times = ProvingTimes::default();
        let mut proofs = Vec::with_capacity(num_partitions);
        for partition in 0..num_partitions {
            let label = partition_label(id, partition, num_partitions);
            let step = output.step(&format!("{label}: witness"));
            let start = Instant::now();
            let witness = circuit.witness(statement, partition)?;
            times.witness += start.elapsed();

            step.rename(&format!("{label}: proof"));
            let proof = self.prove_partition(
                (statement, partition),
                circuit,
                (witness, Blinding::random()),
                &mut times,
            )?;

            step.rename(&format!("{label}: verification"));
            times.verify += verify_partition(statement, partition, &pvk, key, &proof, &step)?;
            proofs.push(proof);
        }
        if proofs.is_empty() {
            return Err(failure(
                ExitClass::InvalidInput,
                format!("the {id} request has no partition"),
            ));
        }
        Ok(ProvedStatement {
            proofs,
            shape: circuit.loaded.circuit().shape(),
            times,
        })
    }

    /// Joins a key and its circuit.
    ///
    /// # Errors
    /// Key, when the key must not be used or they do not belong together; internal, when the witness
    /// generator has other kinds of variables than the circuit.
    pub(crate) fn load(
        &self,
        id: CircuitId,
        key: &Arc<ProvingKey>,
        circuit: Arc<CompiledCircuit>,
    ) -> anyhow::Result<ProvableCircuit> {
        let layout = WitnessLayout::of_compiled(id, &circuit).map_err(witness_failure)?;
        let loaded = self
            .device
            .load_key(Arc::clone(key))
            .and_then(|key| self.device.load_circuit(&key, circuit))
            .map_err(|error| device_failure(error, "loading key and circuit"))?;
        Ok(ProvableCircuit { layout, loaded })
    }

    /// Proves one partition; the result is not verified yet.
    ///
    /// # Errors
    /// Invalid input, when the values violate a constraint, with the name of the first one; internal, when the
    /// device fails.
    pub(crate) fn prove_partition(
        &self,
        (statement, partition): (&Statement, usize),
        circuit: &ProvableCircuit,
        (witness, blinding): (PackedWitness, Blinding),
        times: &mut ProvingTimes,
    ) -> anyhow::Result<Proof> {
        let start = Instant::now();
        let started = self.device.start(Partition {
            circuit: circuit.loaded.clone(),
            witness,
            blinding,
        });
        let pending = match started {
            Err(DeviceError::Unsatisfied { row }) => {
                return Err(unsatisfied(statement, partition, row));
            }
            started => started.map_err(|error| device_failure(error, "proving"))?,
        };
        let evaluate = pending.start_times().evaluate;
        let proof = self
            .device
            .finish(pending)
            .map_err(|error| device_failure(error, "proving"))?;
        times.evaluate += evaluate;
        times.prove += start.elapsed().saturating_sub(evaluate);
        Ok(proof)
    }
}

/// A circuit with its key and its witness generator.
pub(crate) struct ProvableCircuit {
    layout: WitnessLayout,
    loaded: LoadedCircuit,
}

impl ProvableCircuit {
    /// The packed witness of one partition.
    ///
    /// # Errors
    /// Invalid input, when the vanilla proofs have another form than the circuit.
    pub(crate) fn witness(
        &self,
        statement: &Statement,
        partition: usize,
    ) -> anyhow::Result<PackedWitness> {
        statement
            .packed_witness(partition, &self.layout)
            .map_err(witness_failure)
    }
}

/// The failure of values that violate a constraint, which a synthesis of the circuit names.
fn unsatisfied(statement: &Statement, partition: usize, row: usize) -> anyhow::Error {
    let place = format!("{} partition {partition}", statement.circuit_id());
    match statement.with_circuit(partition, NameViolation) {
        Err(error) => circuit_failure(error, "building the circuit"),
        Ok(Err(error)) => classed(ExitClass::InvalidInput, place, error),
        Ok(Ok(())) => failure(
            ExitClass::Internal,
            format!("{place}: row {row} is violated by our witness and holds in upstream's"),
        ),
    }
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
    let elapsed = start.elapsed();
    let Err(error) = verified else {
        step.rename("done");
        return Ok(elapsed);
    };
    let verdict = format!(
        "the finished proof of {} partition {partition} does not verify and is thrown away",
        statement.circuit_id()
    );
    // Points are not checked while they are added up. One that is none spoils every proof, and its
    // place tells the operator what to do.
    step.rename("looking for damage in the key");
    key.check_points(PointCheck::OnCurve, &|_| {})
        .or_exit(ExitClass::Key, || verdict.clone())?;
    let advice = format!(
        "all points of the key are on the curve, but they may be of another key: cuzk key check {} \
         --digest",
        crate::keys::shell_word(key.path())
    );
    Err(classed(
        ExitClass::NotVerified,
        format!("{verdict}; {advice}"),
        error,
    ))
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

fn witness_failure(error: WitnessError) -> anyhow::Error {
    let class = match error {
        WitnessError::Vanilla { .. } => ExitClass::InvalidInput,
        _ => ExitClass::Internal,
    };
    classed(class, "generating the witness", error)
}

/// Names the first violated constraint of whatever circuit it is shown.
struct NameViolation;

impl CircuitVisitor for NameViolation {
    type Output = Result<(), SatisfactionError>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        check_satisfied(circuit, &|_| {}).map(drop)
    }
}
