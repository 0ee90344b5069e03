//! Where proofs are computed: one trait, whatever the hardware.
//!
//! Proving is split in two so that a worker is free for the next partition as early as possible: `start` takes a
//! partition's packed witness, evaluates the rows by the circuit's templates, and returns a [`PendingProof`] once the
//! device needs no more of the worker; `finish` waits, does the tail and returns the proof. With the same blinding every device returns the same proof.

mod bases;
mod card;
mod cpu;
mod error;
mod partition;
mod reference;
mod teams;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::sync::Arc;

use cuzk_r1cs::CompiledCircuit;

pub use card::{CardDescription, CardMemory};
pub use cpu::{CpuDevice, CpuSettings};
pub use error::{Blame, DeviceError};
pub use partition::{Footprint, LoadedCircuit, LoadedKey, Partition, PendingProof, StartTimes};
pub use reference::ReferenceDevice;

use crate::key::ProvingKey;
use crate::proof::Proof;

/// Something that computes proofs.
pub trait ProverDevice: Send + Sync {
    /// What the device is.
    fn describe(&self) -> DeviceDescription;

    /// The card's memory now; none for a device that has none of its own. Asks the driver, which may take its time.
    fn card_memory(&self) -> Option<CardMemory> {
        None
    }

    /// Makes a key ready for proofs.
    ///
    /// # Errors
    /// [`DeviceError::Identity`] for a key that must not be used.
    fn load_key(&self, key: Arc<ProvingKey>) -> Result<LoadedKey, DeviceError> {
        LoadedKey::mapped(key)
    }

    /// Makes a circuit ready for proofs with a key.
    ///
    /// # Errors
    /// [`DeviceError::Key`] when the key's vectors have not the lengths that the circuit asks for;
    /// [`DeviceError::TooLarge`].
    fn load_circuit(
        &self,
        key: &LoadedKey,
        circuit: Arc<CompiledCircuit>,
    ) -> Result<LoadedCircuit, DeviceError>;

    /// Takes a partition and returns once the calling thread is free for the next one.
    ///
    /// # Errors
    /// [`DeviceError`] when the witness is not of the circuit, before anything is allocated, or is known not to satisfy it.
    fn start(&self, partition: Partition) -> Result<PendingProof, DeviceError>;

    /// Waits for a started proof and completes it.
    ///
    /// # Errors
    /// [`DeviceError`] when the device failed; [`DeviceError::Unsatisfied`] from a device that evaluates the rows while
    /// `start` has returned already.
    fn finish(&self, pending: PendingProof) -> Result<Proof, DeviceError> {
        pending.complete()
    }

    /// Whether a more urgent partition may be started, from any thread, while another one is in `start`; the two share what
    /// the device has. Where not, all calls come from one thread, one after the other.
    fn starts_beside(&self) -> bool {
        false
    }

    /// How many started proofs of a circuit are computed together at most, at less than the cost of each by itself; 1 from a
    /// device that gains nothing by it. Those that are started before the first of them is finished share.
    fn proofs_per_pass(&self, _circuit: &LoadedCircuit) -> NonZeroUsize {
        NonZeroUsize::MIN
    }

    /// Bytes of the host that the device keeps for itself, at most, whatever it proves.
    fn own_bytes(&self) -> u64 {
        0
    }

    /// Upper estimate of the bytes that one proof of the circuit holds at each stage.
    fn footprint(&self, circuit: &CompiledCircuit) -> Footprint;
}

/// What a device is, for people and for logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceDescription {
    /// Short name, such as `cpu`.
    pub name: &'static str,
    /// Threads that `start` uses.
    pub threads: NonZeroUsize,
    /// Threads that `finish` uses.
    pub tail_threads: NonZeroUsize,
    /// Implementation of the arithmetic, such as `avx512-ifma`.
    pub arithmetic: &'static str,
    /// The card that it is; none for a device that computes on the machine's processor.
    pub card: Option<CardDescription>,
}
