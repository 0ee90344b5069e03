//! Synthetic sectors in the form that a client sends.

use std::error::Error as StdError;

use bytes::Bytes;
use filecoin_proofs_api::seal::{SealCommitPhase1Output, VanillaSealProof};
use serde::Serialize;

use super::draw::Purpose;
use super::porep::{Replica, phase1_output};
use super::post::sector_proofs;
use super::snap::update;
use super::{MAX_SECTORS, MINER_ID, SyntheticError, SyntheticSpec};
use crate::request::{PoRepRequest, PoStRequest, SnapDealsRequest};
use crate::shape::{BaseTree, SectorTree, SubTree, TopTree, with_tree};
use crate::{PoStProof, PoStVariant, SealProof, SealVariant, SectorSize, UpdateProof, prover_id};

/// Failures of upstream, which is `anyhow` throughout.
type Encoded<Request> = Result<Request, Box<dyn StdError + Send + Sync>>;

impl SyntheticSpec {
    pub(super) fn porep(
        &self,
        variant: SealVariant,
    ) -> Result<Encoded<PoRepRequest>, SyntheticError> {
        let proof = SealProof {
            variant,
            sector_size: self.sector_size,
        };
        match variant {
            SealVariant::V1 | SealVariant::V1_1 => Ok(self.interactive_porep(proof)),
            SealVariant::SyntheticPoRep | SealVariant::NonInteractivePoRep => {
                Err(SyntheticError::ChallengesNeedReplica { proof })
            }
        }
    }

    fn interactive_porep(&self, proof: SealProof) -> Encoded<PoRepRequest> {
        let output = self.seal_commit_phase1_output(proof)?;
        let sector_number = self.sector_number();
        Ok(PoRepRequest::wrapping(
            &output,
            proof,
            MINER_ID,
            sector_number,
        )?)
    }

    /// C1 output in the published type.
    pub(super) fn seal_commit_phase1_output(
        &self,
        proof: SealProof,
    ) -> Encoded<SealCommitPhase1Output> {
        use VanillaSealProof as Proofs;
        match self.sector_size {
            SectorSize::Kib2 => self.phase1::<BaseTree>(proof, Proofs::StackedDrg2KiBV1),
            SectorSize::Mib8 => self.phase1::<BaseTree>(proof, Proofs::StackedDrg8MiBV1),
            SectorSize::Mib512 => self.phase1::<BaseTree>(proof, Proofs::StackedDrg512MiBV1),
            SectorSize::Gib32 => self.phase1::<SubTree>(proof, Proofs::StackedDrg32GiBV1),
            SectorSize::Gib64 => self.phase1::<TopTree>(proof, Proofs::StackedDrg64GiBV1),
        }
    }

    fn phase1<Tree: SectorTree>(
        &self,
        proof: SealProof,
        name_shape: fn(Vec<Vec<filecoin_proofs::VanillaSealProof<Tree>>>) -> VanillaSealProof,
    ) -> Encoded<SealCommitPhase1Output> {
        let registered_proof = proof.upstream();
        let replica = Replica {
            prover_id: prover_id(MINER_ID),
            sector_number: self.sector_number(),
            data: self.data,
        };
        let output =
            phase1_output::<Tree>(&registered_proof.as_v1_config(), &replica, &self.draws())?;
        Ok(SealCommitPhase1Output {
            registered_proof,
            vanilla_proofs: name_shape(output.vanilla_proofs),
            comm_r: output.comm_r,
            comm_d: output.comm_d,
            replica_id: output.replica_id,
            seed: output.seed,
            ticket: output.ticket,
        })
    }

    pub(super) fn snap(&self) -> Encoded<SnapDealsRequest> {
        let proof = UpdateProof {
            sector_size: self.sector_size,
        };
        with_tree!(self.sector_size, Tree => {
            let update = update::<Tree>(self.sector_size, self.data, &self.draws());
            Ok(SnapDealsRequest {
                registered_proof: proof.number(),
                sector_size: self.sector_size.bytes(),
                comm_r_old: Bytes::copy_from_slice(update.inputs.comm_r_old.as_ref()),
                comm_r_new: Bytes::copy_from_slice(update.inputs.comm_r_new.as_ref()),
                comm_d_new: Bytes::copy_from_slice(update.inputs.comm_d_new.as_ref()),
                vanilla_proofs: encode_all(update.partitions)?,
            })
        })
    }

    pub(super) fn window_post(
        &self,
        num_sectors: usize,
    ) -> Result<Encoded<PoStRequest>, SyntheticError> {
        if (1..=MAX_SECTORS).contains(&num_sectors) {
            Ok(self.post(PoStVariant::WindowV1_2, num_sectors))
        } else {
            Err(SyntheticError::NumSectors {
                found: num_sectors,
                max: MAX_SECTORS,
            })
        }
    }

    pub(super) fn winning_post(&self) -> Encoded<PoStRequest> {
        self.post(PoStVariant::Winning, 1)
    }

    fn post(&self, variant: PoStVariant, num_sectors: usize) -> Encoded<PoStRequest> {
        let proof = PoStProof {
            variant,
            sector_size: self.sector_size,
        };
        let randomness = self.randomness();
        let vanilla_proofs = with_tree!(self.sector_size, Tree => encode_all(sector_proofs::<Tree>(
            &proof.upstream().as_v1_config(),
            self.sector_number(),
            num_sectors,
            &randomness,
            &self.draws(),
        )?)?);
        Ok(PoStRequest {
            registered_proof: proof.number(),
            sector_size: self.sector_size.bytes(),
            miner_id: MINER_ID,
            randomness: Bytes::copy_from_slice(&randomness),
            partition_index: 0,
            vanilla_proofs,
        })
    }

    /// Randomness of a proof of spacetime; a field element.
    pub(super) fn randomness(&self) -> [u8; 32] {
        self.draws().node(Purpose::PoStRandomness, 0, 0)
    }
}

/// Encodes each value by itself and drops it.
fn encode_all<T: Serialize>(values: Vec<T>) -> Encoded<Vec<Bytes>> {
    values
        .into_iter()
        .map(|value| Ok(Bytes::from(bincode::serialize(&value)?)))
        .collect()
}
