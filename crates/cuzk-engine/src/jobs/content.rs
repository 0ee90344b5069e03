//! What makes two requests the same: their content, not their name.

use blake2b_simd::Params;
use cuzk_circuits::{PoStRequest, ProofRequest};

/// Digest of a request's content.
pub(crate) type ContentHash = [u8; 32];

/// What a client calls a request, and what the request is. Equal keys mean one job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RequestKey {
    pub(crate) request_id: String,
    pub(crate) content: ContentHash,
}

/// BLAKE2b-256 over the family and all fields, each with its length.
pub(crate) fn content_hash(request: &ProofRequest) -> ContentHash {
    let mut hasher = Hasher(Params::new().hash_length(32).to_state());
    hasher.bytes(request.family().prefix().as_bytes());
    match request {
        ProofRequest::PoRep(request) => {
            hasher.number(request.registered_proof);
            hasher.number(request.sector_size);
            hasher.number(request.miner_id);
            hasher.number(request.sector_number);
            hasher.bytes(&request.vanilla_proof);
        }
        ProofRequest::SnapDeals(request) => {
            hasher.number(request.registered_proof);
            hasher.number(request.sector_size);
            for commitment in [
                &request.comm_r_old,
                &request.comm_r_new,
                &request.comm_d_new,
            ] {
                hasher.bytes(commitment);
            }
            hasher.list(&request.vanilla_proofs);
        }
        ProofRequest::WindowPoSt(request) | ProofRequest::WinningPoSt(request) => {
            hasher.post(request);
        }
    }
    let mut hash = [0; 32];
    hash.copy_from_slice(hasher.0.finalize().as_bytes());
    hash
}

/// Bytes of a request's payload.
pub(crate) fn payload_bytes(request: &ProofRequest) -> u64 {
    let vanilla_proofs = match request {
        ProofRequest::PoRep(request) => std::slice::from_ref(&request.vanilla_proof),
        ProofRequest::SnapDeals(request) => &request.vanilla_proofs,
        ProofRequest::WindowPoSt(request) | ProofRequest::WinningPoSt(request) => {
            &request.vanilla_proofs
        }
    };
    vanilla_proofs
        .iter()
        .fold(0, |sum, proof| sum + proof.len() as u64)
}

struct Hasher(blake2b_simd::State);

impl Hasher {
    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn list<B: AsRef<[u8]>>(&mut self, list: &[B]) {
        self.number(list.len() as u64);
        for bytes in list {
            self.bytes(bytes.as_ref());
        }
    }

    fn post(&mut self, request: &PoStRequest) {
        self.number(request.registered_proof);
        self.number(request.sector_size);
        self.number(request.miner_id);
        self.bytes(&request.randomness);
        self.number(u64::from(request.partition_index));
        self.list(&request.vanilla_proofs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(vanilla_proofs: &[&'static [u8]], partition_index: u32) -> PoStRequest {
        PoStRequest {
            registered_proof: 8,
            sector_size: 2048,
            miner_id: 1000,
            randomness: vec![7; 32].into(),
            partition_index,
            vanilla_proofs: vanilla_proofs.iter().map(|bytes| (*bytes).into()).collect(),
        }
    }

    #[test]
    fn equal_content_has_an_equal_hash_and_any_other_field_another() {
        let hash = |request| content_hash(&ProofRequest::WindowPoSt(request));
        let base = hash(request(&[b"ab", b"c"], 0));
        assert_eq!(base, hash(request(&[b"ab", b"c"], 0)));
        assert_ne!(base, hash(request(&[b"ab", b"c"], 1)), "partition index");
        assert_ne!(base, hash(request(&[b"a", b"bc"], 0)), "boundaries");
        let winning = ProofRequest::WinningPoSt(request(&[b"ab", b"c"], 0));
        assert_ne!(base, content_hash(&winning), "family");
    }

    #[test]
    fn the_payload_is_what_the_vanilla_proofs_take() {
        let request = ProofRequest::WindowPoSt(request(&[b"ab", b"c"], 0));
        assert_eq!(payload_bytes(&request), 3);
    }
}
