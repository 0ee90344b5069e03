//! From a request to the values that a device proves, without saying how they are made.

use std::sync::Arc;

use cuzk_circuits::{CircuitId, ProofRequest};
use cuzk_r1cs::{CompiledCircuit, Fr, PackedWitness};

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

    /// Reads or compiles a circuit; may take long.
    ///
    /// # Errors
    /// [`PortError`] when the circuit cannot be made or read.
    fn load(&self, circuit: CircuitId) -> Result<Arc<CompiledCircuit>, PortError>;

    /// Gives up what was kept beside the circuit when it was loaded. No partition in flight uses it.
    fn evicted(&self, circuit: CircuitId) {
        let _ = circuit;
    }
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

    /// Computes the values of a partition's variables. The device refuses those that violate a constraint.
    ///
    /// # Errors
    /// With class [`Invalid`](crate::ErrorClass::Invalid) when the request has not the form of the circuit.
    fn witness(
        &self,
        partition: usize,
        circuit: &CompiledCircuit,
    ) -> Result<PackedWitness, PortError>;
}
