//! Witnesses from one thread, proofs from the device.

use std::{
    collections::VecDeque,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    time::{Duration, Instant},
};

use cuzk_circuits::{Statement, WitnessLayout};
use cuzk_groth16::{Blinding, CardMemory, LoadedCircuit, Partition, Proof};
use cuzk_r1cs::PackedWitness;

use super::device::{BenchDevice, Pending, StageTimes};
use crate::exit::{ExitClass, OrExit as _};

/// What proofs of partitions need.
#[derive(Clone, Copy)]
pub(super) struct Pipeline<'a> {
    pub(super) statement: &'a Statement,
    pub(super) layout: &'a WitnessLayout,
    pub(super) device: &'a BenchDevice,
    pub(super) circuit: &'a LoadedCircuit,
    pub(super) in_flight: usize,
}

/// What a run gave.
pub(super) struct Run {
    pub(super) proofs: Vec<Proof>,
    pub(super) elapsed: Duration,
    /// Device time of each partition.
    pub(super) times: Vec<StageTimes>,
    /// A card's memory when each partition was finished.
    pub(super) memory: Vec<CardMemory>,
    /// Time for which witnesses were made.
    pub(super) witness: Duration,
}

type MadeWitness = anyhow::Result<(PackedWitness, Duration)>;

impl Pipeline<'_> {
    /// Proves the partitions in the given order.
    ///
    /// # Errors
    /// Internal, when a witness cannot be made or the device fails.
    pub(super) fn run(&self, order: &[usize]) -> anyhow::Result<Run> {
        std::thread::scope(|scope| {
            // While a device computes several together nobody starts more, and then as many are wanted.
            let ahead = self.device.proofs_per_pass(self.circuit);
            let (sender, witnesses) = sync_channel(ahead.min(self.in_flight));
            scope.spawn(move || self.make_witnesses(order, &sender));
            self.prove(witnesses)
        })
    }

    /// Proves the first partition with the given blinding.
    ///
    /// # Errors
    /// As [`Pipeline::run`].
    pub(super) fn prove_one(&self, blinding: Blinding) -> anyhow::Result<Proof> {
        let witness = self.witness(0)?;
        let pending = self.device.start(Partition {
            circuit: self.circuit.clone(),
            witness,
            blinding,
        })?;
        Ok(self.device.finish(pending)?.0)
    }

    fn witness(&self, partition: usize) -> anyhow::Result<PackedWitness> {
        self.statement
            .packed_witness(partition, self.layout)
            .or_exit(ExitClass::Internal, || "generating the witness".to_owned())
    }

    fn make_witnesses(&self, order: &[usize], sender: &SyncSender<MadeWitness>) {
        for &partition in order {
            let start = Instant::now();
            let made = self
                .witness(partition)
                .map(|witness| (witness, start.elapsed()));
            // The other end is gone when the device failed.
            if sender.send(made).is_err() {
                return;
            }
        }
    }

    fn prove(&self, witnesses: Receiver<MadeWitness>) -> anyhow::Result<Run> {
        let start = Instant::now();
        let mut run = Run {
            proofs: Vec::new(),
            elapsed: Duration::ZERO,
            times: Vec::new(),
            memory: Vec::new(),
            witness: Duration::ZERO,
        };
        let mut in_flight = VecDeque::new();
        for made in witnesses {
            let (witness, took) = made?;
            run.witness += took;
            if in_flight.len() == self.in_flight {
                self.finish(&mut in_flight, &mut run)?;
            }
            in_flight.push_back(self.device.start(Partition {
                circuit: self.circuit.clone(),
                witness,
                blinding: Blinding::random(),
            })?);
        }
        while !in_flight.is_empty() {
            self.finish(&mut in_flight, &mut run)?;
        }
        run.elapsed = start.elapsed();
        Ok(run)
    }

    /// Finishes the oldest one.
    fn finish(&self, in_flight: &mut VecDeque<Pending>, run: &mut Run) -> anyhow::Result<()> {
        if let Some(pending) = in_flight.pop_front() {
            let (proof, times) = self.device.finish(pending)?;
            run.proofs.push(proof);
            run.times.push(times);
            run.memory.extend(self.device.card_memory());
        }
        Ok(())
    }
}
