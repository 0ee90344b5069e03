//! Vanilla proofs of spacetime over sealed sectors.

use std::collections::BTreeMap;

use bytes::Bytes;
use filecoin_proofs_api::PrivateReplicaInfo;
use filecoin_proofs_api::post::{
    generate_fallback_sector_challenges, generate_single_vanilla_proof,
};

use super::{SealedSector, SectorError, SectorStep, upstream};
use crate::registered::{PoStProof, PoStVariant};
use crate::request::PoStRequest;

/// A proof that `sector` is stored.
///
/// # Errors
/// When upstream fails.
pub fn winning_post_request(
    sector: &SealedSector,
    randomness: [u8; 32],
    progress: &mut dyn FnMut(SectorStep),
) -> Result<PoStRequest, SectorError> {
    request(&[sector], PoStVariant::Winning, randomness, progress)
}

/// A proof that all `sectors`, of one miner and one size, are stored. Their order does not
/// matter; more than fit one partition become several.
///
/// # Errors
/// When there are no sectors, they do not go together, or upstream fails.
pub fn window_post_request(
    sectors: &[&SealedSector],
    variant: PoStVariant,
    randomness: [u8; 32],
    progress: &mut dyn FnMut(SectorStep),
) -> Result<PoStRequest, SectorError> {
    request(sectors, variant, randomness, progress)
}

fn request(
    sectors: &[&SealedSector],
    variant: PoStVariant,
    randomness: [u8; 32],
    progress: &mut dyn FnMut(SectorStep),
) -> Result<PoStRequest, SectorError> {
    progress(SectorStep::PoStProofs);
    let by_number = by_number(sectors)?;
    let first = *by_number.values().next().ok_or(SectorError::NoSectors)?;
    let sector_size = first.spec().seal_proof.sector_size;
    let proof = PoStProof {
        variant,
        sector_size,
    };
    let mut masked = randomness;
    masked[31] &= 0x3f;
    let ids: Vec<_> = by_number.values().map(|s| s.sector_id()).collect();
    let challenges =
        generate_fallback_sector_challenges(proof.upstream(), &masked, &ids, first.prover_id())
            .map_err(upstream(SectorStep::PoStProofs, first.spec()))?;
    let vanilla_proofs = by_number
        .values()
        .map(|sector| vanilla_proof(sector, proof, &challenges[&sector.sector_id()]))
        .collect::<Result<_, _>>()?;
    Ok(PoStRequest {
        registered_proof: proof.number(),
        sector_size: sector_size.bytes(),
        miner_id: first.spec().miner_id,
        randomness: Bytes::copy_from_slice(&randomness),
        partition_index: 0,
        vanilla_proofs,
    })
}

fn by_number<'a>(
    sectors: &[&'a SealedSector],
) -> Result<BTreeMap<u64, &'a SealedSector>, SectorError> {
    let common = |s: &SealedSector| (s.spec().miner_id, s.spec().seal_proof.sector_size);
    sectors
        .iter()
        .map(|sector| {
            let sector_number = sector.spec().sector_number;
            if common(sector) == common(sectors[0]) {
                Ok((sector_number, *sector))
            } else {
                Err(SectorError::MixedSectors { sector_number })
            }
        })
        .collect()
}

fn vanilla_proof(
    sector: &SealedSector,
    proof: PoStProof,
    challenges: &[u64],
) -> Result<Bytes, SectorError> {
    let replica = PrivateReplicaInfo::new(
        proof.upstream(),
        sector.comm_r(),
        sector.cache_path(),
        sector.replica_path(),
    );
    generate_single_vanilla_proof(proof.upstream(), sector.sector_id(), &replica, challenges)
        .map(Bytes::from)
        .map_err(upstream(SectorStep::PoStProofs, sector.spec()))
}
