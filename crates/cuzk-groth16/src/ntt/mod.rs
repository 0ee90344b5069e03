//! Number-theoretic transforms over the scalar field, and the quotient polynomial that a proof needs.
//!
//! Two networks are enough, and neither permutes its data: see [`Network`]. `to_reversed` takes natural order to
//! bit-reversed order, `to_natural` takes bit-reversed order to natural order; both are the same butterflies,
//! transposed. An inverse transform is the first one with the inverse root, so that values in natural order become
//! coefficients in bit-reversed order, where they are scaled onto a coset and go back through the second one.
//!
//! The coset is g·⟨ω⟩ with g the field's multiplicative generator, as in every bellman-style prover.

#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        unused_variables,
        reason = "elsewhere there is one arithmetic and nothing to choose"
    )
)]

mod naive;
mod network;
mod ops;
mod pointwise;
mod quotient;
mod twiddles;

use blstrs::Scalar;
use ff::{Field, PrimeField};

pub(crate) use naive::quotient_naive;
pub(crate) use network::Network;
pub(crate) use quotient::{quotient, quotient_bytes};
use twiddles::Twiddles;

/// A generator of the domain of size 2^`log_domain`, at most 2^32.
pub(crate) fn root_of_unity(log_domain: u32) -> Scalar {
    (log_domain..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
}

/// 2^−`log_domain`, the factor of an inverse transform.
pub(crate) fn inverse_size(log_domain: u32) -> Scalar {
    (0..log_domain).fold(Scalar::ONE, |inverse, _| inverse * Scalar::TWO_INV)
}

/// The inverse of a root, of the generator, or of a value of X^n − 1 off the domain.
fn invert(value: Scalar) -> Scalar {
    value
        .invert()
        .expect("roots, the generator, and values of X^n - 1 off the domain are not zero")
}

/// The index whose `bits` low bits are those of `index` in reverse.
pub(crate) const fn reverse(index: usize, bits: u32) -> usize {
    if bits == 0 {
        0
    } else {
        index.reverse_bits() >> (usize::BITS - bits)
    }
}
