//! Proving needs a key, and the published ones are gigabytes from a ceremony; tests and devnets make their own.
//!
//! [`generate`] makes the `.params` and `.vk` files of a compiled circuit from known or random secret exponents
//! (Groth 2016, section 3.2, with bellperson's conventions, so that the same exponents give the same bytes):
//! the circuit's polynomials at τ by Lagrange's basis, then one multiple of a generator for each, by tables.
//! Such a key is for development only: whoever made it may have kept the exponents and can prove anything with them.
//! The files hold points only, no secret.

mod digits;
mod domain;
mod error;
mod fixed_base;
mod generate;
mod polynomials;
mod processor;
mod scalars;
mod stream;
#[cfg(test)]
pub(crate) mod test_circuits;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod textbook;
mod waste;

pub use error::SetupError;
pub use generate::{KeyFiles, KeySummary, SetupProgress, SetupStep, generate, generate_from};
pub use scalars::KeyScalars;
pub use stream::{PointSource, PointStream, StreamError};
pub use waste::{ToxicWaste, WasteElement, WasteError};
