//! The vanilla proof of replication, wrapped as Go programs send it.

use std::error::Error as StdError;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use filecoin_proofs_api::seal::{SealCommitPhase1Output, seal_commit_phase1};
use serde::Serialize;

use super::{SealedSector, SectorError, SectorStep, upstream};
use crate::request::PoRepRequest;

/// The keys are Go's field names.
#[derive(Serialize)]
struct Wrapper {
    #[serde(rename = "SectorNum")]
    sector_num: u64,
    #[serde(rename = "Phase1Out")]
    phase1_out: String,
    #[serde(rename = "SectorSize")]
    sector_size: u64,
}

/// Runs C1 and wraps its output.
///
/// # Errors
/// When upstream fails.
pub fn porep_request(
    sector: &SealedSector,
    progress: &mut dyn FnMut(SectorStep),
) -> Result<PoRepRequest, SectorError> {
    progress(SectorStep::Commit1);
    let output = commit1(sector)?;
    let spec = sector.spec();
    let vanilla_proof = wrap(sector, &output).map_err(upstream(SectorStep::Commit1, spec))?;
    Ok(PoRepRequest {
        registered_proof: spec.seal_proof.number(),
        sector_size: spec.seal_proof.sector_size.bytes(),
        miner_id: spec.miner_id,
        sector_number: spec.sector_number,
        vanilla_proof: vanilla_proof.into(),
    })
}

fn commit1(sector: &SealedSector) -> Result<SealCommitPhase1Output, SectorError> {
    seal_commit_phase1(
        sector.cache_path(),
        sector.replica_path(),
        sector.prover_id(),
        sector.sector_id(),
        sector.ticket(),
        sector.seed(),
        sector.pre_commit_output(),
        &sector.pieces,
    )
    .map_err(upstream(SectorStep::Commit1, sector.spec()))
}

fn wrap(
    sector: &SealedSector,
    output: &SealCommitPhase1Output,
) -> Result<Vec<u8>, Box<dyn StdError + Send + Sync>> {
    let wrapper = Wrapper {
        sector_num: sector.spec().sector_number,
        phase1_out: STANDARD.encode(serde_json::to_vec(output)?),
        sector_size: sector.spec().seal_proof.sector_size.bytes(),
    };
    Ok(serde_json::to_vec(&wrapper)?)
}
