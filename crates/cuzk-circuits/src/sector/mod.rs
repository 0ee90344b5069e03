//! Real sectors to prove something about.
//!
//! Tests, the demonstration and benches need vanilla proofs that upstream itself made. This
//! module seals a sector with upstream's own phases in a folder, updates it, and yields the very
//! requests that a client would send. All content comes from one seed, so a sector can be made
//! again.
//!
//! 2 KiB takes milliseconds and 8 MiB seconds; larger sizes work and take upstream's time and
//! space. Sealing reads upstream's settings (`FIL_PROOFS_PARENT_CACHE` above all), which are
//! fixed when they are first used.

mod commit;
mod post;
mod update;

use std::error::Error as StdError;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use filecoin_proofs_api::seal::{
    self, SealPreCommitPhase1Output, SealPreCommitPhase2Output, add_piece,
};
use filecoin_proofs_api::{
    PaddedBytesAmount, PieceInfo, RegisteredSealProof, SectorId, UnpaddedBytesAmount,
};
use sha2::{Digest, Sha256};
use thiserror::Error;

pub use commit::porep_request;
pub use post::{window_post_request, winning_post_request};
pub use update::UpdatedSector;

use crate::prover_id::prover_id;
use crate::registered::SealProof;

/// Which sector to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorSpec {
    /// How it is sealed, and its size.
    pub seal_proof: SealProof,
    /// Whose it is.
    pub miner_id: u64,
    /// Its number.
    pub sector_number: u64,
    /// Source of its data, ticket and interactive seed.
    pub seed: u64,
}

/// A step that takes time; reported when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectorStep {
    /// Random data is written.
    WriteData,
    /// PC1: labels.
    PreCommit1,
    /// PC2: trees over the columns and the replica.
    PreCommit2,
    /// All challenges that can be drawn are answered (synthetic `PoRep` only).
    SyntheticProofs,
    /// C1: the vanilla proof of replication.
    Commit1,
    /// New data is encoded into the replica.
    EncodeUpdate,
    /// The vanilla proofs of the update.
    UpdateProofs,
    /// The vanilla proofs of spacetime.
    PoStProofs,
}

impl fmt::Display for SectorStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WriteData => "write data",
            Self::PreCommit1 => "precommit 1",
            Self::PreCommit2 => "precommit 2",
            Self::SyntheticProofs => "synthetic proofs",
            Self::Commit1 => "commit 1",
            Self::EncodeUpdate => "encode update",
            Self::UpdateProofs => "update proofs",
            Self::PoStProofs => "vanilla proofs",
        })
    }
}

/// Why a sector could not be made.
#[derive(Debug, Error)]
pub enum SectorError {
    /// A file or folder could not be used.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Upstream failed.
    #[error("{step} of sector {sector_number}: {source}")]
    Upstream {
        /// In which step.
        step: SectorStep,
        /// Of which sector.
        sector_number: u64,
        /// What upstream says.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// A proof of spacetime needs sectors.
    #[error("a proof of spacetime about no sector")]
    NoSectors,
    /// Sectors of one proof belong to one miner and have one size.
    #[error("sector {sector_number} differs from the first one in miner or size")]
    MixedSectors {
        /// The first that differs.
        sector_number: u64,
    },
}

/// A sealed sector in its folder.
#[derive(Clone, Debug)]
pub struct SealedSector {
    spec: SectorSpec,
    folder: PathBuf,
    prover_id: [u8; 32],
    ticket: [u8; 32],
    seed: [u8; 32],
    pieces: Vec<PieceInfo>,
    comm_d: [u8; 32],
    comm_r: [u8; 32],
}

impl SealedSector {
    /// Seals the sector of `spec` in `folder`, which is created and should be empty.
    ///
    /// # Errors
    /// When a file cannot be written or upstream fails.
    pub fn seal(
        spec: &SectorSpec,
        folder: &Path,
        progress: &mut dyn FnMut(SectorStep),
    ) -> Result<Self, SectorError> {
        let staging = Staging::create(spec, folder)?;
        progress(SectorStep::WriteData);
        let pieces = vec![staging.write_data(DataSource::Sealed)?];
        progress(SectorStep::PreCommit1);
        let phase1 = staging.pre_commit1(&pieces)?;
        progress(SectorStep::PreCommit2);
        let phase2 = staging.pre_commit2(phase1)?;
        let sector = Self {
            spec: *spec,
            folder: folder.to_path_buf(),
            prover_id: prover_id(spec.miner_id),
            ticket: staging.ticket(),
            seed: derive(spec, "interactive seed", 0),
            pieces,
            comm_d: phase2.comm_d,
            comm_r: phase2.comm_r,
        };
        if sector.spec.seal_proof.variant == crate::SealVariant::SyntheticPoRep {
            progress(SectorStep::SyntheticProofs);
            sector.generate_synthetic_proofs()?;
        }
        Ok(sector)
    }

    /// What was sealed.
    pub fn spec(&self) -> &SectorSpec {
        &self.spec
    }

    /// The miner, as statements name it.
    pub fn prover_id(&self) -> [u8; 32] {
        self.prover_id
    }

    /// Randomness of the replica id.
    pub fn ticket(&self) -> [u8; 32] {
        self.ticket
    }

    /// Interactive randomness, from which the challenges are drawn.
    pub fn seed(&self) -> [u8; 32] {
        self.seed
    }

    /// Commitment to the data.
    pub fn comm_d(&self) -> [u8; 32] {
        self.comm_d
    }

    /// Commitment to the replica.
    pub fn comm_r(&self) -> [u8; 32] {
        self.comm_r
    }

    fn sector_id(&self) -> SectorId {
        SectorId::from(self.spec.sector_number)
    }

    fn replica_path(&self) -> PathBuf {
        self.folder.join("replica")
    }

    fn cache_path(&self) -> PathBuf {
        self.folder.join("cache")
    }

    fn pre_commit_output(&self) -> SealPreCommitPhase2Output {
        SealPreCommitPhase2Output {
            registered_proof: self.spec.seal_proof.upstream(),
            comm_r: self.comm_r,
            comm_d: self.comm_d,
        }
    }

    fn generate_synthetic_proofs(&self) -> Result<(), SectorError> {
        seal::generate_synth_proofs(
            self.cache_path(),
            self.replica_path(),
            self.prover_id,
            self.sector_id(),
            self.ticket,
            self.pre_commit_output(),
            &self.pieces,
        )
        .map_err(upstream(SectorStep::SyntheticProofs, &self.spec))
    }
}

/// Which of a sector's two contents.
#[derive(Clone, Copy)]
enum DataSource {
    Sealed,
    Update,
}

/// A folder with a sector that is being made.
struct Staging<'a> {
    spec: &'a SectorSpec,
    folder: &'a Path,
}

impl<'a> Staging<'a> {
    fn create(spec: &'a SectorSpec, folder: &'a Path) -> Result<Self, SectorError> {
        let cache = folder.join("cache");
        fs::create_dir_all(&cache).map_err(io_error(&cache))?;
        let replica = folder.join("replica");
        File::create(&replica).map_err(io_error(&replica))?;
        Ok(Self { spec, folder })
    }

    fn ticket(&self) -> [u8; 32] {
        derive(self.spec, "ticket", 0)
    }

    fn data_path(&self, source: DataSource) -> PathBuf {
        self.folder.join(match source {
            DataSource::Sealed => "data",
            DataSource::Update => "data-new",
        })
    }

    /// Writes one piece that fills the sector.
    fn write_data(&self, source: DataSource) -> Result<PieceInfo, SectorError> {
        let path = self.data_path(source);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(io_error(&path))?;
        let unpadded =
            UnpaddedBytesAmount::from(PaddedBytesAmount(self.spec.seal_proof.sector_size.bytes()));
        let data = SeededBytes::new(self.spec, source, u64::from(unpadded));
        let (piece, _) = add_piece(self.registered_proof(), data, &mut file, unpadded, &[])
            .map_err(upstream(SectorStep::WriteData, self.spec))?;
        Ok(piece)
    }

    fn pre_commit1(&self, pieces: &[PieceInfo]) -> Result<SealPreCommitPhase1Output, SectorError> {
        seal::seal_pre_commit_phase1(
            self.registered_proof(),
            self.folder.join("cache"),
            self.data_path(DataSource::Sealed),
            self.folder.join("replica"),
            prover_id(self.spec.miner_id),
            SectorId::from(self.spec.sector_number),
            self.ticket(),
            pieces,
        )
        .map_err(upstream(SectorStep::PreCommit1, self.spec))
    }

    fn pre_commit2(
        &self,
        phase1: SealPreCommitPhase1Output,
    ) -> Result<SealPreCommitPhase2Output, SectorError> {
        seal::seal_pre_commit_phase2(
            phase1,
            self.folder.join("cache"),
            self.folder.join("replica"),
        )
        .map_err(upstream(SectorStep::PreCommit2, self.spec))
    }

    fn registered_proof(&self) -> RegisteredSealProof {
        self.spec.seal_proof.upstream()
    }
}

/// `counter`-th block of the stream that `spec` derives for `purpose`.
fn derive(spec: &SectorSpec, purpose: &str, counter: u64) -> [u8; 32] {
    Sha256::new()
        .chain_update(purpose)
        .chain_update(spec.seed.to_le_bytes())
        .chain_update(spec.miner_id.to_le_bytes())
        .chain_update(spec.sector_number.to_le_bytes())
        .chain_update(counter.to_le_bytes())
        .finalize()
        .into()
}

/// A limited stream of derived blocks.
struct SeededBytes {
    spec: SectorSpec,
    purpose: &'static str,
    position: u64,
    len: u64,
    block: [u8; 32],
}

impl SeededBytes {
    fn new(spec: &SectorSpec, source: DataSource, len: u64) -> Self {
        let purpose = match source {
            DataSource::Sealed => "data",
            DataSource::Update => "new data",
        };
        Self {
            spec: *spec,
            purpose,
            position: 0,
            len,
            block: [0; 32],
        }
    }
}

impl io::Read for SeededBytes {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < target.len() && self.position < self.len {
            let within = (self.position % 32) as usize;
            if within == 0 {
                self.block = derive(&self.spec, self.purpose, self.position / 32);
            }
            let count = (32 - within)
                .min(target.len() - written)
                .min((self.len - self.position) as usize);
            target[written..written + count].copy_from_slice(&self.block[within..within + count]);
            written += count;
            self.position += count as u64;
        }
        Ok(written)
    }
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> SectorError {
    let path = path.to_path_buf();
    move |source| SectorError::Io { path, source }
}

fn upstream<E: Into<Box<dyn StdError + Send + Sync>>>(
    step: SectorStep,
    spec: &SectorSpec,
) -> impl FnOnce(E) -> SectorError {
    let sector_number = spec.sector_number;
    move |source| SectorError::Upstream {
        step,
        sector_number,
        source: source.into(),
    }
}

#[cfg(test)]
mod tests;
