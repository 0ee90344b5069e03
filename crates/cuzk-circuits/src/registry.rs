//! What is known about a circuit before it is built.
//!
//! Key files are named after a hash of upstream's public parameters, and published with a digest.
//! Both are computed from upstream's own types and its shipped manifest, never written down here;
//! only measured sizes are a table, because counting them takes minutes.

use filecoin_proofs::parameters::{
    public_params, window_post_public_params, winning_post_public_params,
};
use filecoin_proofs::{PoRepConfig, PoStConfig};
use storage_proofs_core::parameter_cache::{
    CacheableParameters, PARAMETERS, VERSION, parameter_id, verifying_key_id,
};
use storage_proofs_porep::stacked;
use storage_proofs_post::fallback;
use storage_proofs_update::{EmptySectorUpdateCircuit, EmptySectorUpdateCompound};

use crate::id::{CircuitId, Family, SectorSize};
use crate::registered::{PoStProof, PoStVariant, SealProof, SealVariant};
use crate::shape::{SectorTree, with_tree};

/// The crates that decide the rows of circuits, with their versions; another list may mean other rows.
pub const CIRCUIT_SOURCES: &str = "bellpepper 0.2.1, bellpepper-core 0.2.1, filecoin-hashers 14.1.0, neptune 11.0.0, \
     storage-proofs-core 19.1.0, storage-proofs-porep 19.1.0, storage-proofs-post 19.1.0, storage-proofs-update 19.1.0";

/// How many circuits one proof takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionRule {
    /// Always the same number.
    Fixed(usize),
    /// As many as the sectors need; the last one is padded by repeating its last sector.
    Sectors {
        /// Sectors that one circuit covers.
        per_partition: usize,
    },
}

impl PartitionRule {
    /// Number of partitions of a proof about `num_sectors` sectors.
    pub fn num_partitions(self, num_sectors: usize) -> usize {
        match self {
            Self::Fixed(num_partitions) => num_partitions,
            Self::Sectors { per_partition } => num_sectors.div_ceil(per_partition),
        }
    }
}

/// Facts about one circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitInfo {
    /// Which circuit.
    pub id: CircuitId,
    /// How many partitions a proof has.
    pub partitions: PartitionRule,
    /// Public inputs of one partition, with the constant ONE.
    pub num_inputs: usize,
    /// Challenges of one partition.
    pub num_challenges: usize,
    /// Constraints without the row per input that the prover adds; `None` where nobody counted.
    pub num_constraints: Option<usize>,
    /// Auxiliary variables; `None` where nobody counted.
    pub num_aux: Option<usize>,
    /// Name of the key's files without `.params` and `.vk`.
    pub key_file_stem: String,
    /// First 16 bytes of the BLAKE2b-512 digest of the published `.params` file, in hex.
    pub published_params_digest: Option<&'static str>,
    /// First 16 bytes of the BLAKE2b-512 digest of the published `.vk` file, in hex.
    pub published_vk_digest: Option<&'static str>,
}

impl CircuitId {
    /// What is known about this circuit. Opens no file.
    pub fn info(self) -> CircuitInfo {
        with_tree!(self.sector_size, Tree => info::<Tree>(self))
    }
}

fn info<Tree: SectorTree>(id: CircuitId) -> CircuitInfo {
    let dimensions = dimensions::<Tree>(id);
    let cache_id = cache_identifier::<Tree>(id);
    let (num_constraints, num_aux) = measured_size(id).unzip();
    CircuitInfo {
        id,
        partitions: dimensions.partitions,
        num_inputs: 1 + dimensions.num_public_inputs,
        num_challenges: dimensions.num_challenges,
        num_constraints,
        num_aux,
        key_file_stem: format!("v{VERSION}-{cache_id}"),
        published_params_digest: published_digest(&parameter_id(&cache_id)),
        published_vk_digest: published_digest(&verifying_key_id(&cache_id)),
    }
}

/// Digest of a key file in the manifest that upstream ships.
fn published_digest(file_name: &str) -> Option<&'static str> {
    PARAMETERS
        .get(file_name)
        .map(|published| published.digest.as_str())
}

struct Dimensions {
    partitions: PartitionRule,
    num_public_inputs: usize,
    num_challenges: usize,
}

fn dimensions<Tree: SectorTree>(id: CircuitId) -> Dimensions {
    match id.family {
        Family::PoRep => {
            let config = porep_config(id.sector_size);
            let num_challenges = stacked_params::<Tree>(&config)
                .challenges
                .num_challenges_per_partition();
            // Per challenge: the data path, one path per parent, the challenge itself, the
            // replica path and the column path.
            let per_challenge = 1 + filecoin_proofs::DRG_DEGREE + filecoin_proofs::EXP_DEGREE + 3;
            Dimensions {
                partitions: PartitionRule::Fixed(usize::from(config.partitions)),
                // replica_id, comm_d, comm_r.
                num_public_inputs: 3 + num_challenges * per_challenge,
                num_challenges,
            }
        }
        Family::SnapDeals => {
            let params = update_params(id.sector_size);
            Dimensions {
                partitions: PartitionRule::Fixed(params.partition_count),
                // The partition with the challenge rule, comm_r_old, comm_d_new, comm_r_new.
                num_public_inputs: 4,
                num_challenges: params.challenge_count,
            }
        }
        Family::WindowPoSt | Family::WinningPoSt => {
            let params = post_params::<Tree>(&post_config(id));
            let partitions = match id.family {
                Family::WinningPoSt => PartitionRule::Fixed(1),
                _ => PartitionRule::Sectors {
                    per_partition: params.sector_count,
                },
            };
            Dimensions {
                partitions,
                // Per sector: comm_r, and one path per challenge.
                num_public_inputs: params.sector_count * (1 + params.challenge_count),
                num_challenges: params.sector_count * params.challenge_count,
            }
        }
    }
}

fn cache_identifier<Tree: SectorTree>(id: CircuitId) -> String {
    match id.family {
        Family::PoRep => porep_config(id.sector_size).get_cache_identifier::<Tree>(),
        Family::WindowPoSt | Family::WinningPoSt => post_config(id).get_cache_identifier::<Tree>(),
        Family::SnapDeals => Ok(<EmptySectorUpdateCompound<Tree> as CacheableParameters<
            EmptySectorUpdateCircuit<Tree>,
            _,
        >>::cache_identifier(&update_params(id.sector_size))),
    }
    .expect("published sector sizes have valid parameters")
}

/// Constraints and auxiliary variables, counted by synthesizing the circuit.
fn measured_size(id: CircuitId) -> Option<(usize, usize)> {
    use Family::{PoRep, SnapDeals, WindowPoSt, WinningPoSt};
    use SectorSize::{Gib32, Gib64, Kib2, Mib8, Mib512};
    Some(match (id.family, id.sector_size) {
        (PoRep, Kib2) => (2_687_921, 2_685_673),
        (PoRep, Mib8) => (3_844_929, 3_842_449),
        (PoRep, Mib512) => (4_423_433, 4_420_837),
        (PoRep, Gib32) => (130_278_541, 130_169_893),
        (PoRep, Gib64) => (131_185_849, 131_076_643),
        (WinningPoSt, Kib2) => (90_750, 91_674),
        (WinningPoSt, Mib8) => (230_670, 233_442),
        (WinningPoSt, Gib32) => (370_590, 375_210),
        (WindowPoSt, Kib2) => (21_866, 22_128),
        (WindowPoSt, Mib8) => (64_266, 65_088),
        (WindowPoSt, Gib32) => (125_279_217, 126_902_376),
        (SnapDeals, Kib2) => (1_705_039, 1_703_569),
        (SnapDeals, Mib8) => (10_007_503, 9_998_039),
        (SnapDeals, Gib32) => (81_049_499, 80_978_488),
        _ => return None,
    })
}

/// The circuit is the same for every variant, so any one of them describes it.
fn porep_config(sector_size: SectorSize) -> PoRepConfig {
    SealProof {
        variant: SealVariant::V1_1,
        sector_size,
    }
    .upstream()
    .as_v1_config()
}

/// The circuit is the same for every variant of a family, so any one of them describes it.
fn post_config(id: CircuitId) -> PoStConfig {
    let variant = match id.family {
        Family::WinningPoSt => PoStVariant::Winning,
        _ => PoStVariant::WindowV1_2,
    };
    PoStProof {
        variant,
        sector_size: id.sector_size,
    }
    .upstream()
    .as_v1_config()
}

/// Public parameters of the replication that `config` describes. The graph is derived on demand;
/// no parent cache is made.
pub(crate) fn stacked_params<Tree: SectorTree>(
    config: &PoRepConfig,
) -> stacked::PublicParams<Tree> {
    public_params(config).expect("published sector sizes have valid parameters")
}

/// Public parameters of the proof of spacetime that `config` describes.
pub(crate) fn post_params<Tree: SectorTree>(config: &PoStConfig) -> fallback::PublicParams {
    match config.typ {
        filecoin_proofs::PoStType::Winning => winning_post_public_params::<Tree>(config),
        filecoin_proofs::PoStType::Window => window_post_public_params::<Tree>(config),
    }
    .expect("published sector sizes have valid parameters")
}

/// Public parameters of a sector update.
pub(crate) fn update_params(sector_size: SectorSize) -> storage_proofs_update::PublicParams {
    storage_proofs_update::PublicParams::from_sector_size(sector_size.bytes())
}

/// Public parameters of the blank replication circuit of a size.
pub(crate) fn blank_stacked_params<Tree: SectorTree>(
    sector_size: SectorSize,
) -> stacked::PublicParams<Tree> {
    stacked_params(&porep_config(sector_size))
}

/// Public parameters of the blank proof of spacetime of a circuit.
pub(crate) fn blank_post_params<Tree: SectorTree>(id: CircuitId) -> fallback::PublicParams {
    post_params::<Tree>(&post_config(id))
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
