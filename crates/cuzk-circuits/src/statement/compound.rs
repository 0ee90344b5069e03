//! Upstream derives public inputs and circuits of replications and updates through one trait. Every
//! value here has passed the decoder; what upstream may still refuse is passed on.

use bellpepper_core::Circuit;
use blstrs::Scalar as Fr;
use storage_proofs_core::compound_proof::{CircuitComponent, CompoundProof};
use storage_proofs_core::parameter_cache::ParameterSetMetadata;
use storage_proofs_core::proof::ProofScheme;

use super::UpstreamError;
use crate::circuit::CircuitVisitor;

/// Public inputs of a partition, by the compound proof `K` of the scheme `S`.
pub(super) fn public_inputs<'a, S, C, K>(
    inputs: &S::PublicInputs,
    params: &S::PublicParams,
    partition: usize,
) -> Result<Vec<Fr>, UpstreamError>
where
    S: ProofScheme<'a, Proof: Sync + Send, PublicInputs: Sync>,
    S::PublicParams: ParameterSetMetadata + Sync + Send,
    C: Circuit<Fr> + CircuitComponent + Send,
    K: CompoundProof<'a, S, C>,
{
    Ok(K::generate_public_inputs(inputs, params, Some(partition))?)
}

/// Shows `visitor` the circuit of a partition, by the compound proof `K` of the scheme `S`.
pub(super) fn visit<'a, S, C, K, V>(
    inputs: &S::PublicInputs,
    params: &S::PublicParams,
    (partition, vanilla): (usize, &S::Proof),
    visitor: V,
) -> Result<V::Output, UpstreamError>
where
    S: ProofScheme<'a, Proof: Sync + Send, PublicInputs: Sync>,
    S::PublicParams: ParameterSetMetadata + Sync + Send,
    C: Circuit<Fr> + CircuitComponent + Send,
    K: CompoundProof<'a, S, C>,
    V: CircuitVisitor,
{
    let nothing = C::ComponentPrivateInputs::default();
    let circuit = K::circuit(inputs, nothing, vanilla, params, Some(partition))?;
    Ok(visitor.visit(circuit))
}
