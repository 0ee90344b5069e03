//! Bytes that claim to be a key: the mapped file and the verifying key at its head.
#![no_main]

use std::io::Write;

use cuzk_groth16::{OpenOptions, ProvingKey, VerifyingKey};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(key) = VerifyingKey::from_bytes(bytes) {
        assert_eq!(key.to_bytes(), bytes);
    }
    let mut file =
        tempfile::NamedTempFile::new().expect("the folder for temporary files is writable");
    file.write_all(bytes).expect("the disk has room");
    if let Ok(key) = ProvingKey::open(file.path(), &OpenOptions::default()) {
        assert_eq!(key.file_bytes(), bytes.len() as u64);
    }
});
