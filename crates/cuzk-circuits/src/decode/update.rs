//! A request for a sector update.
//!
//! Upstream's circuit does not merely become unsatisfied when a partition proof is inconsistent:
//! it panics on lengths, on a path into another partition, and on a leaf that was encoded
//! differently. All of that is checked here.

use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_hashers::sha256::Sha256Domain;
use serde::Deserialize;
use storage_proofs_core::merkle::MerkleProofTrait;
use storage_proofs_update::constants::{TreeDDomain, TreeRDomain, h_default};
use storage_proofs_update::{
    ChallengeProof, Challenges, PartitionProof, PublicInputs, PublicParams, phi, rho,
};

use super::binary::from_bincode;
use super::bounded::{Node, list, unwrap_nodes};
use super::checks::{
    bytes32, commitment, expect_comm_r, expect_equal, expect_number, expect_sector_size,
};
use super::merkle::{MerkleWire, expect_count};
use super::place::Place;
use super::{Bytes32, DecodeError};
use crate::registered::UpdateProof;
use crate::registry::update_params;
use crate::request::SnapDealsRequest;
use crate::shape::{SectorTree, with_tree};
use crate::statement::{Body, Erase, Statement, UpdateStatement};

/// Leaves of the largest apex tree, and one more for a precise message.
const MAX_APEX_LEAVES: usize = 129;
/// Challenges of the largest partition, and one more for a precise message.
const MAX_CHALLENGES: usize = 87;

const VANILLA_PROOFS: &str = "vanilla_proofs";

#[derive(Debug, Deserialize)]
struct PartitionWire {
    comm_c: Node<PoseidonDomain>,
    #[serde(deserialize_with = "list::<_, _, MAX_APEX_LEAVES>")]
    apex_leafs: Vec<Node<Sha256Domain>>,
    #[serde(deserialize_with = "list::<_, _, MAX_CHALLENGES>")]
    challenge_proofs: Vec<ChallengeWire>,
}

#[derive(Debug, Deserialize)]
#[allow(
    clippy::struct_field_names,
    reason = "upstream's names, which messages repeat"
)]
struct ChallengeWire {
    proof_r_old: MerkleWire<PoseidonDomain>,
    proof_d_new: MerkleWire<Sha256Domain>,
    proof_r_new: MerkleWire<PoseidonDomain>,
}

/// Decodes and checks a request for a sector update.
///
/// Besides the form, it checks roots against the commitments, challenges, and the encoding of
/// every challenged leaf. Hashes along paths are left to [`Statement::check_vanilla`].
///
/// # Errors
/// With the partition, the path or the byte, what was expected and what was found.
pub fn decode_snap_deals(request: &SnapDealsRequest) -> Result<Statement, DecodeError> {
    let proof = UpdateProof::from_number(request.registered_proof)?;
    if request.sector_size != 0 {
        expect_sector_size(
            "sector_size",
            &proof,
            proof.sector_size,
            request.sector_size,
        )?;
    }
    let params = update_params(proof.sector_size);
    expect_count(
        request.vanilla_proofs.len(),
        params.partition_count,
        Place::root(VANILLA_PROOFS),
    )?;
    let inputs = public_inputs(request, &params)?;
    with_tree!(proof.sector_size, Tree => decode::<Tree>(request, proof, params, inputs))
}

fn public_inputs(
    request: &SnapDealsRequest,
    params: &PublicParams,
) -> Result<PublicInputs, DecodeError> {
    let comm_r = |name, bytes| commitment::<TreeRDomain>(Place::root(name), &bytes32(name, bytes)?);
    Ok(PublicInputs {
        k: 0,
        comm_r_old: comm_r("comm_r_old", &request.comm_r_old)?,
        comm_d_new: commitment::<TreeDDomain>(
            Place::root("comm_d_new"),
            &bytes32("comm_d_new", &request.comm_d_new)?,
        )?,
        comm_r_new: comm_r("comm_r_new", &request.comm_r_new)?,
        h: h_default(params.sector_nodes),
    })
}

fn decode<Tree: Erase>(
    request: &SnapDealsRequest,
    proof: UpdateProof,
    params: PublicParams,
    inputs: PublicInputs,
) -> Result<Statement, DecodeError> {
    let place = Place::root(VANILLA_PROOFS);
    let partitions = request
        .vanilla_proofs
        .iter()
        .enumerate()
        .map(|(k, bytes)| {
            let place = place.index(k);
            let wire: PartitionWire = from_bincode(place, bytes)?;
            let partition = wire.check::<Tree>(&params, place)?;
            expect_bound(&params, &inputs, k, &partition, place)?;
            Ok(partition)
        })
        .collect::<Result<_, DecodeError>>()?;
    let body = Body::Update(UpdateStatement {
        params,
        inputs,
        partitions,
    });
    Ok(Statement::new(proof.circuit_id(), Tree::erase(body)))
}

impl PartitionWire {
    fn check<Tree: SectorTree>(
        self,
        params: &PublicParams,
        place: Place<'_>,
    ) -> Result<PartitionProof<Tree>, DecodeError> {
        let apex = place.field("apex_leafs");
        expect_count(self.apex_leafs.len(), params.apex_leaf_count, apex)?;
        let place = place.field("challenge_proofs");
        expect_count(self.challenge_proofs.len(), params.challenge_count, place)?;
        let challenge_proofs = self
            .challenge_proofs
            .into_iter()
            .enumerate()
            .map(|(index, proof)| proof.check(params.sector_nodes, place.index(index)))
            .collect::<Result<_, _>>()?;
        Ok(PartitionProof {
            comm_c: self.comm_c.0,
            apex_leafs: unwrap_nodes(self.apex_leafs),
            challenge_proofs,
        })
    }
}

impl ChallengeWire {
    fn check<Tree: SectorTree>(
        self,
        nodes: usize,
        place: Place<'_>,
    ) -> Result<ChallengeProof<Tree>, DecodeError> {
        Ok(ChallengeProof {
            proof_r_old: self
                .proof_r_old
                .into_proof(nodes, place.field("proof_r_old"))?,
            proof_d_new: self
                .proof_d_new
                .into_proof(nodes, place.field("proof_d_new"))?,
            proof_r_new: self
                .proof_r_new
                .into_proof(nodes, place.field("proof_r_new"))?,
        })
    }
}

/// Partition `k` belongs to the commitments, and each of its leaves is encoded as it must be.
fn expect_bound<Tree: SectorTree>(
    params: &PublicParams,
    inputs: &PublicInputs,
    k: usize,
    partition: &PartitionProof<Tree>,
    place: Place<'_>,
) -> Result<(), DecodeError> {
    let phi = phi(&inputs.comm_d_new, &inputs.comm_r_old);
    let challenges = Challenges::new(params.sector_nodes, inputs.comm_r_new, k);
    let place = place.field("challenge_proofs");
    let first = &partition.challenge_proofs[0];
    for (index, (proof, challenge)) in partition
        .challenge_proofs
        .iter()
        .zip(challenges)
        .enumerate()
    {
        let place = place.index(index);
        expect_roots(inputs, &partition.comm_c, proof, place)?;
        expect_challenge(proof, challenge, place)?;
        expect_same_partition(params, first, proof, place)?;
        let high = challenge >> (params.challenge_bit_len - inputs.h);
        expect_encoded(proof, rho(&phi, high), place)?;
    }
    Ok(())
}

fn expect_roots<Tree: SectorTree>(
    inputs: &PublicInputs,
    comm_c: &TreeRDomain,
    proof: &ChallengeProof<Tree>,
    place: Place<'_>,
) -> Result<(), DecodeError> {
    for (name, comm_r, root) in [
        ("comm_r_old", &inputs.comm_r_old, proof.proof_r_old.root()),
        ("comm_r_new", &inputs.comm_r_new, proof.proof_r_new.root()),
    ] {
        expect_comm_r(Place::root(name), comm_c, &root, &Bytes32::of(comm_r).0)?;
    }
    let data = place.field("proof_d_new");
    expect_equal(
        data.field("root"),
        &Bytes32::of(&inputs.comm_d_new),
        &Bytes32::of(&proof.proof_d_new.root()),
    )
}

fn expect_challenge<Tree: SectorTree>(
    proof: &ChallengeProof<Tree>,
    challenge: u32,
    place: Place<'_>,
) -> Result<(), DecodeError> {
    for (name, index) in [
        ("proof_r_old", proof.proof_r_old.path_index()),
        ("proof_d_new", proof.proof_d_new.path_index()),
        ("proof_r_new", proof.proof_r_new.path_index()),
    ] {
        let proof = place.field(name);
        expect_number(proof.field("challenge"), challenge.into(), index as u64)?;
    }
    Ok(())
}

/// The top of the data path, from the partition's root to the data root, is one and the same.
fn expect_same_partition<Tree: SectorTree>(
    params: &PublicParams,
    first: &ChallengeProof<Tree>,
    proof: &ChallengeProof<Tree>,
    place: Place<'_>,
) -> Result<(), DecodeError> {
    let start = params.challenge_bit_len - params.partition_bit_len;
    let place = place.field("proof_d_new");
    let levels = first.proof_d_new.path().into_iter();
    for (level, (expected, found)) in levels.zip(proof.proof_d_new.path()).enumerate().skip(start) {
        let siblings = expected.0.iter().zip(&found.0);
        for (expected, found) in siblings {
            expect_equal(
                place.index(level),
                &Bytes32::of(expected),
                &Bytes32::of(found),
            )?;
        }
    }
    Ok(())
}

/// New leaf = old leaf + data · rho.
fn expect_encoded<Tree: SectorTree>(
    proof: &ChallengeProof<Tree>,
    rho: Fr,
    place: Place<'_>,
) -> Result<(), DecodeError> {
    let old: Fr = proof.proof_r_old.leaf().into();
    let data: Fr = proof.proof_d_new.leaf().into();
    let expected: TreeRDomain = (old + data * rho).into();
    let place = place.field("proof_r_new");
    expect_equal(
        place.field("leaf"),
        &Bytes32::of(&expected),
        &Bytes32::of(&proof.proof_r_new.leaf()),
    )
}
