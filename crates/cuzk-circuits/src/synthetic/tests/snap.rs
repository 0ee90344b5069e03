//! Sector updates.

use filecoin_proofs_api::PartitionProofBytes;
use filecoin_proofs_api::update::verify_partition_proofs;
use storage_proofs_core::merkle::{MerkleProof, MerkleProofTrait};
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_update::EmptySectorUpdate;

use super::super::draw::{Draws, Purpose};
use super::super::snap::{Update, update};
use super::*;
use crate::UpdateProof;
use crate::registry::update_params;
use crate::shape::BaseTree;

#[test]
fn upstream_accepts_the_request_at_every_size_with_one_base_tree() {
    for sector_size in [SectorSize::Kib2, SectorSize::Mib8, SectorSize::Mib512] {
        for data in BOTH {
            let spec = spec(SyntheticKind::SnapDeals, sector_size, data);
            let request = spec.snap().expect("a synthetic update");
            let proofs: Vec<_> = request
                .vanilla_proofs
                .iter()
                .map(|proof| PartitionProofBytes(proof.to_vec()))
                .collect();
            let bytes = |commitment: &[u8]| commitment.try_into().expect("32 bytes");
            let accepted = verify_partition_proofs(
                UpdateProof { sector_size }.upstream(),
                &proofs,
                bytes(&request.comm_r_old),
                bytes(&request.comm_r_new),
                bytes(&request.comm_d_new),
            );
            assert!(
                accepted.expect("a well-formed proof"),
                "{sector_size} {data:?}"
            );
        }
    }
}

#[test]
fn all_constraints_hold_and_the_inputs_are_the_verifiers() {
    for data in BOTH {
        let statement = statement(spec(SyntheticKind::SnapDeals, SectorSize::Kib2, data));
        statement.check_vanilla().expect("upstream accepts it");
        is_satisfied(&statement, 0);
        has_public_inputs(&statement, 0);
    }
}

#[test]
fn every_partition_at_8_mib_has_the_inputs_of_the_verifier() {
    let kind = SyntheticKind::SnapDeals;
    let statement = statement(spec(kind, SectorSize::Mib8, SectorData::Random));
    statement.check_vanilla().expect("upstream accepts it");
    assert_eq!(statement.num_partitions(), 4);
    has_public_inputs(&statement, 3);
}

#[test]
fn the_new_replica_differs_from_the_old_one_unless_the_data_is_zero() {
    for (data, differs) in [(SectorData::Zero, false), (SectorData::Random, true)] {
        let request = spec(SyntheticKind::SnapDeals, SectorSize::Kib2, data)
            .snap()
            .expect("a synthetic update");
        assert_eq!(request.comm_r_old != request.comm_r_new, differs);
    }
}

fn upstream_accepts(update: &Update<BaseTree>) -> bool {
    EmptySectorUpdate::verify_all_partitions(
        &update_params(SectorSize::Kib2),
        &update.inputs,
        &update.partitions,
    )
    .expect("a well-formed proof")
}

#[test]
fn a_tampered_leaf_is_refused() {
    let id = CircuitId::new(Family::SnapDeals, SectorSize::Kib2);
    let draws = Draws::new(id, 1);
    let honest = || update::<BaseTree>(SectorSize::Kib2, SectorData::Random, &draws);
    let other: [u8; 32] = draws.node(Purpose::Label, 0, 0);

    let mut new_replica = honest();
    let path = &mut new_replica.partitions[0].challenge_proofs[3].proof_r_new;
    *path = MerkleProof::from_parts(other.into(), path.root(), path.path());
    assert!(!upstream_accepts(&new_replica));

    let mut apex = honest();
    apex.partitions[0].apex_leafs.fill(other.into());
    assert!(!upstream_accepts(&apex));

    let mut commitment = honest();
    commitment.inputs.comm_d_new = other.into();
    assert!(!upstream_accepts(&commitment));

    assert!(upstream_accepts(&honest()));
}
