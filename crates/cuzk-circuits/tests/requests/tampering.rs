//! Vanilla proofs that are well formed and wrong: decoding lets them pass, since only hashing
//! every path would tell. They must synthesize without a panic and be found by both checks.

use cuzk_circuits::{CircuitError, ProofRequest, Statement};
use cuzk_r1cs::SatisfactionError;
use filecoin_hashers::Domain as _;
use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_hashers::sha256::Sha256Domain;
use filecoin_proofs::{FallbackPoStSectorProof, PartitionProof, SectorShape2KiB};
use serde_json::{Value, json};
use storage_proofs_core::merkle::{MerkleProof, MerkleProofTrait as _};

use crate::fixture::{bytes, challenge, fixture, with_c1};
use crate::statements::Satisfied;
use crate::witnesses::expect_upstreams_witness;

/// Returns the fault that the vanilla check names and the path of the unsatisfied row.
fn expect_unsatisfied(what: &str, request: &ProofRequest) -> (String, String) {
    let statement = decode(what, request);
    expect_upstreams_witness(what, &statement);
    let fault = statement.check_vanilla().expect_err(what);
    assert!(
        matches!(fault, CircuitError::VanillaProof { partition: 0, .. }),
        "{what}: {fault}"
    );
    match statement.with_circuit(0, Satisfied).expect("a partition") {
        Err(SatisfactionError::Unsatisfied(row)) => (fault.to_string(), row.path),
        other => panic!("{what}: {other:?}"),
    }
}

fn decode(what: &str, request: &ProofRequest) -> Statement {
    match request.decode() {
        Ok(statement) => statement,
        Err(error) => panic!("{what}: {error}"),
    }
}

fn replication(edit: impl FnOnce(&mut Value)) -> ProofRequest {
    ProofRequest::PoRep(with_c1(&fixture().porep, |c1| edit(challenge(c1))))
}

#[test]
fn wrong_hashes_in_a_replication_are_found_with_their_challenge() {
    for (what, request, row) in [
        (
            "a data sibling",
            replication(|c| {
                c["comm_d_proofs"]["data"]["Single"]["path"]["path"][2]["hashes"][0] = bytes(7);
            }),
            "comm_d_inclusion",
        ),
        (
            "a replica sibling",
            replication(|c| {
                c["comm_r_last_proof"]["data"]["Single"]["path"]["path"][1]["hashes"][6] = bytes(7);
            }),
            "comm_r_last_data_inclusion",
        ),
        (
            "a parent's label",
            replication(|c| {
                c["replica_column_proofs"]["drg_parents"][5]["column"]["rows"][0] = bytes(7);
            }),
            "drg_parent_5_inclusion",
        ),
        (
            "a path to another parent",
            replication(|c| {
                let level = &mut c["replica_column_proofs"]["exp_parents"][0]["inclusion_proof"]["data"]
                    ["Single"]["path"]["path"][0];
                level["index"] = json!(level["index"].as_u64().map(|index| index ^ 1));
            }),
            "exp_parent_0_inclusion",
        ),
    ] {
        let (fault, path) = expect_unsatisfied(what, &request);
        assert_eq!(
            fault,
            "porep-2k partition 0: the vanilla proof is wrong at challenge 0, its constraint \
             system is not satisfied"
        );
        assert!(path.contains(row), "{what}: {path}");
    }
}

fn update(edit: impl FnOnce(&mut PartitionProof<SectorShape2KiB>)) -> ProofRequest {
    let mut request = fixture().snap.clone();
    let mut proof = bincode::deserialize(&request.vanilla_proofs[0]).expect("a partition proof");
    edit(&mut proof);
    request.vanilla_proofs[0] = bincode::serialize(&proof).expect("serializes").into();
    ProofRequest::SnapDeals(request)
}

#[test]
fn wrong_hashes_in_an_update_are_found() {
    let poseidon = PoseidonDomain::try_from_bytes(&[7; 32]).expect("32 bytes");
    let sha = Sha256Domain::try_from_bytes(&[7; 32]).expect("32 bytes");
    for (what, request, row) in [
        ("an apex leaf", update(|p| p.apex_leafs[3] = sha), "apex"),
        (
            "an old replica sibling",
            update(|p| {
                let proof = &mut p.challenge_proofs[4].proof_r_old;
                let mut path = proof.path();
                path[0].0[0] = poseidon;
                *proof = MerkleProof::from_parts(proof.leaf(), proof.root(), path);
            }),
            "tree_r_old (c_index=4)",
        ),
    ] {
        let (fault, path) = expect_unsatisfied(what, &request);
        assert!(fault.contains("wrong at partition 0"), "{what}: {fault}");
        assert!(path.contains(row), "{what}: {path}");
    }
}

#[test]
fn a_wrong_leaf_in_a_post_is_found_with_its_sector() {
    let tampered = |bytes: &[u8]| {
        let mut proof: FallbackPoStSectorProof<SectorShape2KiB> =
            bincode::deserialize(bytes).expect("a vanilla proof");
        let opening = &mut proof.vanilla_proof.sectors[0].inclusion_proofs[9];
        let leaf = PoseidonDomain::try_from_bytes(&[7; 32]).expect("32 bytes");
        *opening = MerkleProof::from_parts(leaf, opening.root(), opening.path());
        bincode::serialize(&proof).expect("serializes").into()
    };
    let mut window = fixture().window.clone();
    window.vanilla_proofs[1] = tampered(&window.vanilla_proofs[1]);
    let (fault, path) = expect_unsatisfied("window", &ProofRequest::WindowPoSt(window));
    assert!(fault.contains("wrong at sector 2"), "{fault}");
    assert!(path.contains("sector_1/challenge_inclusion_9"), "{path}");

    let mut winning = fixture().winning.clone();
    winning.vanilla_proofs[0] = tampered(&winning.vanilla_proofs[0]);
    let (fault, path) = expect_unsatisfied("winning", &ProofRequest::WinningPoSt(winning));
    assert!(fault.contains("wrong at sector 1"), "{fault}");
    assert!(path.contains("sector_9/challenge_inclusion_0"), "{path}");
}
