//! A witness to a pending proof.

use cuzk_groth16::{Blinding, DeviceError, LoadedCircuit, Partition, PendingProof, ProverDevice};
use cuzk_r1cs::PackedWitness;

/// Starts a partition on a device, with fresh blinding.
pub(crate) fn start(
    device: &dyn ProverDevice,
    circuit: LoadedCircuit,
    witness: PackedWitness,
) -> Result<PendingProof, DeviceError> {
    device.start(Partition {
        circuit,
        witness,
        blinding: Blinding::random(),
    })
}
