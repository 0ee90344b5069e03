//! Does what came back prove what was asked? Answered here and not by whoever made the proof.

use cuzk_circuits::Statement;
use cuzk_groth16::{PreparedVerifyingKey, Proof, verify_batch};
use cuzk_r1cs::Fr;

use crate::{
    blame::circuit_failure,
    exit::{ExitClass, OrExit as _},
};

/// Public inputs of one partition, without ONE.
///
/// # Errors
/// Internal, when upstream cannot derive them from a decoded statement.
pub(crate) fn public_inputs(statement: &Statement, partition: usize) -> anyhow::Result<Vec<Fr>> {
    statement
        .public_inputs(partition)
        .map_err(|error| circuit_failure(error, "deriving the public inputs"))
}

/// Verifies the proofs of all partitions, as bytes.
///
/// # Errors
/// Not verified, when they are too few or too many, malformed, or do not prove the statement.
pub(crate) fn verify_statement(
    statement: &Statement,
    key: &PreparedVerifyingKey,
    proof: &[u8],
) -> anyhow::Result<()> {
    let id = statement.circuit_id();
    let refused = || format!("the proof of {id}");
    let proofs = Proof::parse_exactly(proof, statement.num_partitions())
        .or_exit(ExitClass::NotVerified, refused)?;
    let mut statements = Vec::with_capacity(proofs.len());
    for (partition, proof) in proofs.into_iter().enumerate() {
        statements.push((public_inputs(statement, partition)?, proof));
    }
    verify_batch(key, &statements).or_exit(ExitClass::NotVerified, refused)
}
