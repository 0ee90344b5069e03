//! The sector proofs of a WindowPoSt request, each after its length.
#![no_main]

use cuzk_circuits::ProofRequest;
use cuzk_fuzz::{Input, decode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    decode(&ProofRequest::WindowPoSt(Input::new(bytes).post_request()));
});
