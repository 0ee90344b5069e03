//! Curve code is needed over two fields: Fp for G1 and its quadratic extension Fp2 for G2.
//!
//! [`Coordinate`] is the small set of operations that point arithmetic needs; [`Fp`] and [`Fp2`] implement it by
//! calls into `blst`, so that G1 and G2 share one generic implementation of everything above. All values are in
//! Montgomery form and fully reduced, so equality of limbs is equality of field elements.

mod batch;
mod element;
#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma;
mod prefetch;

pub use batch::{InversionScratch, batch_invert};
pub use element::{Fp, Fp2};
pub(crate) use prefetch::prefetch;

use std::fmt::Debug;

/// A field element usable as the coordinate of a curve point.
///
/// Values are in Montgomery form and fully reduced.
pub trait Coordinate: Copy + Eq + Debug + Default + Send + Sync + 'static {
    /// The additive identity.
    const ZERO: Self;
    /// The multiplicative identity, in Montgomery form.
    const ONE: Self;
    /// Bytes of the canonical big-endian encoding.
    const BYTES: usize;

    /// `*self = left * right`, without a temporary.
    fn set_mul(&mut self, left: &Self, right: &Self);
    /// `*self = left - right`, without a temporary.
    fn set_sub(&mut self, left: &Self, right: &Self);
    /// `*self = self * other`, without a temporary.
    fn mul_assign(&mut self, other: &Self);
    /// `*self = self - other`, without a temporary.
    fn sub_assign(&mut self, other: &Self);
    /// `self + other`.
    #[must_use]
    fn add(&self, other: &Self) -> Self;
    /// `self - other`.
    #[must_use]
    fn sub(&self, other: &Self) -> Self;
    /// `self * other`.
    #[must_use]
    fn mul(&self, other: &Self) -> Self;
    /// `self * self`.
    #[must_use]
    fn square(&self) -> Self;
    /// `-self` when `condition` holds, `self` otherwise.
    #[must_use]
    fn negate_if(&self, condition: bool) -> Self;
    /// The multiplicative inverse; zero for zero.
    #[must_use]
    fn inverse(&self) -> Self;
    /// Reads [`Self::BYTES`] canonical big-endian bytes (highest coefficient of an extension first).
    ///
    /// A value that is not reduced is accepted and reduced; [`Self::is_canonical`] tells the two apart.
    fn from_bytes_reduced(bytes: &[u8]) -> Self;
    /// Whether every coefficient encoded in `bytes` is below the modulus.
    fn is_canonical(bytes: &[u8]) -> bool;
    /// Writes [`Self::BYTES`] canonical big-endian bytes (highest coefficient of an extension first).
    fn write_bytes(&self, bytes: &mut [u8]);

    /// Whether this is the additive identity.
    fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// `-self`.
    #[must_use]
    fn neg(&self) -> Self {
        self.negate_if(true)
    }

    /// `2 * self`.
    #[must_use]
    fn double(&self) -> Self {
        self.add(self)
    }
}
