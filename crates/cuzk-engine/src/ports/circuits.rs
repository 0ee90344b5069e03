//! From a request to the values that a device proves, without saying how they are made or packed.

use std::sync::Arc;

use cuzk_circuits::{CircuitId, ProofRequest};
use cuzk_groth16::{Blinding, CircuitData, LoadedCircuit, Partition};
use cuzk_r1cs::Fr;

use crate::error::PortError;

/// Decodes requests and knows circuits.
pub trait CircuitSource: Send + Sync + 'static {
    /// Decodes and checks a request.
    ///
    /// # Errors
    /// With class [`Invalid`](crate::ErrorClass::Invalid) and the place in the request.
    fn decode(&self, request: &ProofRequest) -> Result<Arc<dyn Provable>, PortError>;

    /// Bytes that [`CircuitSource::load`] will hold, known before it is called.
    fn resident_bytes(&self, circuit: CircuitId) -> u64;

    /// Makes a circuit's data; may take long.
    ///
    /// # Errors
    /// [`PortError`] when the circuit cannot be made or read.
    fn load(&self, circuit: CircuitId) -> Result<CircuitData, PortError>;
}

/// A decoded request, shared by the tasks of all its partitions.
pub trait Provable: Send + Sync {
    /// The circuit that every partition uses.
    fn circuit_id(&self) -> CircuitId;

    /// Number of partitions, hence of 192-byte proofs; at least one.
    fn num_partitions(&self) -> usize;

    /// Public inputs of a partition, without the constant ONE.
    ///
    /// # Errors
    /// [`PortError`] when they cannot be derived.
    fn public_inputs(&self, partition: usize) -> Result<Vec<Fr>, PortError>;

    /// Computes a partition's values, and refuses those that violate a constraint.
    ///
    /// # Errors
    /// With class [`Invalid`](crate::ErrorClass::Invalid) when the constraint system is not satisfied.
    fn prepare(&self, partition: usize, circuit: &CircuitData) -> Result<Prepared, PortError>;
}

/// A partition's values before a device is chosen for them.
#[must_use = "it holds a partition's memory"]
pub struct Prepared {
    bind: Box<dyn FnOnce(LoadedCircuit, Blinding) -> Partition + Send>,
}

impl Prepared {
    /// Values that `bind` joins with the circuit of a device.
    pub fn new(bind: impl FnOnce(LoadedCircuit, Blinding) -> Partition + Send + 'static) -> Self {
        Self {
            bind: Box::new(bind),
        }
    }

    /// The partition for a device on which `circuit` is loaded.
    pub fn bind(self, circuit: LoadedCircuit, blinding: Blinding) -> Partition {
        (self.bind)(circuit, blinding)
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Prepared")
    }
}
