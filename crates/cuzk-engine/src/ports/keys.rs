//! Where proving keys come from.

use std::sync::Arc;

use cuzk_circuits::CircuitId;
use cuzk_groth16::ProvingKey;

use crate::error::PortError;

/// How large a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySize {
    /// Bytes of its file.
    pub file_bytes: u64,
    /// Bytes that it takes from the memory budget while it is open. A mapped file takes none: the system may drop its
    /// pages at any time.
    pub budget_bytes: u64,
}

/// Finds and opens proving keys.
pub trait KeySource: Send + Sync + 'static {
    /// Circuits that have a key here, open or not.
    fn circuits(&self) -> Vec<CircuitId>;

    /// The size of a key, without opening it.
    ///
    /// # Errors
    /// With class [`Resource`](crate::ErrorClass::Resource) and the path when there is no such key.
    fn size(&self, circuit: CircuitId) -> Result<KeySize, PortError>;

    /// Opens a key and checks what can be checked about it.
    ///
    /// # Errors
    /// With class [`Resource`](crate::ErrorClass::Resource), the path and what is wrong with it.
    fn open(&self, circuit: CircuitId) -> Result<Arc<ProvingKey>, PortError>;
}
