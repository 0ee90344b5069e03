//! What a client sends.
//!
//! The wire has one message for four kinds of proof, most of whose fields mean something for one
//! kind only. Here each kind is a struct of the fields that it uses. Payloads are shared bytes:
//! cloning a request copies none of them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use filecoin_proofs_api::seal::SealCommitPhase1Output;
use serde::Serialize;

use crate::SealProof;
use crate::id::Family;

/// A proof to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofRequest {
    /// Replication, phase C2.
    PoRep(PoRepRequest),
    /// Sector update.
    SnapDeals(SnapDealsRequest),
    /// Sectors of a deadline.
    WindowPoSt(PoStRequest),
    /// One sector, for a block.
    WinningPoSt(PoStRequest),
}

impl ProofRequest {
    /// What is to be proved.
    pub fn family(&self) -> Family {
        match self {
            Self::PoRep(_) => Family::PoRep,
            Self::SnapDeals(_) => Family::SnapDeals,
            Self::WindowPoSt(_) => Family::WindowPoSt,
            Self::WinningPoSt(_) => Family::WinningPoSt,
        }
    }
}

/// A replication whose vanilla proof (C1 output) is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoRepRequest {
    /// Number of the registered seal proof, 0 to 19.
    pub registered_proof: u64,
    /// Size of the padded sector in bytes.
    pub sector_size: u64,
    /// The miner, `f0<miner_id>`.
    pub miner_id: u64,
    /// The sector.
    pub sector_number: u64,
    /// JSON with exactly the keys `SectorNum`, `Phase1Out` (base64 of the C1 output's JSON) and
    /// `SectorSize`.
    pub vanilla_proof: Bytes,
}

impl PoRepRequest {
    /// C1 output as a client sends it, wrapped in JSON whose keys are Go's field names.
    pub(crate) fn wrapping(
        output: &SealCommitPhase1Output,
        seal_proof: SealProof,
        miner_id: u64,
        sector_number: u64,
    ) -> serde_json::Result<Self> {
        #[derive(Serialize)]
        struct Wrapper<'a> {
            #[serde(rename = "SectorNum")]
            sector_number: u64,
            #[serde(rename = "Phase1Out")]
            phase1_out: &'a str,
            #[serde(rename = "SectorSize")]
            sector_size: u64,
        }
        let sector_size = seal_proof.sector_size.bytes();
        let phase1_out = STANDARD.encode(serde_json::to_vec(output)?);
        let wrapper = Wrapper {
            sector_number,
            phase1_out: &phase1_out,
            sector_size,
        };
        Ok(Self {
            registered_proof: seal_proof.number(),
            sector_size,
            miner_id,
            sector_number,
            vanilla_proof: serde_json::to_vec(&wrapper)?.into(),
        })
    }
}

/// An update of a sealed sector with new data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapDealsRequest {
    /// Number of the registered update proof, 0 to 4.
    pub registered_proof: u64,
    /// Size of the padded sector in bytes; 0 leaves it to the registered proof.
    pub sector_size: u64,
    /// Commitment to the replica before the update, 32 bytes.
    pub comm_r_old: Bytes,
    /// Commitment to the updated replica, 32 bytes.
    pub comm_r_new: Bytes,
    /// Commitment to the new data, 32 bytes.
    pub comm_d_new: Bytes,
    /// One bincode `PartitionProof` per partition, in order.
    pub vanilla_proofs: Vec<Bytes>,
}

/// A proof of spacetime, window or winning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoStRequest {
    /// Number of the registered `PoSt` proof, 0 to 14.
    pub registered_proof: u64,
    /// Size of the padded sectors in bytes.
    pub sector_size: u64,
    /// The miner, `f0<miner_id>`.
    pub miner_id: u64,
    /// Randomness of the chain, 32 bytes. The two top bits of the last byte are ignored.
    pub randomness: Bytes,
    /// Which partition of the client's call these sectors are; 0 for winning, and for a request
    /// that holds several partitions.
    pub partition_index: u32,
    /// One bincode `FallbackPoStSectorProof` per sector, by ascending sector number.
    pub vanilla_proofs: Vec<Bytes>,
}
