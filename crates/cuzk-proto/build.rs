//! Generates the wire types from the protocol file. The compiler of the file is `protox`, written in Rust, so that a build
//! needs no `protoc`; its descriptor set is what reflection serves.

use std::{error::Error, fs, path::PathBuf};

use prost::Message as _;

const ROOT: &str = "proto";
const FILE: &str = "proto/cuzk/v1/proving_engine.proto";

#[allow(
    clippy::disallowed_methods,
    reason = "cargo tells a build script its output folder through the environment"
)]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let descriptors = protox::compile([FILE], [ROOT])?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    fs::write(out.join("cuzk.v1.bin"), descriptors.encode_to_vec())?;
    // Payloads are slices of the received message instead of copies.
    tonic_prost_build::configure()
        .bytes(".")
        .compile_fds(descriptors)?;
    Ok(())
}
