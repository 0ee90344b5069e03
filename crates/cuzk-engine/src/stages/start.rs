//! Values to a pending proof.

use cuzk_groth16::{Blinding, DeviceError, LoadedCircuit, PendingProof, ProverDevice};

use crate::ports::Prepared;

/// Starts a partition on a device, with fresh blinding.
pub(crate) fn start(
    device: &dyn ProverDevice,
    circuit: LoadedCircuit,
    prepared: Prepared,
) -> Result<PendingProof, DeviceError> {
    device.start(prepared.bind(circuit, Blinding::random()))
}
