//! Requests for proofs of spacetime.
//!
//! Each vanilla proof opens one sector's replica tree at the leaves that the randomness picks.
//! Which leaves depends on the sector's place in the call for the first version of `WindowPoSt`.

use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_proofs::PoStConfig;
use rayon::prelude::*;
use serde::Deserialize;
use storage_proofs_core::merkle::MerkleProofTrait;
use storage_proofs_core::sector::SectorId;
use storage_proofs_post::fallback::{
    PublicParams, SectorProof, generate_leaf_challenge, get_challenge_index,
};
use storage_proofs_update::constants::TreeRDomain;

use super::binary::from_bincode;
use super::bounded::{Node, list};
use super::checks::{
    bytes32, expect_comm_r, expect_equal, expect_number, expect_sector_size, field_element,
};
use super::merkle::{MerkleWire, expect_count};
use super::place::Place;
use super::{Bytes32, DecodeError};
use crate::id::{Family, SectorSize};
use crate::prover_id::prover_id;
use crate::registered::PoStProof;
use crate::registry::post_params;
use crate::request::PoStRequest;
use crate::shape::{SectorTree, with_tree};
use crate::statement::{Body, Erase, OpenedSector, PoStStatement, Statement};

/// Openings of the winning sector, and one more for a precise message.
const MAX_OPENINGS: usize = 67;
/// A vanilla proof is about one sector; one more for a precise message.
const MAX_SECTORS: usize = 2;

const VANILLA_PROOFS: &str = "vanilla_proofs";

/// `FallbackPoStSectorProof` of filecoin-proofs.
#[derive(Debug, Deserialize)]
struct SectorWire {
    sector_id: u64,
    comm_r: Node<PoseidonDomain>,
    vanilla_proof: VanillaWire,
}

#[derive(Debug, Deserialize)]
struct VanillaWire {
    #[serde(deserialize_with = "list::<_, _, MAX_SECTORS>")]
    sectors: Vec<OpeningsWire>,
}

#[derive(Debug, Deserialize)]
struct OpeningsWire {
    #[serde(deserialize_with = "list::<_, _, MAX_OPENINGS>")]
    inclusion_proofs: Vec<MerkleWire<PoseidonDomain>>,
    comm_c: Node<PoseidonDomain>,
    comm_r_last: Node<PoseidonDomain>,
}

/// Decodes and checks a request for a `WindowPoSt`.
///
/// At most as many sectors as fit one partition are that partition of the client's call, number
/// `partition_index`. More sectors are all partitions of a call of their own.
///
/// # Errors
/// With the sector, the path or the byte, what was expected and what was found.
pub fn decode_window_post(request: &PoStRequest) -> Result<Statement, DecodeError> {
    decode_post(Family::WindowPoSt, request)
}

/// Decodes and checks a request for a `WinningPoSt`.
///
/// # Errors
/// With the path or the byte, what was expected and what was found.
pub fn decode_winning_post(request: &PoStRequest) -> Result<Statement, DecodeError> {
    if request.vanilla_proofs.len() != 1 {
        return Err(DecodeError::Count {
            path: VANILLA_PROOFS.to_owned(),
            expected: 1,
            found: request.vanilla_proofs.len(),
        });
    }
    decode_post(Family::WinningPoSt, request)
}

fn decode_post(family: Family, request: &PoStRequest) -> Result<Statement, DecodeError> {
    let proof = PoStProof::from_number(request.registered_proof)?;
    if proof.variant.family() != family {
        return Err(DecodeError::Family {
            proof: proof.to_string(),
            family,
        });
    }
    expect_sector_size(
        "sector_size",
        &proof,
        proof.sector_size,
        request.sector_size,
    )?;
    with_tree!(proof.sector_size, Tree => decode::<Tree>(request, proof))
}

/// What all sectors of a request share.
struct Call {
    config: PoStConfig,
    params: PublicParams,
    randomness: TreeRDomain,
    prover_id: TreeRDomain,
    /// Place of the request's first sector among the sectors of the client's call.
    first_sector: usize,
    sector_size: SectorSize,
}

fn decode<Tree: Erase>(request: &PoStRequest, proof: PoStProof) -> Result<Statement, DecodeError> {
    let call = Call::new::<Tree>(request, proof)?;
    let place = Place::root(VANILLA_PROOFS);
    // Collected before errors are looked at, so that the first faulty sector is named.
    let decoded: Vec<_> = request
        .vanilla_proofs
        .par_iter()
        .enumerate()
        .map(|(index, bytes)| call.open::<Tree>(index, bytes, place.index(index)))
        .collect();
    let mut sectors = Vec::with_capacity(decoded.len());
    let mut previous = None;
    for (index, opened) in decoded.into_iter().enumerate() {
        let opened = opened?;
        let found = u64::from(opened.0);
        if let Some(previous) = previous.replace(found).filter(|last| *last >= found) {
            return Err(DecodeError::SectorOrder {
                path: VANILLA_PROOFS,
                index,
                previous,
                found,
            });
        }
        sectors.extend(opened.1);
    }
    let body = Body::PoSt(PoStStatement {
        params: call.params,
        randomness: call.randomness,
        prover_id: call.prover_id,
        first_sector: call.first_sector,
        sectors,
    });
    Ok(Statement::new(proof.circuit_id(), Tree::erase(body)))
}

impl Call {
    fn new<Tree: SectorTree>(request: &PoStRequest, proof: PoStProof) -> Result<Self, DecodeError> {
        let config = proof.upstream().as_v1_config();
        let params = post_params::<Tree>(&config);
        let num_sectors = request.vanilla_proofs.len();
        if num_sectors == 0 {
            return Err(DecodeError::Empty {
                path: VANILLA_PROOFS,
            });
        }
        let family = proof.variant.family();
        let one_partition = family == Family::WindowPoSt && num_sectors <= params.sector_count;
        if request.partition_index != 0 && !one_partition {
            return Err(DecodeError::PartitionIndex {
                family,
                num_sectors,
                found: request.partition_index,
            });
        }
        let mut randomness = bytes32("randomness", &request.randomness)?;
        randomness[31] &= 0x3f;
        Ok(Self {
            randomness: field_element(Place::root("randomness"), &randomness)?,
            prover_id: field_element(Place::root("miner_id"), &prover_id(request.miner_id))?,
            first_sector: request.partition_index as usize * params.sector_count,
            sector_size: proof.sector_size,
            config,
            params,
        })
    }

    /// The vanilla proof of the request's sector number `index`.
    fn open<Tree: SectorTree>(
        &self,
        index: usize,
        bytes: &[u8],
        place: Place<'_>,
    ) -> Result<(SectorId, Vec<OpenedSector<Tree>>), DecodeError> {
        let mut wire: SectorWire = from_bincode(place, bytes)?;
        let id = SectorId::from(wire.sector_id);
        let sectors = place.field("vanilla_proof");
        let sectors = sectors.field("sectors");
        expect_count(wire.vanilla_proof.sectors.len(), 1, sectors)?;
        let openings = wire.vanilla_proof.sectors.remove(0);
        expect_comm_r(
            place.field("comm_r"),
            &openings.comm_c.0,
            &openings.comm_r_last.0,
            &Bytes32::of(&wire.comm_r.0).0,
        )?;
        let proof = openings.check::<Tree>(&self.config, self.sector_size, sectors.index(0))?;
        let opened = self.split(index, id, wire.comm_r.0, proof);
        let openings = sectors.index(0);
        let openings = openings.field("inclusion_proofs");
        let challenged = opened
            .iter()
            .flat_map(|sector| sector.challenges.iter().zip(&sector.proof.inclusion_proofs));
        for (n, (challenge, proof)) in challenged.enumerate() {
            let place = openings.index(n);
            expect_number(
                place.field("challenge"),
                *challenge,
                proof.path_index() as u64,
            )?;
        }
        Ok((id, opened))
    }

    /// Cuts the openings of one sector into what the circuit calls sectors: one for window, one
    /// per opening for winning. Derives the challenges that each has to answer.
    fn split<Tree: SectorTree>(
        &self,
        index: usize,
        id: SectorId,
        comm_r: TreeRDomain,
        proof: SectorProof<Tree::Proof>,
    ) -> Vec<OpenedSector<Tree>> {
        let SectorProof {
            inclusion_proofs,
            comm_c,
            comm_r_last,
        } = proof;
        let per_circuit_sector = self.params.challenge_count;
        let mut rest = inclusion_proofs.into_iter().peekable();
        let mut opened = Vec::new();
        while rest.peek().is_some() {
            let sector_index = self.first_sector + index + opened.len();
            let challenges = (0..per_circuit_sector)
                .map(|n| self.challenge(sector_index, id, n))
                .collect();
            opened.push(OpenedSector {
                id,
                comm_r,
                challenges,
                proof: SectorProof {
                    inclusion_proofs: rest.by_ref().take(per_circuit_sector).collect(),
                    comm_c,
                    comm_r_last,
                },
            });
        }
        opened
    }

    fn challenge(&self, sector_index: usize, id: SectorId, n: usize) -> u64 {
        let challenge_index = get_challenge_index(
            self.params.api_version,
            sector_index,
            self.params.challenge_count,
            n,
        );
        generate_leaf_challenge(&self.params, self.randomness, id.into(), challenge_index)
    }
}

impl OpeningsWire {
    fn check<Tree: SectorTree>(
        self,
        config: &PoStConfig,
        sector_size: SectorSize,
        place: Place<'_>,
    ) -> Result<SectorProof<Tree::Proof>, DecodeError> {
        let list = place.field("inclusion_proofs");
        expect_count(self.inclusion_proofs.len(), config.challenge_count, list)?;
        let root = Bytes32::of(&self.comm_r_last.0);
        let inclusion_proofs = self
            .inclusion_proofs
            .into_iter()
            .enumerate()
            .map(|(index, wire)| {
                let place = list.index(index);
                let proof = wire.into_proof(sector_size.num_nodes(), place)?;
                expect_equal(place.field("root"), &root, &Bytes32::of(&proof.root()))?;
                Ok(proof)
            })
            .collect::<Result<_, DecodeError>>()?;
        Ok(SectorProof {
            inclusion_proofs,
            comm_c: self.comm_c.0,
            comm_r_last: self.comm_r_last.0,
        })
    }
}
