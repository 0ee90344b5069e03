//! A card is hardware of its own: operators tell it from others by its identifier, and its memory is not the machine's.

use serde::Serialize;

/// A card, as its driver and this program describe it. What is used for proving, for status pages and for people who look
/// for what is wrong is described by the same words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardDescription {
    /// The driver's number of the card.
    pub number: usize,
    /// Product name.
    pub name: String,
    /// Identifier that no other card has, as the driver's own tools print it.
    pub uuid: String,
    /// Bytes of its memory.
    pub memory_bytes: u64,
    /// The version of the driver's interface, such as `13.0`.
    pub driver: String,
    /// The generation of the card, such as `9.0`.
    pub capability: String,
    /// Independent processors on it.
    pub multiprocessors: u32,
    /// Architecture of the embedded code that it runs; none when it runs none of it.
    pub kernels: Option<String>,
    /// Architectures of all embedded code, comma separated.
    pub built_for: &'static str,
}

/// Memory of a card at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CardMemory {
    /// Bytes that the driver can give to any program; none when it does not answer. What this device freed and keeps for
    /// its next proof is not among them.
    pub free_bytes: Option<u64>,
    /// Bytes of the device's live buffers.
    pub used_bytes: u64,
    /// Most bytes that its buffers may take together.
    pub limit_bytes: u64,
}
