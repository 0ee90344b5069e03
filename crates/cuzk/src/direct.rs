//! One partition after the other on a device, with nothing in between: what the engine is measured against, and how two
//! provers are compared.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use cuzk_circuits::{CircuitId, Statement, WitnessLayout};
use cuzk_groth16::{
    Blinding, DeviceError, LoadedCircuit, Partition, Proof, ProverDevice, ProvingKey,
};
use cuzk_r1cs::CompiledCircuit;

use crate::{
    blame,
    exit::{ExitClass, OrExit as _, classed},
};

/// Where the time of one partition went.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PartitionTimes {
    /// Values of the variables.
    pub(crate) witness: Duration,
    /// Values of the rows.
    pub(crate) evaluate: Duration,
    /// Quotient, multi-scalar multiplications, assembly.
    pub(crate) prove: Duration,
}

/// A circuit with its key and its witness generator, ready on a device.
pub(crate) struct DirectProver {
    device: Arc<dyn ProverDevice>,
    layout: WitnessLayout,
    circuit: LoadedCircuit,
}

impl DirectProver {
    /// Joins a key and its circuit.
    ///
    /// # Errors
    /// Key, when the key must not be used or they do not belong together; internal, when the witness generator has other
    /// kinds of variables than the circuit.
    pub(crate) fn load(
        device: Arc<dyn ProverDevice>,
        key: Arc<ProvingKey>,
        id: CircuitId,
        circuit: Arc<CompiledCircuit>,
    ) -> anyhow::Result<Self> {
        let layout = WitnessLayout::of_compiled(id, &circuit)
            .or_exit(ExitClass::Internal, || format!("the witness of {id}"))?;
        let circuit = device
            .load_key(key)
            .and_then(|key| device.load_circuit(&key, circuit))
            .or_exit(ExitClass::Key, || "loading key and circuit".to_owned())?;
        Ok(Self {
            device,
            layout,
            circuit,
        })
    }

    /// Proves one partition; the result is not verified.
    ///
    /// # Errors
    /// Invalid input, when the values violate a constraint, with the name of the first one; internal, when the device fails.
    pub(crate) fn prove(
        &self,
        statement: &Statement,
        partition: usize,
        blinding: Blinding,
    ) -> anyhow::Result<(Proof, PartitionTimes)> {
        let began = Instant::now();
        let witness = statement
            .packed_witness(partition, &self.layout)
            .or_exit(ExitClass::Internal, || "generating the witness".to_owned())?;
        let witness_time = began.elapsed();
        let began = Instant::now();
        let started = self.device.start(Partition {
            circuit: self.circuit.clone(),
            witness,
            blinding,
        });
        let pending = match started {
            Err(DeviceError::Unsatisfied { row }) => {
                return Err(blame::unsatisfied(statement, partition, row));
            }
            started => started.map_err(|error| classed(ExitClass::Internal, "proving", error))?,
        };
        let evaluate = pending.start_times().evaluate;
        let proof = self
            .device
            .finish(pending)
            .or_exit(ExitClass::Internal, || "proving".to_owned())?;
        let times = PartitionTimes {
            witness: witness_time,
            evaluate,
            prove: began.elapsed().saturating_sub(evaluate),
        };
        Ok((proof, times))
    }
}
