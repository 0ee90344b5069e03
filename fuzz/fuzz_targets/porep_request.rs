//! The JSON of a PoRep request, with the base64 inside.
#![no_main]

use cuzk_circuits::{PoRepRequest, ProofRequest};
use cuzk_fuzz::{Input, decode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    decode(&ProofRequest::PoRep(PoRepRequest {
        registered_proof: input.registered_proof(),
        sector_size: input.sector_size(),
        miner_id: 1000,
        sector_number: 1,
        vanilla_proof: input.payload(),
    }));
});
