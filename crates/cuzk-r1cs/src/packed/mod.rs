//! Witnesses whose booleans are bits.
//!
//! Nearly every variable of a hash circuit is a bit, and a field element for each is what makes a partition's witness four
//! gigabytes. Which variables are boolean follows from the rows alone ([`VariableKinds`]); a [`PackedWitness`] keeps
//! one bit for each of these and field elements for the others.

mod comparison;
mod infer;
mod kinds;
mod rows;
mod witness;

pub use comparison::WitnessDifference;
pub(crate) use infer::KindInference;
pub use kinds::{KindsError, VariableKinds};
pub use rows::SynthesizedRows;
pub use witness::{PackError, PackedWitness};
