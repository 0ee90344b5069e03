//! From five multi-scalar products to a proof (Groth 2016, section 3.2).
//!
//! With the queries' sums a, b, l, h of a witness and blinding r, s:
//! A = α + a + rδ, B = β + b + sδ, C = l + h + sA + rB₁ − rsδ, where B₁ is B's twin in G1.

use blstrs::{G1Projective, G2Projective, Scalar};
use ff::Field;
use group::Curve;
use rand_core::OsRng;

use crate::proof::Proof;
use crate::verifying_key::VerifyingKey;

/// The two scalars that hide the witness: proofs of the same statement with fresh ones cannot be linked.
///
/// Never reuse a pair for two witnesses; fixed pairs are for tests that compare bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Blinding {
    /// Blinds A.
    pub r: Scalar,
    /// Blinds B.
    pub s: Scalar,
}

impl Blinding {
    /// A fresh pair from the operating system's random numbers.
    pub fn random() -> Self {
        Self {
            r: Scalar::random(OsRng),
            s: Scalar::random(OsRng),
        }
    }

    /// A given pair.
    pub const fn from_parts(r: Scalar, s: Scalar) -> Self {
        Self { r, s }
    }
}

impl std::fmt::Debug for Blinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Blinding(hidden)")
    }
}

/// The sums over the G1 queries of one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct G1Sums {
    /// Over h, by the quotient's coefficients.
    pub h: G1Projective,
    /// Over l, by the auxiliary variables.
    pub l: G1Projective,
    /// Over a, by the inputs and the auxiliary variables that occur in A.
    pub a: G1Projective,
    /// Over `b_g1`, by the variables that occur in B.
    pub b: G1Projective,
}

/// The proof that these sums make with a key's single points.
pub fn assemble(
    key: &VerifyingKey,
    sums: &G1Sums,
    b_g2: &G2Projective,
    blinding: Blinding,
) -> Proof {
    let Blinding { r, s } = blinding;
    let delta = G1Projective::from(key.delta_g1);
    let a = sums.a + key.alpha_g1 + delta * r;
    let b = *b_g2 + key.beta_g2 + G2Projective::from(key.delta_g2) * s;
    let b_twin = sums.b + key.beta_g1 + delta * s;
    let c = sums.l + sums.h + a * s + b_twin * r - delta * (r * s);
    Proof {
        a: a.to_affine(),
        b: b.to_affine(),
        c: c.to_affine(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_blinding_differs_and_is_not_printed() {
        let (first, second) = (Blinding::random(), Blinding::random());
        assert_ne!(first, second);
        assert_eq!(format!("{first:?}"), "Blinding(hidden)");
    }
}
