//! Statement and partition to the values that a device proves.

use cuzk_groth16::CircuitData;

use crate::error::PortError;
use crate::ports::{Prepared, Provable};

/// Computes a partition's values.
pub(crate) fn witness(
    statement: &dyn Provable,
    partition: usize,
    circuit: &CircuitData,
) -> Result<Prepared, PortError> {
    statement.prepare(partition, circuit)
}
