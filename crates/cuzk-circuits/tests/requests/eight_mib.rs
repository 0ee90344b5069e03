//! A sector large enough that its update has several partitions.

use cuzk_circuits::sector::{SealedSector, SectorSpec, UpdatedSector, porep_request};
use cuzk_circuits::{ProofRequest, SealProof, SealVariant, SectorSize, decode_snap_deals};
use filecoin_proofs::{SectorShape8MiB, get_sector_update_inputs};

use crate::statements::Satisfied;

#[test]
fn a_replication_and_all_partitions_of_an_update_are_provable() {
    let folder = tempfile::tempdir().expect("a folder");
    let quiet = &mut |_| ();
    let spec = SectorSpec {
        seal_proof: SealProof {
            variant: SealVariant::V1_1,
            sector_size: SectorSize::Mib8,
        },
        miner_id: 1000,
        sector_number: 8,
        seed: 8,
    };
    let sector = SealedSector::seal(&spec, folder.path(), quiet).expect("sealed");

    let request = porep_request(&sector, quiet).expect("C1");
    let statement = ProofRequest::PoRep(request).decode().expect("a request");
    statement.check_vanilla().expect("upstream made it");

    let updated = UpdatedSector::encode(&sector, quiet).expect("an update");
    let mut request = updated.request(quiet).expect("vanilla proofs");
    let statement = decode_snap_deals(&request).expect("a request");
    statement.check_vanilla().expect("upstream made it");
    let expected = get_sector_update_inputs::<SectorShape8MiB>(
        &spec.seal_proof.upstream().as_v1_config(),
        updated.comm_r_old(),
        updated.comm_r_new(),
        updated.comm_d_new(),
    )
    .expect("upstream's inputs");
    assert_eq!(expected.len(), 4);
    for (partition, expected) in expected.iter().enumerate() {
        let inputs = statement.public_inputs(partition).expect("a partition");
        assert_eq!(&inputs, expected, "partition {partition}");
    }
    statement
        .with_circuit(3, Satisfied)
        .expect("a partition")
        .expect("satisfied");

    request.vanilla_proofs.swap(1, 2);
    let error = decode_snap_deals(&request)
        .expect_err("out of order")
        .to_string();
    assert!(
        error.starts_with("vanilla_proofs[1].challenge_proofs[0].proof_r_old.challenge is "),
        "{error}"
    );
}
