//! Requests for proofs of spacetime that must be refused, with what the message must say.

use bytes::Bytes;
use cuzk_circuits::{PoStRequest, ProofRequest};
use filecoin_hashers::Domain as _;
use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_proofs::{FallbackPoStSectorProof, SectorShape2KiB};
use storage_proofs_core::merkle::{MerkleProof, MerkleProofTrait as _};

use crate::fixture::fixture;

type Vanilla = FallbackPoStSectorProof<SectorShape2KiB>;
/// A request to be refused: what is wrong, how to make it, parts of the message.
type Case = (&'static str, fn(&mut PoStRequest), &'static [&'static str]);

fn expect_refused(good: &PoStRequest, kind: fn(PoStRequest) -> ProofRequest, cases: &[Case]) {
    kind(good.clone())
        .decode()
        .expect("the request is good before the edit");
    for (what, edit, parts) in cases {
        let mut request = good.clone();
        edit(&mut request);
        let error = match kind(request).decode() {
            Ok(statement) => panic!("{what}: accepted as {statement:?}"),
            Err(error) => error.to_string(),
        };
        for part in *parts {
            assert!(error.contains(part), "{what}: {part:?} is not in {error:?}");
        }
    }
}

/// Edits the vanilla proof of the request's first sector.
fn edit_proof(request: &mut PoStRequest, edit: impl FnOnce(&mut Vanilla)) {
    let mut proof = bincode::deserialize(&request.vanilla_proofs[0]).expect("a vanilla proof");
    edit(&mut proof);
    request.vanilla_proofs[0] = bincode::serialize(&proof).expect("serializes").into();
}

fn edit_bytes(request: &mut PoStRequest, edit: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = request.vanilla_proofs[0].to_vec();
    edit(&mut bytes);
    request.vanilla_proofs[0] = bytes.into();
}

fn node(byte: u8) -> PoseidonDomain {
    PoseidonDomain::try_from_bytes(&[byte; 32]).expect("32 bytes")
}

/// What both kinds refuse.
const BOTH: &[Case] = &[
    (
        "an unknown number",
        |r| r.registered_proof = 15,
        &["registered PoSt proof 15 is unknown", "14"],
    ),
    (
        "another size",
        |r| r.sector_size = 0,
        &["sector_size is 0", "means 2048"],
    ),
    (
        "no randomness",
        |r| r.randomness = Bytes::new(),
        &["randomness is 0 bytes long, not 32"],
    ),
    (
        "33 bytes of randomness",
        |r| r.randomness = vec![1; 33].into(),
        &["randomness is 33 bytes long, not 32"],
    ),
    (
        "other randomness",
        |r| r.randomness = vec![1; 32].into(),
        &[
            "vanilla_proofs[0].vanilla_proof.sectors[0].inclusion_proofs[",
            "].challenge is",
        ],
    ),
    (
        "another sector's number",
        |r| edit_proof(r, |p| p.sector_id = 0.into()),
        &["challenge is"],
    ),
    (
        "another comm_r",
        |r| edit_proof(r, |p| p.comm_r = node(1)),
        &["vanilla_proofs[0].comm_r is 0101"],
    ),
    (
        "another comm_c",
        |r| edit_proof(r, |p| p.vanilla_proof.sectors[0].comm_c = node(1)),
        &["vanilla_proofs[0].comm_r is "],
    ),
    (
        "no sector",
        |r| edit_proof(r, |p| p.vanilla_proof.sectors.clear()),
        &["vanilla_proof.sectors has 0 entries, expected 1"],
    ),
    (
        "two sectors",
        |r| {
            edit_proof(r, |p| {
                let first = p.vanilla_proof.sectors[0].clone();
                p.vanilla_proof.sectors.push(first);
            });
        },
        &["vanilla_proof.sectors has 2 entries, expected 1"],
    ),
    (
        "an opening less",
        |r| {
            edit_proof(r, |p| {
                p.vanilla_proof.sectors[0].inclusion_proofs.pop();
            });
        },
        &["inclusion_proofs has ", "expected "],
    ),
    (
        "another root",
        |r| {
            edit_proof(r, |p| {
                let proof = &mut p.vanilla_proof.sectors[0].inclusion_proofs[4];
                *proof = MerkleProof::from_parts(proof.leaf(), node(1), proof.path());
            });
        },
        &["inclusion_proofs[4].root is 0101"],
    ),
    (
        "a short path",
        |r| {
            edit_proof(r, |p| {
                let proof = &mut p.vanilla_proof.sectors[0].inclusion_proofs[4];
                let mut path = proof.path();
                path.pop();
                *proof = MerkleProof::from_parts(proof.leaf(), proof.root(), path);
            });
        },
        &["inclusion_proofs[4].data.path.path has 1 entries, expected 2"],
    ),
    (
        "nothing",
        |r| r.vanilla_proofs[0] = Bytes::new(),
        &["vanilla_proofs[0] is cut: it ends at byte 0"],
    ),
    (
        "cut in the middle",
        |r| edit_bytes(r, |b| b.truncate(500)),
        &["vanilla_proofs[0] ", "is cut: it ends at byte 500"],
    ),
    (
        "four bytes more",
        |r| edit_bytes(r, |b| b.extend([0; 4])),
        &["vanilla_proofs[0] ends at byte", "4 bytes follow"],
    ),
    (
        "a length of 2^64 - 1",
        |r| edit_bytes(r, |b| b[48..56].fill(255)),
        &["vanilla_proofs[0] (byte 56)", "at most 67 entries"],
    ),
    (
        "comm_r no scalar",
        |r| edit_bytes(r, |b| b[8..40].fill(255)),
        &["vanilla_proofs[0] (byte 40)", "not below the modulus"],
    ),
];

const WINNING: &[Case] = &[
    (
        "no proof",
        |r| r.vanilla_proofs.clear(),
        &["vanilla_proofs has 0 entries, expected 1"],
    ),
    (
        "two proofs",
        |r| r.vanilla_proofs.push(Bytes::new()),
        &["vanilla_proofs has 2 entries, expected 1"],
    ),
    (
        "a window proof",
        |r| r.registered_proof = 5,
        &["StackedDrgWindow2KiBV1 does not belong to a WinningPoSt request"],
    ),
    (
        "a second partition",
        |r| r.partition_index = 1,
        &["partition_index is 1, but it must be 0 in a WinningPoSt request"],
    ),
    (
        "ten openings",
        |r| {
            edit_proof(r, |p| {
                p.vanilla_proof.sectors[0].inclusion_proofs.truncate(10);
            });
        },
        &["inclusion_proofs has 10 entries, expected 66"],
    ),
];

const WINDOW: &[Case] = &[
    (
        "no sectors",
        |r| r.vanilla_proofs.clear(),
        &["vanilla_proofs is empty"],
    ),
    (
        "a winning proof",
        |r| r.registered_proof = 0,
        &["StackedDrgWinning2KiBV1 does not belong to a WindowPoSt request"],
    ),
    (
        "a partition of several",
        |r| r.partition_index = 1,
        &["partition_index is 1", "WindowPoSt request about 3 sectors"],
    ),
    (
        "sectors out of order",
        |r| r.vanilla_proofs.swap(0, 2),
        &["vanilla_proofs[1] is of sector 2, which does not come after 3"],
    ),
    (
        "a sector twice",
        |r| r.vanilla_proofs[1] = r.vanilla_proofs[0].clone(),
        &["vanilla_proofs[1] is of sector 1, which does not come after 1"],
    ),
    (
        "the second sector broken",
        |r| r.vanilla_proofs[1] = Bytes::from_static(&[0; 8]),
        &["vanilla_proofs[1] is cut: it ends at byte 8"],
    ),
];

#[test]
fn window_posts_are_checked() {
    let good = &fixture().window;
    expect_refused(good, ProofRequest::WindowPoSt, BOTH);
    expect_refused(good, ProofRequest::WindowPoSt, WINDOW);
}

#[test]
fn window_posts_of_the_first_version_are_checked() {
    let good = PoStRequest {
        vanilla_proofs: fixture().window_v1.vanilla_proofs[..1].to_vec(),
        ..fixture().window_v1.clone()
    };
    expect_refused(&good, ProofRequest::WindowPoSt, BOTH);
    let elsewhere: Case = (
        "another place in the call",
        |r| r.partition_index = 7,
        &["challenge is"],
    );
    expect_refused(&good, ProofRequest::WindowPoSt, &[elsewhere]);
}

#[test]
fn winning_posts_are_checked() {
    let good = &fixture().winning;
    expect_refused(good, ProofRequest::WinningPoSt, BOTH);
    expect_refused(good, ProofRequest::WinningPoSt, WINNING);
}
