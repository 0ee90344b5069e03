//! Sectors to prove something about, without sealing them.
//!
//! A 32 GiB sector takes hours and a terabyte of memory traffic to seal, yet a proof looks at few
//! of its nodes. This module makes exactly these, with true labels and encodings, and lets drawn
//! values stand for everything that no path enters. Upstream's verification accepts the vanilla
//! proofs, and the circuits have the sizes, densities and values of real ones. Any size takes
//! seconds and well under 1 GiB, and everything comes from one seed.
//!
//! The proofs are worthless on a chain: nobody stores the sectors.

mod data;
mod draw;
mod labels;
mod merkle;
mod patterned_tree;
mod porep;
mod post;
mod request;
mod snap;
mod sparse_tree;

use std::error::Error as StdError;

use thiserror::Error;

pub use data::SectorData;

use crate::request::ProofRequest;
use crate::{CircuitId, Family, SealProof, SealVariant, SectorSize};
use draw::{Draws, Purpose};

/// The miner of all synthetic sectors.
pub const MINER_ID: u64 = 1000;

/// Most sectors that a synthetic `WindowPoSt` covers: one full partition at 32 GiB.
pub const MAX_SECTORS: usize = 2349;

/// What is to be proved about a synthetic sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntheticKind {
    /// Replication, in the first or the corrected version.
    PoRep(SealVariant),
    /// Sector update.
    SnapDeals,
    /// Storage of several sectors, by the current registered proof (`V1_2`). More than fit one
    /// partition become several.
    WindowPoSt {
        /// How many, 1 to [`MAX_SECTORS`].
        num_sectors: usize,
    },
    /// Storage of one sector, for a block.
    WinningPoSt,
}

impl SyntheticKind {
    /// The current proof of a family; `num_sectors` is for `WindowPoSt`, the others have one.
    pub fn current(family: Family, num_sectors: usize) -> Self {
        match family {
            Family::PoRep => Self::PoRep(SealVariant::V1_1),
            Family::SnapDeals => Self::SnapDeals,
            Family::WindowPoSt => Self::WindowPoSt { num_sectors },
            Family::WinningPoSt => Self::WinningPoSt,
        }
    }
}

/// Which synthetic sector to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntheticSpec {
    /// What is to be proved.
    pub kind: SyntheticKind,
    /// Size of the padded sector.
    pub sector_size: SectorSize,
    /// Source of everything that is free. Equal specs give equal bytes.
    pub seed: u64,
    /// What is stored; for an update, the new data. Proofs of spacetime do not see it.
    pub data: SectorData,
}

/// Why a synthetic sector cannot be made.
#[derive(Debug, Error)]
pub enum SyntheticError {
    /// The challenges of this proof come from the sealed replica.
    #[error(
        "{proof} cannot be made without sealing: its challenges are derived from comm_r, comm_r \
         commits to the labels of the challenged nodes, and only a replica that is sealed as a \
         whole has both; use V1_1, whose circuit and key are the same"
    )]
    ChallengesNeedReplica {
        /// What was asked for.
        proof: SealProof,
    },
    /// No sector, or more than one partition of the largest network has.
    #[error("{found} sectors asked for, a synthetic WindowPoSt covers 1 to {max}")]
    NumSectors {
        /// What was asked for.
        found: usize,
        /// The largest number.
        max: usize,
    },
    /// Upstream refused what was made.
    #[error("synthetic sector for {circuit}: {source}")]
    Upstream {
        /// For which circuit.
        circuit: CircuitId,
        /// What upstream says.
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl SyntheticSpec {
    /// The circuit that proves it.
    pub fn circuit_id(&self) -> CircuitId {
        let family = match self.kind {
            SyntheticKind::PoRep(_) => Family::PoRep,
            SyntheticKind::SnapDeals => Family::SnapDeals,
            SyntheticKind::WindowPoSt { .. } => Family::WindowPoSt,
            SyntheticKind::WinningPoSt => Family::WinningPoSt,
        };
        CircuitId::new(family, self.sector_size)
    }

    /// Makes the sector and the request that a client would send about it, for all partitions.
    ///
    /// Runs on the current rayon pool. At 32 GiB, `PoRep` yields 52 MB of payload, 2,349 sectors
    /// of `WindowPoSt` 58 MB, the others less.
    ///
    /// # Errors
    /// When the proof's challenges need a sealed replica, or the number of sectors is out of
    /// range.
    pub fn request(&self) -> Result<ProofRequest, SyntheticError> {
        let result = match self.kind {
            SyntheticKind::PoRep(variant) => self.porep(variant)?.map(ProofRequest::PoRep),
            SyntheticKind::SnapDeals => self.snap().map(ProofRequest::SnapDeals),
            SyntheticKind::WindowPoSt { num_sectors } => {
                self.window_post(num_sectors)?.map(ProofRequest::WindowPoSt)
            }
            SyntheticKind::WinningPoSt => self.winning_post().map(ProofRequest::WinningPoSt),
        };
        result.map_err(|source| SyntheticError::Upstream {
            circuit: self.circuit_id(),
            source,
        })
    }

    fn draws(&self) -> Draws {
        Draws::new(self.circuit_id(), self.seed)
    }

    /// Number of the sector, or of the first one.
    fn sector_number(&self) -> u64 {
        1 + self.draws().number(Purpose::SectorNumber, 1_000_000)
    }
}

#[cfg(test)]
mod tests;
