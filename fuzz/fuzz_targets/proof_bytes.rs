//! Bytes that claim to be proofs: each is refused, or decodes and encodes to the same bytes.
#![no_main]

use cuzk_groth16::Proof;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(proofs) = Proof::parse_many(bytes) {
        assert_eq!(Proof::write_many(&proofs), bytes);
    }
});
