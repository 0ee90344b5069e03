//! The sector proof of a WinningPoSt request.
#![no_main]

use cuzk_circuits::ProofRequest;
use cuzk_fuzz::{Input, decode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    decode(&ProofRequest::WinningPoSt(Input::new(bytes).post_request()));
});
