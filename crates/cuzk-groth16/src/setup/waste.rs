//! Whoever knows the secret exponents of a key can prove anything with it; that is what makes a key "for development".

use std::hint::black_box;

use blstrs::Scalar;
use ff::{Field, PrimeField};
use rand_core::{OsRng, RngCore};
use thiserror::Error;

/// The secret exponents that a key is made from, with the standard generators of both groups.
///
/// Not `Clone` and without any output of the values, so that they stay in one place; overwritten when dropped, as far
/// as safe code can (copies that the compiler or the allocator made on the way are not reached). None of them is zero.
pub struct ToxicWaste {
    pub(super) tau: Scalar,
    pub(super) alpha: Scalar,
    pub(super) beta: Scalar,
    pub(super) gamma: Scalar,
    pub(super) delta: Scalar,
}

/// One of the secret exponents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WasteElement {
    /// The point at which the polynomials are evaluated.
    Tau,
    /// Factor of B in the consistency term.
    Alpha,
    /// Factor of A in the consistency term.
    Beta,
    /// Divisor for public inputs.
    Gamma,
    /// Divisor for the rest.
    Delta,
}

impl WasteElement {
    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tau => "tau",
            Self::Alpha => "alpha",
            Self::Beta => "beta",
            Self::Gamma => "gamma",
            Self::Delta => "delta",
        }
    }
}

impl std::fmt::Display for WasteElement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Why exponents give no key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WasteError {
    /// A key with this element zero accepts nothing or everything.
    #[error("{element} is zero")]
    Zero {
        /// The element.
        element: WasteElement,
    },
    /// With equal divisors a prover can move public inputs into the private part.
    #[error("gamma equals delta")]
    GammaIsDelta,
    /// The Lagrange polynomials and the vanishing polynomial degenerate on the domain.
    #[error("tau is a root of unity of order dividing 2^{log_domain}, the size of the domain")]
    TauInDomain {
        /// Logarithm of the domain's size.
        log_domain: u32,
    },
    /// The operating system has no randomness.
    #[error("no randomness from the operating system: {0}")]
    Randomness(rand_core::Error),
}

impl ToxicWaste {
    /// Fresh exponents from the operating system, which nobody needs to know.
    ///
    /// # Errors
    /// [`WasteError::Randomness`].
    pub fn random() -> Result<Self, WasteError> {
        loop {
            let draw = Self {
                tau: random_scalar()?,
                alpha: random_scalar()?,
                beta: random_scalar()?,
                gamma: random_scalar()?,
                delta: random_scalar()?,
            };
            // Exponents that are refused come up with probability 2⁻²²³ at most (tau a root of unity).
            if draw.check().is_ok() && !is_root_of_unity(draw.tau, Scalar::S) {
                return Ok(draw);
            }
        }
    }

    /// Known exponents, for keys that can be made again and whose proofs can be checked without a pairing.
    ///
    /// # Errors
    /// [`WasteError`] if one of them is zero or γ = δ.
    pub fn from_parts(
        tau: Scalar,
        alpha: Scalar,
        beta: Scalar,
        gamma: Scalar,
        delta: Scalar,
    ) -> Result<Self, WasteError> {
        let waste = Self {
            tau,
            alpha,
            beta,
            gamma,
            delta,
        };
        waste.check().map(|()| waste)
    }

    fn check(&self) -> Result<(), WasteError> {
        let elements = [
            (WasteElement::Tau, self.tau),
            (WasteElement::Alpha, self.alpha),
            (WasteElement::Beta, self.beta),
            (WasteElement::Gamma, self.gamma),
            (WasteElement::Delta, self.delta),
        ];
        match elements
            .into_iter()
            .find(|(_, value)| *value == Scalar::ZERO)
        {
            Some((element, _)) => Err(WasteError::Zero { element }),
            None if self.gamma == self.delta => Err(WasteError::GammaIsDelta),
            None => Ok(()),
        }
    }

    /// Refuses a τ in the domain of size 2^`log_domain`.
    ///
    /// # Errors
    /// [`WasteError::TauInDomain`].
    pub(super) fn check_domain(&self, log_domain: u32) -> Result<(), WasteError> {
        if is_root_of_unity(self.tau, log_domain) {
            return Err(WasteError::TauInDomain { log_domain });
        }
        Ok(())
    }
}

impl Drop for ToxicWaste {
    fn drop(&mut self) {
        for value in [
            &mut self.tau,
            &mut self.alpha,
            &mut self.beta,
            &mut self.gamma,
            &mut self.delta,
        ] {
            *value = Scalar::ZERO;
            black_box(value);
        }
    }
}

impl std::fmt::Debug for ToxicWaste {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ToxicWaste(..)")
    }
}

fn is_root_of_unity(value: Scalar, log_order: u32) -> bool {
    let power = (0..log_order).fold(value, |power, _| power.square());
    power == Scalar::ONE
}

/// A uniform scalar, by rejection of values that are not reduced.
fn random_scalar() -> Result<Scalar, WasteError> {
    let mut bytes = [0; 32];
    loop {
        OsRng
            .try_fill_bytes(&mut bytes)
            .map_err(WasteError::Randomness)?;
        // The group order has 255 bits.
        bytes[31] &= 0x7f;
        let scalar: Option<Scalar> = Scalar::from_repr(bytes).into();
        bytes.fill(0);
        black_box(&mut bytes);
        if let Some(scalar) = scalar {
            return Ok(scalar);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(values: [u64; 5]) -> Result<ToxicWaste, WasteError> {
        let [tau, alpha, beta, gamma, delta] = values.map(Scalar::from);
        ToxicWaste::from_parts(tau, alpha, beta, gamma, delta)
    }

    #[test]
    fn zero_in_any_place_is_refused_by_name() {
        for (index, name) in ["tau", "alpha", "beta", "gamma", "delta"]
            .iter()
            .enumerate()
        {
            let mut values = [3, 5, 7, 11, 13];
            values[index] = 0;
            let error = parts(values).expect_err("zero");
            assert_eq!(error.to_string(), format!("{name} is zero"));
        }
    }

    #[test]
    fn equal_gamma_and_delta_are_refused() {
        assert!(matches!(
            parts([3, 5, 7, 11, 11]),
            Err(WasteError::GammaIsDelta)
        ));
        assert!(parts([3, 5, 5, 11, 13]).is_ok());
    }

    #[test]
    fn a_tau_of_the_domain_is_refused_and_of_a_larger_one_is_not() {
        let mut root = Scalar::ROOT_OF_UNITY;
        for _ in 0..Scalar::S - 4 {
            root = root.square();
        }
        let [alpha, beta, gamma, delta] = [5, 7, 11, 13].map(Scalar::from);
        let waste = ToxicWaste::from_parts(root, alpha, beta, gamma, delta).expect("not zero");
        assert!(waste.check_domain(3).is_ok());
        for log_domain in [4, 5, 27] {
            assert!(matches!(
                waste.check_domain(log_domain),
                Err(WasteError::TauInDomain { log_domain: l }) if l == log_domain
            ));
        }
        let one = ToxicWaste::from_parts(Scalar::ONE, alpha, beta, gamma, delta).expect("not zero");
        assert!(one.check_domain(0).is_err());
    }

    #[test]
    fn random_exponents_differ_and_debug_output_shows_none() {
        let waste = ToxicWaste::random().expect("randomness");
        let other = ToxicWaste::random().expect("randomness");
        assert_ne!(waste.tau, other.tau);
        assert_ne!(waste.tau, waste.alpha);
        assert_eq!(format!("{waste:?}"), "ToxicWaste(..)");
    }
}
