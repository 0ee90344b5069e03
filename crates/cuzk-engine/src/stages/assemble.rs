//! Proofs of all partitions to the proof of the statement.

use cuzk_groth16::Proof;

/// Proofs of all partitions, in order, which nobody has verified.
#[derive(Clone, Debug)]
pub(crate) struct AssembledProof {
    /// One per partition.
    pub(super) proofs: Vec<Proof>,
}

/// Puts the proofs of the partitions together, in order.
pub(crate) fn assemble(proofs: Vec<Proof>) -> AssembledProof {
    AssembledProof { proofs }
}
