#![doc = include_str!("../README.md")]

/// Version 1 of the interface.
#[allow(
    missing_docs,
    clippy::pedantic,
    clippy::allow_attributes_without_reason,
    unreachable_pub,
    reason = "generated from the protocol file, whose comments are its documentation"
)]
pub mod v1 {
    tonic::include_proto!("cuzk.v1");

    /// The protocol file, compiled and encoded, for reflection.
    pub const FILE_DESCRIPTOR_SET: &[u8] = tonic::include_file_descriptor_set!("cuzk.v1");
}
