//! Pending proof to proof.

use cuzk_groth16::{DeviceError, PendingProof, Proof, ProverDevice};

/// Waits for a started proof and completes it.
pub(crate) fn finish(
    device: &dyn ProverDevice,
    pending: PendingProof,
) -> Result<Proof, DeviceError> {
    device.finish(pending)
}
