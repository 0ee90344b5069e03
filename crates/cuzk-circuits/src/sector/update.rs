//! New data in an old sector.

use std::fs::{self, File};
use std::path::PathBuf;

use bytes::Bytes;
use filecoin_proofs_api::update::{empty_sector_update_encode_into, generate_partition_proofs};

use super::{DataSource, SealedSector, SectorError, SectorStep, Staging, io_error, upstream};
use crate::registered::UpdateProof;
use crate::request::SnapDealsRequest;

/// A sealed sector into which new data was encoded, in a subfolder of the sector's folder.
#[derive(Clone, Debug)]
pub struct UpdatedSector {
    sealed: SealedSector,
    comm_r_new: [u8; 32],
    comm_d_new: [u8; 32],
}

impl UpdatedSector {
    /// Encodes new data, drawn from the sector's seed, into its replica.
    ///
    /// # Errors
    /// When a file cannot be written or upstream fails.
    pub fn encode(
        sealed: &SealedSector,
        progress: &mut dyn FnMut(SectorStep),
    ) -> Result<Self, SectorError> {
        progress(SectorStep::EncodeUpdate);
        let spec = sealed.spec();
        let staging = Staging {
            spec,
            folder: &sealed.folder,
        };
        let piece = staging.write_data(DataSource::Update)?;
        let cache = new_cache(sealed);
        fs::create_dir_all(&cache).map_err(io_error(&cache))?;
        let replica = new_replica(sealed);
        // Upstream wants the new replica to have its final length.
        File::create(&replica)
            .and_then(|file| file.set_len(spec.seal_proof.sector_size.bytes()))
            .map_err(io_error(&replica))?;
        let encoded = empty_sector_update_encode_into(
            update_proof(sealed).upstream(),
            &replica,
            &cache,
            sealed.replica_path(),
            sealed.cache_path(),
            staging.data_path(DataSource::Update),
            &[piece],
        )
        .map_err(upstream(SectorStep::EncodeUpdate, spec))?;
        Ok(Self {
            sealed: sealed.clone(),
            comm_r_new: encoded.comm_r_new,
            comm_d_new: encoded.comm_d_new,
        })
    }

    /// Commitment to the replica before the update.
    pub fn comm_r_old(&self) -> [u8; 32] {
        self.sealed.comm_r()
    }

    /// Commitment to the updated replica.
    pub fn comm_r_new(&self) -> [u8; 32] {
        self.comm_r_new
    }

    /// Commitment to the new data.
    pub fn comm_d_new(&self) -> [u8; 32] {
        self.comm_d_new
    }

    /// Makes the vanilla proofs of all partitions.
    ///
    /// # Errors
    /// When upstream fails.
    pub fn request(
        &self,
        progress: &mut dyn FnMut(SectorStep),
    ) -> Result<SnapDealsRequest, SectorError> {
        progress(SectorStep::UpdateProofs);
        let proof = update_proof(&self.sealed);
        let partitions = generate_partition_proofs(
            proof.upstream(),
            self.comm_r_old(),
            self.comm_r_new,
            self.comm_d_new,
            self.sealed.replica_path(),
            self.sealed.cache_path(),
            new_replica(&self.sealed),
            new_cache(&self.sealed),
        )
        .map_err(upstream(SectorStep::UpdateProofs, self.sealed.spec()))?;
        Ok(SnapDealsRequest {
            registered_proof: proof.number(),
            sector_size: proof.sector_size.bytes(),
            comm_r_old: Bytes::copy_from_slice(&self.comm_r_old()),
            comm_r_new: Bytes::copy_from_slice(&self.comm_r_new),
            comm_d_new: Bytes::copy_from_slice(&self.comm_d_new),
            vanilla_proofs: partitions
                .into_iter()
                .map(|proof| Bytes::from(proof.0))
                .collect(),
        })
    }
}

fn update_proof(sealed: &SealedSector) -> UpdateProof {
    UpdateProof {
        sector_size: sealed.spec().seal_proof.sector_size,
    }
}

fn new_replica(sealed: &SealedSector) -> PathBuf {
    sealed.folder.join("replica-new")
}

fn new_cache(sealed: &SealedSector) -> PathBuf {
    sealed.folder.join("cache-new")
}
