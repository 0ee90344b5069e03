//! Multi-scalar multiplication Σ sᵢ·Pᵢ: three quarters of a proof's time, over keys too large to hold decoded.
//!
//! - Bases are read block by block from a [`BaseSource`], usually a mapped file, and decoded where they are used.
//! - Scalars are classified first. Zeros are skipped, ones and minus ones are plain sums of points; only the other,
//!   *wide* scalars enter Pippenger's method.
//! - Pippenger's method with signed digits: for each chunk of points and each window, a counting sort by bucket, then
//!   pairwise sums within buckets in rounds, affine, with one inversion for a thousand sums; see [`mod@buckets`].
//! - Threads share the work by (window, range of buckets), so that the buckets exist once however many there are.
//!
//! Memory does not depend on the number of bases once there are some hundred thousand: [`scratch_bytes`].

mod buckets;
mod error;
mod naive;
mod pippenger;
mod plan;
mod pool;
mod scalars;
mod segment;
mod source;
#[cfg(test)]
mod tests;

pub use error::MsmError;
pub use naive::msm_naive;
pub use pippenger::{MsmSettings, msm, scratch_bytes};
pub use scalars::WindowBits;
pub use segment::ScalarSegment;
pub use source::{BaseSource, EncodedBases};
