//! What a partition holds at each stage, computed from circuit and devices.

use cuzk_groth16::{Footprint, ProverDevice};
use cuzk_r1cs::CompiledCircuit;

/// Bytes that a partition holds, on the device that needs most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footprints {
    /// The partition: values of its variables.
    pub(crate) partition: u64,
    /// Values of its rows, during `start` only.
    pub(crate) evaluations: u64,
    /// During `start`, the partition included.
    pub(crate) start: u64,
    /// Between `start` and `finish`.
    pub(crate) pending: u64,
    /// During `finish`, the pending proof included.
    pub(crate) finish: u64,
}

impl Footprints {
    /// The largest of all devices.
    pub(crate) fn of<'a>(
        circuit: &CompiledCircuit,
        devices: impl Iterator<Item = &'a dyn ProverDevice>,
    ) -> Self {
        devices
            .map(|device| device.footprint(circuit))
            .fold(Self::default(), Self::joined)
    }

    fn joined(self, other: Footprint) -> Self {
        Self {
            partition: self.partition.max(other.partition_bytes as u64),
            evaluations: self.evaluations.max(other.evaluation_bytes as u64),
            start: self.start.max(other.start_bytes as u64),
            pending: self.pending.max(other.pending_bytes as u64),
            finish: self.finish.max(other.finish_bytes as u64),
        }
    }

    /// The most that a partition ever holds. Acquired once, before its witness: nobody waits for memory while holding some.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.partition.max(self.start).max(self.tail_bytes())
    }

    /// The most that it holds after `start`.
    pub(crate) fn tail_bytes(&self) -> u64 {
        self.pending.max(self.finish)
    }

    pub(crate) const fn scratch_bytes(&self) -> u64 {
        self.start.saturating_sub(self.partition + self.evaluations)
    }
}
