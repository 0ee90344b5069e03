//! The polynomials of a circuit are given by their values on a domain, and a key needs their values at τ.
//!
//! Lagrange's basis at τ: `L_j(τ) = (τ^n − 1)/n · ω^j/(τ − ω^j)`, for all rows by one inversion per block instead of an
//! inverse transform of the powers of τ.

use blstrs::Scalar;
use ff::{BatchInverter, Field};
use rayon::prelude::*;

use crate::ntt::{inverse_size, root_of_unity};

/// Rows of one block.
const BLOCK_LEN: usize = 1 << 13;

/// τ^n − 1, the vanishing polynomial of the domain at τ.
pub(super) fn vanishing_at(tau: Scalar, log_domain: u32) -> Scalar {
    (0..log_domain).fold(tau, |power, _| power.square()) - Scalar::ONE
}

/// `L_j(τ)` for the first `num_rows` rows of the domain; τ must not lie in it.
pub(super) fn lagrange_at(tau: Scalar, log_domain: u32, num_rows: usize) -> Vec<Scalar> {
    let omega = root_of_unity(log_domain);
    let factor = vanishing_at(tau, log_domain) * inverse_size(log_domain);
    let mut values = vec![Scalar::ZERO; num_rows];
    values.par_chunks_mut(BLOCK_LEN).enumerate().for_each_init(
        || vec![Scalar::ZERO; BLOCK_LEN],
        |scratch, (block, values)| {
            let first = omega.pow_vartime([(block * BLOCK_LEN) as u64]);
            let mut root = first;
            for value in values.iter_mut() {
                *value = tau - root;
                root *= omega;
            }
            let scratch = &mut scratch[..values.len()];
            BatchInverter::invert_with_external_scratch(values, scratch);
            let mut numerator = factor * first;
            for value in values.iter_mut() {
                *value *= numerator;
                numerator *= omega;
            }
        },
    );
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Σ_j f(ω^j)·L_j(τ)` for `f(X) = X^k`, which must be τ^k for every k below the domain's size.
    #[test]
    fn the_basis_interpolates_every_monomial_below_the_degree() {
        let tau = Scalar::from(123_456_789);
        for log_domain in 0..=5 {
            let size = 1_u64 << log_domain;
            let omega = root_of_unity(log_domain);
            let basis = lagrange_at(tau, log_domain, size as usize);
            for k in 0..size {
                let sum: Scalar = basis
                    .iter()
                    .zip(0..)
                    .map(|(value, j)| omega.pow_vartime([j * k]) * value)
                    .sum();
                assert_eq!(sum, tau.pow_vartime([k]), "2^{log_domain}, monomial {k}");
            }
        }
    }

    #[test]
    fn fewer_rows_are_the_beginning_of_all_rows_across_blocks() {
        let tau = Scalar::from(987_654_321);
        let all = lagrange_at(tau, 15, 1 << 15);
        for num_rows in [0, 1, BLOCK_LEN - 1, BLOCK_LEN, 2 * BLOCK_LEN + 3] {
            assert_eq!(lagrange_at(tau, 15, num_rows), all[..num_rows]);
        }
        assert_eq!(all.iter().sum::<Scalar>(), Scalar::ONE);
    }

    #[test]
    fn the_vanishing_polynomial_is_zero_on_the_domain_only() {
        for log_domain in [0, 1, 7] {
            let omega = root_of_unity(log_domain);
            assert_eq!(vanishing_at(omega, log_domain), Scalar::ZERO);
            assert_eq!(
                vanishing_at(Scalar::from(2), log_domain),
                Scalar::from(2).pow_vartime([1 << log_domain]) - Scalar::ONE
            );
        }
    }
}
