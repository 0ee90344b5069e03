//! Real requests about a sealed sector of 2 KiB, and the verifier of what comes back.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::PathBuf};

use cuzk_circuits::{
    PoStRequest, PoStVariant, ProofRequest, SealProof, SealVariant, SectorSize,
    sector::{SealedSector, SectorSpec, porep_request, window_post_request, winning_post_request},
};
use cuzk_groth16::{PreparedVerifyingKey, Proof, VerifyingKey, verify};
use cuzk_proto::v1::{ProofKind, SubmitProofRequest};
use cuzk_testkit::keys;
use prost::Message as _;

use super::daemon::Home;

const RANDOMNESS: [u8; 32] = [0x2a; 32];

/// Requests by the prefix of their kind, and the keys of those that a test proves.
pub(crate) struct Fixture {
    requests: BTreeMap<&'static str, ProofRequest>,
}

impl Fixture {
    /// Seals a sector; makes the keys of the proofs of spacetime where they are missing.
    pub(crate) fn new(home: &Home) -> Self {
        for circuit in ["winning-2k", "wpost-2k"] {
            keys::for_circuit(circuit.parse().expect("a circuit"));
        }
        let spec = SectorSpec {
            seal_proof: SealProof {
                variant: SealVariant::V1_1,
                sector_size: SectorSize::Kib2,
            },
            miner_id: 1000,
            sector_number: 1,
            seed: 1,
        };
        let progress = &mut |_| {};
        let sector = SealedSector::seal(&spec, &home.path("sector"), progress).expect("sealed");
        let winning = winning_post_request(&sector, RANDOMNESS, progress).expect("stored");
        let variant = PoStVariant::WindowV1_2;
        let window =
            window_post_request(&[&sector], variant, RANDOMNESS, progress).expect("stored");
        let porep = porep_request(&sector, progress).expect("sealed");
        Self {
            requests: BTreeMap::from([
                ("winning", ProofRequest::WinningPoSt(winning)),
                ("wpost", ProofRequest::WindowPoSt(window)),
                ("porep", ProofRequest::PoRep(porep)),
            ]),
        }
    }

    /// Makes the key of a kind where it is missing.
    pub(crate) fn make_key(&self, kind: &str) {
        let circuit = self.requests[kind].circuit_id();
        keys::for_circuit(circuit.expect("a circuit"));
    }

    /// A request as clients send it.
    pub(crate) fn message(&self, kind: &str, request_id: &str) -> SubmitProofRequest {
        let base = SubmitProofRequest {
            request_id: request_id.to_owned(),
            ..SubmitProofRequest::default()
        };
        match &self.requests[kind] {
            ProofRequest::PoRep(request) => SubmitProofRequest {
                proof_kind: ProofKind::PorepSealCommit.into(),
                registered_proof: request.registered_proof,
                sector_size: request.sector_size,
                sector_number: request.sector_number,
                miner_id: request.miner_id,
                vanilla_proof: request.vanilla_proof.clone(),
                ..base
            },
            ProofRequest::WindowPoSt(request) => {
                post(ProofKind::WindowPostPartition, request, base)
            }
            ProofRequest::WinningPoSt(request) => post(ProofKind::WinningPost, request, base),
            ProofRequest::SnapDeals(_) => unreachable!("the fixture has none"),
        }
    }

    /// The requests as files, by kind.
    pub(crate) fn files(&self, home: &Home) -> BTreeMap<&'static str, PathBuf> {
        let write = |&kind: &&'static str| {
            let path = home.path(&format!("{kind}.request"));
            fs::write(&path, self.message(kind, "").encode_to_vec()).expect("room");
            (kind, path)
        };
        self.requests.keys().map(write).collect()
    }

    /// The options that describe the winning request to `cuzk prove winning`.
    pub(crate) fn winning_options(&self, home: &Home) -> Vec<String> {
        let message = self.message("winning", "");
        let path = home.path("vanilla.bin");
        fs::write(&path, &message.vanilla_proofs[0]).expect("room");
        let mut hex = String::new();
        for byte in &message.randomness {
            write!(hex, "{byte:02x}").expect("text grows");
        }
        let options = format!(
            "--vanilla {} --registered-proof {} --miner-id {} --randomness {hex}",
            path.display(),
            message.registered_proof,
            message.miner_id
        );
        options.split(' ').map(str::to_owned).collect()
    }

    /// Panics unless these bytes prove the request.
    pub(crate) fn verify(&self, kind: &str, proof: &[u8]) {
        let statement = self.requests[kind].decode().expect("valid");
        assert_eq!(statement.num_partitions(), 1);
        let key = keys::for_circuit(statement.circuit_id()).verifying_key;
        let key = VerifyingKey::read_file(&key).expect("a key of tests");
        let proofs = Proof::parse_exactly(proof, 1).expect("a proof");
        let inputs = statement.public_inputs(0).expect("inputs");
        verify(&PreparedVerifyingKey::new(&key), &inputs, &proofs[0]).expect("it verifies");
    }
}

fn post(kind: ProofKind, request: &PoStRequest, base: SubmitProofRequest) -> SubmitProofRequest {
    SubmitProofRequest {
        proof_kind: kind.into(),
        registered_proof: request.registered_proof,
        sector_size: request.sector_size,
        miner_id: request.miner_id,
        randomness: request.randomness.clone(),
        vanilla_proofs: request.vanilla_proofs.clone(),
        ..base
    }
}

/// Bytes from hexadecimal digits.
pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<char> = hex.chars().collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).expect("hexadecimal"))
        .collect()
}
