//! What an engine needs from outside, as object-safe traits: circuits, keys, and somewhere to run.
//!
//! Devices are the fourth port; their trait is [`cuzk_groth16::ProverDevice`].

mod circuits;
mod executor;
mod filecoin;
mod keys;
mod threads;

pub use circuits::{CircuitSource, Provable};
pub use executor::{Executor, Work};
pub use filecoin::FilecoinCircuits;
pub use keys::{KeySize, KeySource};
pub use threads::ThreadExecutor;
