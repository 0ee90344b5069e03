//! A request for a proof of replication.
//!
//! Go programs send C1 output as base64 inside a small JSON object. The request itself names the
//! miner and the sector; a vanilla proof of another one is found here, not after minutes of
//! proving.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use filecoin_proofs::{DRG_DEGREE, EXP_DEGREE, PoRepConfig};
use serde::Deserialize;
use storage_proofs_core::drgraph::Graph;
use storage_proofs_core::merkle::{MerkleProofTrait, compound_path_length};
use storage_proofs_porep::stacked::{PublicInputs, TOTAL_PARENTS, Tau, generate_replica_id};
use storage_proofs_update::constants::TreeRHasher;

use super::checks::{commitment, expect_comm_r, expect_equal, expect_number, expect_sector_size};
use super::commit1::{Commit1, Commit1Wire, Vanilla};
use super::place::Place;
use super::text::from_json;
use super::{Bytes32, DecodeError};
use crate::id::SectorSize;
use crate::prover_id::prover_id;
use crate::registered::{SealProof, SealVariant};
use crate::registry::stacked_params;
use crate::request::PoRepRequest;
use crate::shape::{SectorTree, with_tree};
use crate::statement::{Body, Erase, PoRepStatement, Statement};

const VANILLA_PROOF: &str = "vanilla_proof";
const PHASE1_OUT: &str = "Phase1Out";

#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object of SectorNum, Phase1Out and SectorSize"
)]
struct Wrapper<'a> {
    #[serde(rename = "SectorNum")]
    sector_num: u64,
    #[serde(rename = "Phase1Out", borrow)]
    phase1_out: Cow<'a, str>,
    #[serde(rename = "SectorSize")]
    sector_size: u64,
}

/// What the C1 output says about itself before its vanilla proofs are looked at.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object with C1 output")]
struct Phase1Header {
    registered_proof: String,
}

impl PoRepRequest {
    /// The request about a payload that stands alone, such as a file: the sector and the
    /// registered proof are those that the payload names, and the miner, whom it does not name,
    /// is given. The payload is checked when the request is decoded.
    ///
    /// # Errors
    /// With the JSON path or the byte where the payload is malformed.
    pub fn from_payload(vanilla_proof: Bytes, miner_id: u64) -> Result<Self, DecodeError> {
        // Whatever the payload is about, it is no longer than that of the largest sector.
        let largest = SealProof {
            variant: SealVariant::V1_1,
            sector_size: SectorSize::Gib64,
        };
        expect_possible_length(&vanilla_proof, largest)?;
        let wrapper: Wrapper<'_> = from_json(VANILLA_PROOF, &vanilla_proof)?;
        let header: Phase1Header = from_json(PHASE1_OUT, &wrapper.decode()?)?;
        let proof: SealProof = header.registered_proof.parse()?;
        let (sector_number, sector_size) = (wrapper.sector_num, wrapper.sector_size);
        Ok(Self {
            registered_proof: proof.number(),
            sector_size,
            miner_id,
            sector_number,
            vanilla_proof,
        })
    }
}

/// Decodes and checks a request for a proof of replication.
///
/// Besides the form, it checks that the vanilla proof belongs to the request's miner and sector,
/// that its roots give the commitments, and that it answers the challenges of its seed. Hashes
/// along paths are left to [`Statement::check_vanilla`].
///
/// # Errors
/// With the field, the JSON path or the byte, what was expected and what was found.
pub fn decode_porep(request: &PoRepRequest) -> Result<Statement, DecodeError> {
    let proof = SealProof::from_number(request.registered_proof)?;
    if proof.variant == SealVariant::NonInteractivePoRep {
        return Err(DecodeError::NonInteractive { proof });
    }
    expect_sector_size(
        "sector_size",
        &proof,
        proof.sector_size,
        request.sector_size,
    )?;
    expect_possible_length(&request.vanilla_proof, proof)?;
    let commit1: Commit1Wire = from_json(PHASE1_OUT, &unwrap_payload(request, proof)?)?;
    let found: SealProof = commit1.registered_proof.parse()?;
    if found != proof {
        return Err(DecodeError::OtherProof {
            path: "registered_proof",
            expected: proof,
            found,
        });
    }
    with_tree!(proof.sector_size, Tree => decode::<Tree>(request, proof, commit1))
}

/// The JSON inside the wrapper.
fn unwrap_payload(request: &PoRepRequest, proof: SealProof) -> Result<Vec<u8>, DecodeError> {
    let wrapper: Wrapper<'_> = from_json(VANILLA_PROOF, &request.vanilla_proof)?;
    let place = Place::root(VANILLA_PROOF);
    expect_number(
        place.field("SectorNum"),
        request.sector_number,
        wrapper.sector_num,
    )?;
    expect_sector_size(
        "vanilla_proof.SectorSize",
        &proof,
        proof.sector_size,
        wrapper.sector_size,
    )?;
    wrapper.decode()
}

impl Wrapper<'_> {
    /// The bytes of the C1 output.
    fn decode(&self) -> Result<Vec<u8>, DecodeError> {
        STANDARD
            .decode(self.phase1_out.as_bytes())
            .map_err(|fault| DecodeError::Base64 {
                field: PHASE1_OUT,
                offset: match fault {
                    base64::DecodeError::InvalidByte(offset, _)
                    | base64::DecodeError::InvalidLastSymbol(offset, _) => offset,
                    base64::DecodeError::InvalidLength(_) | base64::DecodeError::InvalidPadding => {
                        self.phase1_out.len()
                    }
                },
                fault,
            })
    }
}

fn expect_possible_length(payload: &[u8], proof: SealProof) -> Result<(), DecodeError> {
    let limit = max_payload_bytes(proof.sector_size);
    if payload.len() <= limit {
        return Ok(());
    }
    Err(DecodeError::TooLong {
        field: VANILLA_PROOF,
        circuit: proof.circuit_id(),
        limit,
        found: payload.len(),
    })
}

/// Twice what the most wasteful compact JSON of a true vanilla proof takes in base64.
fn max_payload_bytes(sector_size: SectorSize) -> usize {
    with_tree!(sector_size, Tree => {
        let proof = SealProof { variant: SealVariant::V1_1, sector_size };
        let config = proof.upstream().as_v1_config();
        max_json_bytes::<Tree>(&config) * 2 / 3 * 4
    })
}

fn max_json_bytes<Tree: SectorTree>(config: &PoRepConfig) -> usize {
    /// 32 numbers of three digits, with commas and brackets.
    const NODE_BYTES: usize = 32 * 4 + 2;
    /// Keys, indices and brackets of one challenge.
    const FRAME_BYTES: usize = 8 << 10;
    let params = stacked_params::<Tree>(config);
    let nodes = params.graph.size();
    let levels = compound_path_length::<Tree::Arity, Tree::SubTreeArity, Tree::TopTreeArity>(nodes);
    let tree_nodes = 7 * levels + 2;
    let data_nodes = nodes.trailing_zeros() as usize + 2;
    let columns = 1 + DRG_DEGREE + EXP_DEGREE;
    let labels = (params.num_layers + 1) * TOTAL_PARENTS;
    let challenge_nodes =
        data_nodes + tree_nodes + columns * (params.num_layers + tree_nodes) + labels;
    usize::from(config.partitions)
        * params.challenges.num_challenges_per_partition()
        * (challenge_nodes * NODE_BYTES + FRAME_BYTES)
}

fn decode<Tree: Erase>(
    request: &PoRepRequest,
    proof: SealProof,
    commit1: Commit1Wire,
) -> Result<Statement, DecodeError> {
    let params = stacked_params::<Tree>(&proof.upstream().as_v1_config());
    let commit1 = commit1.check(proof, &params)?;
    expect_own_sector(request, proof, &commit1)?;
    if commit1.seed == [0; 32] {
        return Err(DecodeError::Zero {
            path: "seed".to_owned(),
        });
    }
    let inputs = PublicInputs {
        replica_id: commit1.replica_id,
        seed: Some(commit1.seed),
        tau: Some(Tau {
            comm_d: commitment(Place::root("comm_d"), &commit1.comm_d)?,
            comm_r: commitment(Place::root("comm_r"), &commit1.comm_r)?,
        }),
        k: None,
    };
    let place = Place::root("vanilla_proofs");
    for (k, partition) in commit1.partitions.iter().enumerate() {
        let challenges = inputs.challenges(&params.challenges, params.graph.size(), Some(k));
        let place = place.index(k);
        for (i, (vanilla, challenge)) in partition.iter().zip(challenges).enumerate() {
            expect_bound(&commit1, vanilla, challenge as u64, place.index(i))?;
        }
    }
    let body = Body::PoRep(PoRepStatement {
        params,
        inputs,
        partitions: commit1.partitions,
    });
    Ok(Statement::new(proof.circuit_id(), Tree::erase(body)))
}

/// The replica id is a hash of everything that names the sector.
fn expect_own_sector<Tree: SectorTree>(
    request: &PoRepRequest,
    proof: SealProof,
    commit1: &Commit1<Tree>,
) -> Result<(), DecodeError> {
    let expected = generate_replica_id::<TreeRHasher, _>(
        &prover_id(request.miner_id),
        request.sector_number,
        &commit1.ticket,
        commit1.comm_d,
        &proof.upstream().as_v1_config().porep_id,
    );
    if expected == commit1.replica_id {
        return Ok(());
    }
    Err(DecodeError::OtherSector {
        miner_id: request.miner_id,
        sector_number: request.sector_number,
        expected: Bytes32::of(&expected),
        found: Bytes32::of(&commit1.replica_id),
    })
}

/// One challenge's proof belongs to the commitments and answers its challenge.
fn expect_bound<Tree: SectorTree>(
    commit1: &Commit1<Tree>,
    vanilla: &Vanilla<Tree>,
    challenge: u64,
    place: Place<'_>,
) -> Result<(), DecodeError> {
    let data = place.field("comm_d_proofs");
    expect_equal(
        data.field("root"),
        &Bytes32(commit1.comm_d),
        &Bytes32::of(&vanilla.comm_d_proofs.root()),
    )?;
    expect_comm_r(
        Place::root("comm_r"),
        &vanilla.comm_c(),
        &vanilla.comm_r_last(),
        &commit1.comm_r,
    )?;
    for (name, index) in [
        ("comm_d_proofs", vanilla.comm_d_proofs.path_index()),
        ("comm_r_last_proof", vanilla.comm_r_last_proof.path_index()),
    ] {
        let proof = place.field(name);
        expect_number(proof.field("challenge"), challenge, index as u64)?;
    }
    Ok(())
}
