//! Proofs of spacetime.

use std::iter;

use filecoin_proofs::{FallbackPoStSectorProof, partition_vanilla_proofs};
use storage_proofs_core::merkle::{MerkleProof, MerkleProofTrait};
use storage_proofs_post::fallback::{PublicInputs, PublicSector};

use super::super::draw::{Draws, Purpose};
use super::super::post::sector_proofs;
use super::*;
use crate::registry::post_params;
use crate::shape::BaseTree;
use crate::{PartitionRule, PoStProof, PoStVariant, prover_id};

const SMALL: [SectorSize; 2] = [SectorSize::Kib2, SectorSize::Mib8];

struct Made {
    proof: PoStProof,
    randomness: [u8; 32],
    sectors: Vec<FallbackPoStSectorProof<BaseTree>>,
}

fn made(variant: PoStVariant, sector_size: SectorSize, num_sectors: usize) -> Made {
    let proof = PoStProof {
        variant,
        sector_size,
    };
    let draws = Draws::new(proof.circuit_id(), 1);
    let randomness = draws.node(Purpose::PoStRandomness, 0, 0);
    let config = proof.upstream().as_v1_config();
    let sectors = sector_proofs(&config, 7, num_sectors, &randomness, &draws);
    Made {
        proof,
        randomness,
        sectors: sectors.expect("upstream's challenges"),
    }
}

/// Upstream cuts the sectors into partitions and verifies each.
fn upstream_accepts(made: &Made) -> bool {
    let config = made.proof.upstream().as_v1_config();
    // In a winning proof each challenge counts as a sector; upstream verifies as many as it is told.
    let repeat = match made.proof.variant {
        PoStVariant::Winning => config.challenge_count,
        PoStVariant::Window | PoStVariant::WindowV1_2 => 1,
    };
    let sectors = made.sectors.iter().flat_map(|sector| {
        let public = PublicSector {
            id: sector.sector_id,
            comm_r: sector.comm_r,
        };
        iter::repeat_n(public, repeat)
    });
    let inputs = PublicInputs {
        randomness: made.randomness.into(),
        prover_id: prover_id(MINER_ID).into(),
        sectors: sectors.collect(),
        k: None,
    };
    let rule = made.proof.circuit_id().info().partitions;
    partition_vanilla_proofs(
        &config,
        &post_params::<BaseTree>(&config),
        &inputs,
        rule.num_partitions(made.sectors.len()),
        &made.sectors,
    )
    .is_ok()
}

#[test]
fn upstream_accepts_window_proofs_about_one_to_five_sectors() {
    for size in SMALL {
        for num_sectors in 1..=5 {
            let made = made(PoStVariant::WindowV1_2, size, num_sectors);
            assert_eq!(made.sectors.len(), num_sectors);
            assert!(upstream_accepts(&made), "{size}, {num_sectors} sectors");
        }
    }
}

#[test]
fn upstream_accepts_the_first_version_whose_challenges_depend_on_the_place() {
    assert!(upstream_accepts(&made(
        PoStVariant::Window,
        SectorSize::Kib2,
        2
    )));
}

#[test]
fn upstream_accepts_winning_proofs_with_66_challenges() {
    for size in SMALL {
        let made = made(PoStVariant::Winning, size, 1);
        let vanilla = &made.sectors[0].vanilla_proof.sectors[0];
        assert_eq!(vanilla.inclusion_proofs.len(), 66);
        assert!(upstream_accepts(&made), "{size}");
    }
}

#[test]
fn all_constraints_hold_and_the_inputs_are_the_verifiers() {
    let kinds = [
        SyntheticKind::WindowPoSt { num_sectors: 1 },
        SyntheticKind::WindowPoSt { num_sectors: 5 },
        SyntheticKind::WinningPoSt,
    ];
    for kind in kinds {
        for size in SMALL {
            let statement = statement(spec(kind, size, SectorData::Zero));
            statement.check_vanilla().expect("upstream accepts it");
            for partition in 0..statement.num_partitions() {
                is_satisfied(&statement, partition);
                has_public_inputs(&statement, partition);
            }
        }
    }
}

#[test]
fn the_largest_number_of_sectors_is_one_partition_at_32_gib() {
    let id = CircuitId::new(Family::WindowPoSt, SectorSize::Gib32);
    assert_eq!(
        id.info().partitions,
        PartitionRule::Sectors {
            per_partition: MAX_SECTORS
        }
    );
}

#[test]
fn a_tampered_leaf_or_commitment_is_refused() {
    let other: [u8; 32] = [1; 32];
    for (variant, num_sectors) in [(PoStVariant::WindowV1_2, 2), (PoStVariant::Winning, 1)] {
        let honest = || made(variant, SectorSize::Kib2, num_sectors);

        let mut leaf = honest();
        let vanilla = &mut leaf.sectors[0].vanilla_proof.sectors[0];
        let path = &mut vanilla.inclusion_proofs[5];
        *path = MerkleProof::from_parts(other.into(), path.root(), path.path());
        assert!(!upstream_accepts(&leaf), "{variant:?}");

        let mut commitment = honest();
        commitment.sectors[0].comm_r = other.into();
        assert!(!upstream_accepts(&commitment), "{variant:?}");

        let mut randomness = honest();
        randomness.randomness = other;
        assert!(!upstream_accepts(&randomness), "{variant:?}");

        assert!(upstream_accepts(&honest()), "{variant:?}");
    }
}
