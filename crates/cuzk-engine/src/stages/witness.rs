//! Statement and partition to the values that a device proves.

use cuzk_r1cs::{CompiledCircuit, PackedWitness};

use crate::error::PortError;
use crate::ports::Provable;

/// Computes the values of a partition's variables.
pub(crate) fn witness(
    statement: &dyn Provable,
    partition: usize,
    circuit: &CompiledCircuit,
) -> Result<PackedWitness, PortError> {
    statement.witness(partition, circuit)
}
