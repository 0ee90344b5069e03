//! The vanilla proof of replication, wrapped as Go programs send it.

use filecoin_proofs_api::seal::{SealCommitPhase1Output, seal_commit_phase1};

use super::{SealedSector, SectorError, SectorStep, upstream};
use crate::request::PoRepRequest;

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
    PoRepRequest::wrapping(&output, spec.seal_proof, spec.miner_id, spec.sector_number)
        .map_err(upstream(SectorStep::Commit1, spec))
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
