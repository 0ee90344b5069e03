//! Assembled proof to verified proof: no bytes leave the engine before they satisfy the pairing equation.

use cuzk_groth16::{PROOF_BYTES, PreparedVerifyingKey, VerifyError, verify_batch};

use super::assemble::AssembledProof;
use crate::error::PortError;
use crate::ports::Provable;

/// The bytes of a proof that was verified. Only the verifying stage makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedProof {
    bytes: Box<[u8]>,
}

impl VerifiedProof {
    /// 192 bytes per partition, in order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Why a proof is not verified.
#[derive(Debug)]
pub(crate) enum Unverified {
    /// These partitions' proofs are bad.
    Bad(Vec<usize>),
    /// The public inputs of a partition cannot be derived.
    Inputs(usize, PortError),
    /// Statement and key do not belong together, or there is no randomness.
    Other(VerifyError),
}

/// Verifies all partitions together; names the bad ones.
pub(crate) fn verify(
    statement: &dyn Provable,
    key: &PreparedVerifyingKey,
    assembled: &AssembledProof,
) -> Result<VerifiedProof, Unverified> {
    let mut statements = Vec::with_capacity(assembled.proofs.len());
    for (partition, proof) in assembled.proofs.iter().enumerate() {
        let inputs = statement
            .public_inputs(partition)
            .map_err(|error| Unverified::Inputs(partition, error))?;
        statements.push((inputs, *proof));
    }
    match verify_batch(key, &statements) {
        Ok(()) => {}
        Err(VerifyError::Invalid { failing, .. }) => return Err(Unverified::Bad(failing)),
        Err(error) => return Err(Unverified::Other(error)),
    }
    let mut bytes = Vec::with_capacity(PROOF_BYTES * assembled.proofs.len());
    for proof in &assembled.proofs {
        bytes.extend_from_slice(&proof.to_bytes());
    }
    Ok(VerifiedProof {
        bytes: bytes.into_boxed_slice(),
    })
}
