//! Proofs that sectors are still stored, without sectors.
//!
//! Challenges depend on the randomness and the sector's number only, so they are known before the
//! replica is. Its tree is made with the challenged leaves and nothing else.

use filecoin_hashers::{HashFunction, Hasher};
use filecoin_proofs::{FallbackPoStSectorProof, PoStConfig, generate_fallback_sector_challenges};
use rayon::prelude::*;
use storage_proofs_core::error::Result as UpstreamResult;
use storage_proofs_core::sector::SectorId;
use storage_proofs_post::fallback::{Proof, SectorProof};
use storage_proofs_update::constants::{TreeRDomain, TreeRHasher};

use super::draw::{Draws, Purpose};
use super::merkle::MerkleNodes;
use super::sparse_tree::{Elsewhere, SparseTree};
use crate::shape::{SectorTree, replica_arities};

/// Makes the vanilla proof of each sector, in order of their numbers, which begin at
/// `first_number`.
///
/// # Errors
/// What upstream's derivation of challenges says, which cannot happen for valid randomness.
pub(super) fn sector_proofs<Tree: SectorTree>(
    config: &PoStConfig,
    first_number: u64,
    num_sectors: usize,
    randomness: &[u8; 32],
    draws: &Draws,
) -> UpstreamResult<Vec<FallbackPoStSectorProof<Tree>>> {
    let numbers: Vec<_> = (first_number..)
        .take(num_sectors)
        .map(SectorId::from)
        .collect();
    // The prover id does not enter the challenges.
    let challenges =
        generate_fallback_sector_challenges::<Tree>(config, randomness, &numbers, [0; 32])?;
    let num_leaves = (u64::from(config.sector_size) / 32) as usize;
    Ok(challenges
        .into_iter()
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(number, challenges)| {
            let draws = draws.of_sector(number.into());
            sector_proof(number, &challenges, num_leaves, &draws)
        })
        .collect())
}

fn sector_proof<Tree: SectorTree>(
    sector_id: SectorId,
    challenges: &[u64],
    num_leaves: usize,
    draws: &Draws,
) -> FallbackPoStSectorProof<Tree> {
    let elsewhere = Elsewhere {
        draws: draws.clone(),
        purpose: Purpose::ReplicaTree,
    };
    let leaves = challenges
        .iter()
        .map(|&challenge| (challenge as usize, elsewhere.node(0, challenge as usize)))
        .collect();
    let arities = replica_arities::<Tree>(num_leaves);
    let tree = SparseTree::<TreeRHasher>::new(arities, leaves, elsewhere);
    let comm_c: TreeRDomain = draws.node(Purpose::CommC, 0, 0);
    let comm_r_last = tree.root();
    let inclusion_proofs = challenges
        .iter()
        .map(|&challenge| tree.open(challenge as usize))
        .collect();
    FallbackPoStSectorProof {
        sector_id,
        comm_r: <TreeRHasher as Hasher>::Function::hash2(&comm_c, &comm_r_last),
        vanilla_proof: Proof {
            sectors: vec![SectorProof {
                inclusion_proofs,
                comm_c,
                comm_r_last,
            }],
        },
    }
}
