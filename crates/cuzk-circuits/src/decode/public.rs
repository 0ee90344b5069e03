//! What a verifier knows about a statement.
//!
//! Whoever checks a proof has no vanilla proof, only what stands on the chain: commitments,
//! randomness, the miner. The public inputs of every partition follow from that, by upstream's
//! own derivation, so a proof made elsewhere is checked without anything of its maker's.

use std::fmt;

use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_hashers::sha256::Sha256Domain;
use filecoin_proofs::{get_seal_inputs, get_sector_update_inputs};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::sector::SectorId;
use storage_proofs_post::fallback::{
    FallbackPoSt, FallbackPoStCircuit, FallbackPoStCompound, PublicInputs, PublicSector,
};
use thiserror::Error;

use super::checks::{commitment, field_element};
use super::place::Place;
use super::text::from_json;
use super::{Bytes32, DecodeError};
use crate::id::{CircuitId, Family};
use crate::prover_id::prover_id;
use crate::registered::{PoStProof, SealProof, SealVariant, UpdateProof};
use crate::registry::post_params;
use crate::shape::{SectorTree, with_tree};

/// Public data of a statement of any family.
///
/// As JSON it is the object of its kind, with hashes in hexadecimal; the family is known from
/// elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PublicData {
    /// A replication.
    PoRep(PublicSeal),
    /// A sector update.
    SnapDeals(PublicUpdate),
    /// Sectors of a deadline.
    WindowPoSt(PublicPoSt),
    /// One sector, for a block.
    WinningPoSt(PublicPoSt),
}

/// What the chain knows of a sealed sector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of public data")]
pub struct PublicSeal {
    /// Name of the registered seal proof.
    pub registered_proof: String,
    /// The miner, `f0<miner_id>`.
    pub miner_id: u64,
    /// The sector.
    pub sector_number: u64,
    /// Randomness of the replica id.
    pub ticket: Bytes32,
    /// Interactive randomness.
    pub seed: Bytes32,
    /// Commitment to the replica.
    pub comm_r: Bytes32,
    /// Commitment to the data.
    pub comm_d: Bytes32,
}

/// What the chain knows of a sector update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of public data")]
pub struct PublicUpdate {
    /// Name of the registered update proof.
    pub registered_proof: String,
    /// Commitment to the replica before the update.
    pub comm_r_old: Bytes32,
    /// Commitment to the updated replica.
    pub comm_r_new: Bytes32,
    /// Commitment to the new data.
    pub comm_d_new: Bytes32,
}

/// What the chain knows of sectors that are still stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of public data")]
pub struct PublicPoSt {
    /// Name of the registered `PoSt` proof.
    pub registered_proof: String,
    /// The miner, `f0<miner_id>`.
    pub miner_id: u64,
    /// Randomness of the chain; the two top bits of the last byte are ignored.
    pub randomness: Bytes32,
    /// All sectors of the call, by ascending number; exactly one for winning.
    pub sectors: Vec<StoredSector>,
}

/// A sector of a proof of spacetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with number and comm_r")]
pub struct StoredSector {
    /// Its number.
    pub number: u64,
    /// Commitment to its replica.
    pub comm_r: Bytes32,
}

const PUBLIC_DATA: &str = "public data";
const SECTORS: &str = "sectors";

impl PublicData {
    /// Parses the JSON object of `family`'s kind.
    ///
    /// # Errors
    /// With the JSON path and the byte.
    pub fn from_json(family: Family, bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(match family {
            Family::PoRep => Self::PoRep(from_json(PUBLIC_DATA, bytes)?),
            Family::SnapDeals => Self::SnapDeals(from_json(PUBLIC_DATA, bytes)?),
            Family::WindowPoSt => Self::WindowPoSt(from_json(PUBLIC_DATA, bytes)?),
            Family::WinningPoSt => Self::WinningPoSt(from_json(PUBLIC_DATA, bytes)?),
        })
    }

    /// What is proved.
    pub fn family(&self) -> Family {
        match self {
            Self::PoRep(_) => Family::PoRep,
            Self::SnapDeals(_) => Family::SnapDeals,
            Self::WindowPoSt(_) => Family::WindowPoSt,
            Self::WinningPoSt(_) => Family::WinningPoSt,
        }
    }

    /// The circuit that proves it.
    ///
    /// # Errors
    /// When the registered proof is unknown or of another family.
    pub fn circuit_id(&self) -> Result<CircuitId, DecodeError> {
        Ok(match self {
            Self::PoRep(seal) => seal.registered_proof.parse::<SealProof>()?.circuit_id(),
            Self::SnapDeals(update) => update.registered_proof.parse::<UpdateProof>()?.circuit_id(),
            Self::WindowPoSt(post) | Self::WinningPoSt(post) => {
                post.proof(self.family())?.circuit_id()
            }
        })
    }

    /// Public inputs of every partition, without the constant ONE.
    ///
    /// # Errors
    /// When the registered proof is not of this family, a commitment is no field element other
    /// than zero, or sectors are missing, too many, or not in order.
    pub fn public_inputs(&self) -> Result<Vec<Vec<Fr>>, PublicDataError> {
        match self {
            Self::PoRep(seal) => seal.public_inputs(),
            Self::SnapDeals(update) => update.public_inputs(),
            Self::WindowPoSt(post) | Self::WinningPoSt(post) => {
                post.public_inputs(post.proof(self.family())?)
            }
        }
    }
}

/// Why public data gives no public inputs.
#[derive(Debug, Error)]
pub enum PublicDataError {
    /// A field is wrong.
    #[error(transparent)]
    Field(#[from] DecodeError),
    /// Upstream refused fields that passed our checks.
    #[error("public inputs of {circuit}: {source}")]
    Upstream {
        /// For which circuit.
        circuit: CircuitId,
        /// What upstream says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

fn upstream<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    circuit: CircuitId,
) -> impl FnOnce(E) -> PublicDataError {
    move |source| PublicDataError::Upstream {
        circuit,
        source: source.into(),
    }
}

impl PublicSeal {
    fn public_inputs(&self) -> Result<Vec<Vec<Fr>>, PublicDataError> {
        let proof: SealProof = self.registered_proof.parse().map_err(DecodeError::from)?;
        if proof.variant == SealVariant::NonInteractivePoRep {
            return Err(DecodeError::NonInteractive { proof }.into());
        }
        commitment::<PoseidonDomain>(Place::root("comm_r"), &self.comm_r.0)?;
        commitment::<Sha256Domain>(Place::root("comm_d"), &self.comm_d.0)?;
        with_tree!(proof.sector_size, Tree => get_seal_inputs::<Tree>(
            &proof.upstream().as_v1_config(),
            self.comm_r.0,
            self.comm_d.0,
            prover_id(self.miner_id),
            SectorId::from(self.sector_number),
            self.ticket.0,
            self.seed.0,
        ))
        .map_err(upstream(proof.circuit_id()))
    }
}

impl PublicUpdate {
    fn public_inputs(&self) -> Result<Vec<Vec<Fr>>, PublicDataError> {
        let proof: UpdateProof = self.registered_proof.parse().map_err(DecodeError::from)?;
        commitment::<PoseidonDomain>(Place::root("comm_r_old"), &self.comm_r_old.0)?;
        commitment::<PoseidonDomain>(Place::root("comm_r_new"), &self.comm_r_new.0)?;
        commitment::<Sha256Domain>(Place::root("comm_d_new"), &self.comm_d_new.0)?;
        with_tree!(proof.sector_size, Tree => get_sector_update_inputs::<Tree>(
            &proof.upstream().as_v1_config(),
            self.comm_r_old.0,
            self.comm_r_new.0,
            self.comm_d_new.0,
        ))
        .map_err(upstream(proof.circuit_id()))
    }
}

impl PublicPoSt {
    fn proof(&self, family: Family) -> Result<PoStProof, DecodeError> {
        let proof: PoStProof = self.registered_proof.parse()?;
        if proof.variant.family() == family {
            return Ok(proof);
        }
        Err(DecodeError::Family {
            proof: proof.to_string(),
            family,
        })
    }

    fn public_inputs(&self, proof: PoStProof) -> Result<Vec<Vec<Fr>>, PublicDataError> {
        with_tree!(proof.sector_size, Tree => self.inputs_over::<Tree>(proof))
    }

    fn inputs_over<Tree: SectorTree>(
        &self,
        proof: PoStProof,
    ) -> Result<Vec<Vec<Fr>>, PublicDataError> {
        let params = post_params::<Tree>(&proof.upstream().as_v1_config());
        let mut sectors = self.checked_sectors()?;
        if proof.variant.family() == Family::WinningPoSt {
            if sectors.len() != 1 {
                return Err(DecodeError::Count {
                    path: SECTORS.to_owned(),
                    expected: 1,
                    found: sectors.len(),
                }
                .into());
            }
            // Upstream's winning circuit takes the one sector once per challenge.
            sectors.resize(params.sector_count, sectors[0].clone());
        }
        let mut randomness = self.randomness.0;
        randomness[31] &= 0x3f;
        let num_partitions = sectors.len().div_ceil(params.sector_count);
        let inputs = PublicInputs {
            randomness: field_element(Place::root("randomness"), &randomness)?,
            prover_id: field_element(Place::root("miner_id"), &prover_id(self.miner_id))?,
            sectors,
            k: None,
        };
        (0..num_partitions)
            .map(|partition| {
                <FallbackPoStCompound<Tree> as CompoundProof<
                    FallbackPoSt<'_, Tree>,
                    FallbackPoStCircuit<Tree>,
                >>::generate_public_inputs(&inputs, &params, Some(partition))
            })
            .collect::<Result<_, _>>()
            .map_err(upstream(proof.circuit_id()))
    }

    fn checked_sectors(&self) -> Result<Vec<PublicSector<PoseidonDomain>>, DecodeError> {
        if self.sectors.is_empty() {
            return Err(DecodeError::Empty { path: SECTORS });
        }
        let mut previous = None;
        self.sectors
            .iter()
            .enumerate()
            .map(|(index, sector)| {
                let found = sector.number;
                if let Some(previous) = previous.replace(found).filter(|last| *last >= found) {
                    return Err(DecodeError::SectorOrder {
                        path: SECTORS,
                        index,
                        previous,
                        found,
                    });
                }
                let place = Place::root(SECTORS);
                let place = place.index(index);
                Ok(PublicSector {
                    id: SectorId::from(sector.number),
                    comm_r: commitment(place.field("comm_r"), &sector.comm_r.0)?,
                })
            })
            .collect()
    }
}

impl Serialize for Bytes32 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bytes32 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(HexVisitor)
    }
}

/// Reads 64 hexadecimal digits of either case.
struct HexVisitor;

impl de::Visitor<'_> for HexVisitor {
    type Value = Bytes32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("64 hexadecimal digits")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes32, E> {
        let refused = || E::invalid_value(de::Unexpected::Str(text), &self);
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != 32 || !rest.is_empty() {
            return Err(E::invalid_length(text.len(), &self));
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let mut bytes = [0; 32];
        for (byte, &[high, low]) in bytes.iter_mut().zip(pairs) {
            let (high, low) = digit(high).zip(digit(low)).ok_or_else(refused)?;
            *byte = (high << 4 | low) as u8;
        }
        Ok(Bytes32(bytes))
    }
}
