//! The body of a compiled circuit. Header and checksum are made for it, since no fuzzer finds a checksum.
#![no_main]

use cuzk_r1cs::CompiledCircuit;
use libfuzzer_sys::fuzz_target;

fn with_header(body: &[u8]) -> Vec<u8> {
    let checksum = blake2b_simd::Params::new()
        .hash_length(32)
        .personal(b"cuzk-circuit-v1")
        .hash(body);
    let version = CompiledCircuit::FILE_VERSION.to_le_bytes();
    let length = (body.len() as u64).to_le_bytes();
    let parts = [b"cuzkcirc".as_slice(), &version, &length, checksum.as_bytes(), body];
    parts.concat()
}

fuzz_target!(|body: &[u8]| {
    if let Ok((circuit, label)) = CompiledCircuit::from_file_bytes(&with_header(body)) {
        let again = CompiledCircuit::from_file_bytes(&circuit.to_file_bytes(&label));
        assert!(again.is_ok_and(|(again, _)| again == circuit));
    }
});
