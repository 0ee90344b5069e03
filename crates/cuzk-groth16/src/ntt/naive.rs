//! The oracles: transforms as sums over all powers, the quotient by its textbook definition.

use blstrs::Scalar;
use cuzk_r1cs::Evaluations;
use ff::{Field, PrimeField};

use super::{inverse_size, invert, root_of_unity};

/// yⱼ = Σᵢ xᵢ·ω^(ij), all in natural order.
pub(super) fn transform_naive(values: &[Scalar], omega: Scalar) -> Vec<Scalar> {
    let mut root = Scalar::ONE;
    (0..values.len())
        .map(|_| {
            // Horner's rule at the point `root`.
            let value = values
                .iter()
                .rev()
                .fold(Scalar::ZERO, |sum, value| sum * root + value);
            root *= omega;
            value
        })
        .collect()
}

/// The coefficients of h = (a·b − c) / (X^n − 1), n − 1 of them in natural order.
///
/// Interpolates the three vectors, evaluates them on the coset, divides there, interpolates: seven transforms.
pub(crate) fn quotient_naive(evaluations: &Evaluations, log_domain: u32) -> Vec<Scalar> {
    let size = 1_usize << log_domain;
    let omega = root_of_unity(log_domain);
    let omega_inverse = invert(omega);
    let generator = Scalar::MULTIPLICATIVE_GENERATOR;
    let on_coset = |values: &[Scalar]| {
        let mut values = values.to_vec();
        values.resize(size, Scalar::ZERO);
        let mut coefficients = transform_naive(&values, omega_inverse);
        scale_by_powers(&mut coefficients, inverse_size(log_domain), generator);
        transform_naive(&coefficients, omega)
    };
    let (a, b, c) = (
        on_coset(&evaluations.a),
        on_coset(&evaluations.b),
        on_coset(&evaluations.c),
    );
    let vanishing = invert(generator.pow_vartime([size as u64]) - Scalar::ONE);
    let h: Vec<Scalar> = a
        .iter()
        .zip(&b)
        .zip(&c)
        .map(|((a, b), c)| (a * b - c) * vanishing)
        .collect();
    let mut coefficients = transform_naive(&h, omega_inverse);
    scale_by_powers(
        &mut coefficients,
        inverse_size(log_domain),
        invert(generator),
    );
    coefficients.truncate(size - 1);
    coefficients
}

/// Multiplies entry i by factor·base^i.
fn scale_by_powers(values: &mut [Scalar], mut factor: Scalar, base: Scalar) {
    for value in values {
        *value *= factor;
        factor *= base;
    }
}
