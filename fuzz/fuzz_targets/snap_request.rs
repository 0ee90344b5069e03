//! The partition proofs of a SnapDeals request, each after its length.
#![no_main]

use bytes::Bytes;
use cuzk_circuits::{ProofRequest, SnapDealsRequest};
use cuzk_fuzz::{Input, decode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let commitment = Bytes::copy_from_slice(&[input.byte() & 0x3f; 32]);
    decode(&ProofRequest::SnapDeals(SnapDealsRequest {
        registered_proof: input.registered_proof(),
        sector_size: input.sector_size(),
        comm_r_old: commitment.clone(),
        comm_r_new: commitment.clone(),
        comm_d_new: commitment,
        vanilla_proofs: input.payloads(),
    }));
});
