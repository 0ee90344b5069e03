//! The device under test, with what only some devices tell.

use std::{sync::Arc, time::Duration};

use cuzk_circuits::CircuitId;
use cuzk_groth16::{
    CardMemory, DeviceError, LoadedCircuit, Partition, PendingProof, Proof, ProverDevice,
    ProvingKey, setup::KeyScalars,
};
use cuzk_r1cs::CompiledCircuit;

use crate::{
    cards::{CardProver, CardTimes, ephemeral_needs_a_card},
    development_keys::toxic_waste,
    device_choice::{DeviceChoice, DeviceOptions},
    exit::{ExitClass, OrExit as _, classed},
    local::start_device,
    output::Output,
};

/// Times of one partition by stage.
pub(super) type StageTimes = Vec<(&'static str, Duration)>;

/// Where the key comes from.
pub(super) enum KeySource {
    /// Its file.
    File(Arc<ProvingKey>),
    /// Made on the card.
    Ephemeral,
}

pub(super) enum BenchDevice {
    Cpu(Arc<dyn ProverDevice>),
    Card(CardProver),
}

/// A started proof.
pub(super) struct Pending {
    proof: PendingProof,
    times: Option<CardTimes>,
}

impl BenchDevice {
    /// Opens a device.
    ///
    /// # Errors
    /// Resource, when it cannot be used.
    pub(super) fn open(options: DeviceOptions) -> anyhow::Result<Self> {
        match options.choice {
            DeviceChoice::Cpu => start_device(options).map(Self::Cpu),
            DeviceChoice::Cuda(ordinal) => {
                CardProver::open(ordinal, options.memory_limit).map(Self::Card)
            }
        }
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Cpu(device) => format!("cpu, {}", device.describe().arithmetic),
            Self::Card(card) => card.name(),
        }
    }

    /// Most bytes of device memory in use at a time; none for the processor.
    pub(super) fn peak_bytes(&self) -> Option<u64> {
        match self {
            Self::Cpu(_) => None,
            Self::Card(card) => Some(card.peak_bytes()),
        }
    }

    /// A card's memory now; none for the processor.
    pub(super) fn card_memory(&self) -> Option<CardMemory> {
        self.prover().card_memory()
    }

    fn prover(&self) -> &dyn ProverDevice {
        match self {
            Self::Cpu(device) => device.as_ref(),
            Self::Card(card) => card.prover(),
        }
    }

    /// Started proofs of a circuit that the device computes together.
    pub(super) fn proofs_per_pass(&self, circuit: &LoadedCircuit) -> usize {
        self.prover().proofs_per_pass(circuit).get()
    }

    /// Loads a circuit with its key.
    ///
    /// # Errors
    /// Key, when the file cannot be used; usage, for an ephemeral key without a card; resource, when memory does not suffice.
    pub(super) fn load(
        &self,
        id: CircuitId,
        circuit: Arc<CompiledCircuit>,
        source: &KeySource,
        output: &Output,
    ) -> anyhow::Result<LoadedCircuit> {
        let prover = self.prover();
        let key = match (source, self) {
            (KeySource::File(key), _) => {
                let _step = output.step(&format!("{id}: loading the key"));
                prover
                    .load_key(Arc::clone(key))
                    .or_exit(ExitClass::Key, || format!("loading the key of {id}"))?
            }
            (KeySource::Ephemeral, Self::Card(card)) => {
                let _step = output.step(&format!("{id}: making a key on the card"));
                let scalars = KeyScalars::evaluate(&circuit, &toxic_waste(None)?, &|_| ())
                    .or_exit(ExitClass::Internal, || format!("making the key of {id}"))?;
                card.make_key(&scalars)?
            }
            (KeySource::Ephemeral, Self::Cpu(_)) => return Err(ephemeral_needs_a_card()),
        };
        prover
            .load_circuit(&key, circuit)
            .or_exit(ExitClass::Key, || format!("loading {id}"))
    }

    pub(super) fn start(&self, partition: Partition) -> anyhow::Result<Pending> {
        let started = match self {
            Self::Cpu(device) => device
                .start(partition)
                .map(|proof| Pending { proof, times: None }),
            Self::Card(card) => card.start(partition).map(|(proof, times)| Pending {
                proof,
                times: Some(times),
            }),
        };
        started.map_err(failed)
    }

    pub(super) fn finish(&self, pending: Pending) -> anyhow::Result<(Proof, StageTimes)> {
        let Pending { proof, times } = pending;
        let started = proof.start_times();
        match self {
            Self::Cpu(device) => {
                let begin = std::time::Instant::now();
                let proof = device.finish(proof).map_err(failed)?;
                let stages = vec![
                    ("evaluate", started.evaluate),
                    ("quotient", started.quotient),
                    ("sums", started.sums),
                    ("finish", begin.elapsed()),
                ];
                Ok((proof, stages))
            }
            Self::Card(card) => {
                let proof = card.prover().finish(proof).map_err(failed)?;
                Ok((proof, times.map(CardTimes::stages).unwrap_or_default()))
            }
        }
    }
}

fn failed(error: DeviceError) -> anyhow::Error {
    classed(ExitClass::Internal, "proving", error)
}
