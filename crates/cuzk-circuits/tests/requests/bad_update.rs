//! Update requests that must be refused, with what the message must say.

use bytes::Bytes;
use cuzk_circuits::{SnapDealsRequest, decode_snap_deals};
use filecoin_hashers::Domain as _;
use filecoin_hashers::sha256::Sha256Domain;
use filecoin_proofs::{PartitionProof, SectorShape2KiB};
use storage_proofs_core::merkle::{MerkleProof, MerkleProofTrait as _};

use crate::fixture::fixture;

type Partition = PartitionProof<SectorShape2KiB>;
/// A request to be refused: what is wrong, how to make it, parts of the message.
type Case = (
    &'static str,
    fn(&mut SnapDealsRequest),
    &'static [&'static str],
);

fn expect_refused(cases: &[Case]) {
    for (what, edit, parts) in cases {
        let mut request = fixture().snap.clone();
        edit(&mut request);
        let error = match decode_snap_deals(&request) {
            Ok(statement) => panic!("{what}: accepted as {statement:?}"),
            Err(error) => error.to_string(),
        };
        for part in *parts {
            assert!(error.contains(part), "{what}: {part:?} is not in {error:?}");
        }
    }
}

/// Edits the only partition's proof.
fn edit_proof(request: &mut SnapDealsRequest, edit: impl FnOnce(&mut Partition)) {
    let mut proof = bincode::deserialize(&request.vanilla_proofs[0]).expect("a partition proof");
    edit(&mut proof);
    request.vanilla_proofs[0] = bincode::serialize(&proof).expect("serializes").into();
}

/// Edits the only partition's bytes.
fn edit_bytes(request: &mut SnapDealsRequest, edit: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = request.vanilla_proofs[0].to_vec();
    edit(&mut bytes);
    request.vanilla_proofs[0] = bytes.into();
}

const HEADERS: &[Case] = &[
    (
        "an unknown number",
        |r| r.registered_proof = 5,
        &["registered update proof 5 is unknown", "4"],
    ),
    (
        "another number",
        |r| r.registered_proof = 1,
        &["sector_size is 2048", "StackedDrg8MiBV1 means 8388608"],
    ),
    (
        "another size",
        |r| r.sector_size = 4096,
        &["sector_size is 4096", "means 2048"],
    ),
    (
        "no comm_r_old",
        |r| r.comm_r_old = Bytes::new(),
        &["comm_r_old is 0 bytes long, not 32"],
    ),
    (
        "a long comm_r_new",
        |r| r.comm_r_new = vec![1; 33].into(),
        &["comm_r_new is 33 bytes long, not 32"],
    ),
    (
        "a short comm_d_new",
        |r| r.comm_d_new = vec![1; 31].into(),
        &["comm_d_new is 31 bytes long, not 32"],
    ),
    (
        "comm_r_old zero",
        |r| r.comm_r_old = vec![0; 32].into(),
        &["comm_r_old is all zero"],
    ),
    (
        "comm_d_new no scalar",
        |r| r.comm_d_new = vec![255; 32].into(),
        &["comm_d_new is ffff", "not below the modulus"],
    ),
    (
        "replicas swapped",
        |r| std::mem::swap(&mut r.comm_r_old, &mut r.comm_r_new),
        &["comm_r_old is "],
    ),
    (
        "data and replica swapped",
        |r| std::mem::swap(&mut r.comm_d_new, &mut r.comm_r_new),
        &["comm_r_new is "],
    ),
    (
        "other data",
        |r| r.comm_d_new = vec![1; 32].into(),
        &["vanilla_proofs[0].challenge_proofs[0].proof_d_new.root is "],
    ),
];

const LISTS: &[Case] = &[
    (
        "no proofs",
        |r| r.vanilla_proofs.clear(),
        &["vanilla_proofs has 0 entries, expected 1"],
    ),
    (
        "two proofs",
        |r| r.vanilla_proofs.push(Bytes::new()),
        &["vanilla_proofs has 2 entries, expected 1"],
    ),
    (
        "seven apex leaves",
        |r| edit_proof(r, |p| p.apex_leafs.truncate(7)),
        &["vanilla_proofs[0].apex_leafs has 7 entries, expected 8"],
    ),
    (
        "no challenges",
        |r| edit_proof(r, |p| p.challenge_proofs.clear()),
        &["challenge_proofs has 0 entries, expected 10"],
    ),
    (
        "eleven challenges",
        |r| {
            edit_proof(r, |p| {
                let first = p.challenge_proofs[0].clone();
                p.challenge_proofs.push(first);
            });
        },
        &["challenge_proofs has 11 entries, expected 10"],
    ),
    (
        "challenges swapped",
        |r| edit_proof(r, |p| p.challenge_proofs.swap(0, 1)),
        &["challenge_proofs[0].proof_r_old.challenge is "],
    ),
    (
        "a short data path",
        |r| {
            edit_proof(r, |p| {
                let proof = &p.challenge_proofs[3].proof_d_new;
                let mut path = proof.path();
                path.pop();
                p.challenge_proofs[3].proof_d_new =
                    MerkleProof::from_parts(proof.leaf(), proof.root(), path);
            });
        },
        &["challenge_proofs[3].proof_d_new.data.path.path has 5 entries, expected 6"],
    ),
    (
        "data encoded differently",
        |r| {
            edit_proof(r, |p| {
                let proof = &p.challenge_proofs[2].proof_d_new;
                let leaf = Sha256Domain::try_from_bytes(&[3; 32]).expect("32 bytes");
                p.challenge_proofs[2].proof_d_new =
                    MerkleProof::from_parts(leaf, proof.root(), proof.path());
            });
        },
        &["challenge_proofs[2].proof_r_new.leaf is "],
    ),
];

const BYTES: &[Case] = &[
    (
        "nothing",
        |r| r.vanilla_proofs[0] = Bytes::new(),
        &["vanilla_proofs[0] is cut: it ends at byte 0"],
    ),
    (
        "cut in the middle",
        |r| edit_bytes(r, |b| b.truncate(1000)),
        &["vanilla_proofs[0] is cut: it ends at byte 1000"],
    ),
    (
        "a byte more",
        |r| edit_bytes(r, |b| b.push(0)),
        &["vanilla_proofs[0] ends at byte", "1 bytes follow"],
    ),
    (
        "a length of 2^63",
        |r| {
            edit_bytes(r, |b| {
                b[32..40].copy_from_slice(&(1_u64 << 63).to_le_bytes());
            });
        },
        &["vanilla_proofs[0] (byte 40)", "at most 129 entries"],
    ),
    (
        "an apex leaf that is no scalar",
        |r| edit_bytes(r, |b| b[40..72].fill(255)),
        &["vanilla_proofs[0] (byte 72)", "not below the modulus"],
    ),
    (
        "a proof of no kind",
        |r| edit_bytes(r, |b| b[304..308].fill(9)),
        &["vanilla_proofs[0] (byte 3"],
    ),
];

#[test]
fn headers_are_checked() {
    expect_refused(HEADERS);
}

#[test]
fn lists_paths_and_encodings_are_checked() {
    expect_refused(LISTS);
}

#[test]
fn bytes_are_checked_with_their_offset() {
    expect_refused(BYTES);
}

#[test]
fn only_as_many_proofs_as_the_sector_size_has_partitions_are_accepted() {
    let mut request = fixture().snap.clone();
    request.registered_proof = 3;
    request.sector_size = 0;
    for num_proofs in [15, 17] {
        request.vanilla_proofs = vec![Bytes::new(); num_proofs];
        let error = decode_snap_deals(&request).expect_err("not 16").to_string();
        let expected = format!("vanilla_proofs has {num_proofs} entries, expected 16");
        assert_eq!(error, expected);
    }
}
