//! The quotient h = (a·b − c) / (X^n − 1) by six transforms.
//!
//! On the coset X^n is the constant k = g^n, so the polynomial of degree below n that agrees there with a·b is
//! c + (k − 1)·h. Therefore h = (inverse coset transform of a·b − inverse transform of c) / (k − 1), coefficient by
//! coefficient, and c never goes to the coset: two transforms for a, two for b, one for a·b, one for c.

use blstrs::Scalar;
use cuzk_r1cs::Evaluations;
use ff::{Field, PrimeField};
use rayon::prelude::*;

use super::{Twiddles, inverse_size, reverse, root_of_unity, to_natural, to_reversed};

/// Elements per task of a pointwise step.
const LOG_TASK: u32 = 10;

/// The coefficients of h, n − 1 of them in natural order, n being 2^`log_domain`.
///
/// The row values must satisfy a·b = c; if they do not, the result is not a quotient and proofs made with it do not
/// verify. Runs on the threads of the current pool; holds three vectors of n scalars and 64 MiB of factors.
pub(crate) fn quotient(evaluations: Evaluations, log_domain: u32) -> Vec<Scalar> {
    let size = 1_usize << log_domain;
    let omega = root_of_unity(log_domain);
    let generator = Scalar::MULTIPLICATIVE_GENERATOR;
    let by_size = inverse_size(log_domain);
    let inverse = Twiddles::new(invert(omega), log_domain);
    let Evaluations {
        mut a,
        mut b,
        mut c,
    } = evaluations;
    for values in [&mut a, &mut b, &mut c] {
        values.resize(size, Scalar::ZERO);
        to_reversed(values, &inverse);
    }
    let forward = Twiddles::new(omega, log_domain);
    for values in [&mut a, &mut b] {
        for_reversed_powers(values, by_size, generator, |_, value, power| {
            *value *= power;
        });
        to_natural(values, &forward);
    }
    drop(forward);
    a.par_iter_mut()
        .zip(b.par_iter())
        .with_min_len(1 << LOG_TASK)
        .for_each(|(a, b)| *a *= b);
    drop(b);
    to_reversed(&mut a, &inverse);
    drop(inverse);

    let by_vanishing = invert(generator.pow_vartime([size as u64]) - Scalar::ONE) * by_size;
    for_reversed_powers(
        &mut a,
        by_vanishing,
        invert(generator),
        |position, value, power| *value = *value * power - c[position] * by_vanishing,
    );
    drop(c);
    permute_reversed(&mut a);
    a.truncate(size - 1);
    a
}

/// Calls `work` with each position, its value, and factor·base^rev(position).
fn for_reversed_powers(
    values: &mut [Scalar],
    factor: Scalar,
    base: Scalar,
    work: impl Fn(usize, &mut Scalar, Scalar) + Sync,
) {
    let bits = values.len().trailing_zeros();
    let low_bits = bits.min(LOG_TASK);
    let high_bits = bits - low_bits;
    let step = base.pow_vartime([1_u64 << high_bits]);
    let low: Vec<Scalar> = (0..1_usize << low_bits)
        .map(|index| step.pow_vartime([reverse(index, low_bits) as u64]))
        .collect();
    values
        .par_chunks_mut(1 << low_bits)
        .enumerate()
        .for_each(|(chunk, values)| {
            let high = factor * base.pow_vartime([reverse(chunk, high_bits) as u64]);
            for ((index, value), low) in values.iter_mut().enumerate().zip(&low) {
                work((chunk << low_bits) + index, value, high * low);
            }
        });
}

/// Moves every entry to the position with the reversed index.
fn permute_reversed(values: &mut [Scalar]) {
    let bits = values.len().trailing_zeros();
    for index in 0..values.len() {
        let other = reverse(index, bits);
        if index < other {
            values.swap(index, other);
        }
    }
}

fn invert(value: Scalar) -> Scalar {
    value
        .invert()
        .expect("roots, the generator, and values of X^n - 1 off the domain are not zero")
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::super::quotient_naive;
    use super::*;

    fn satisfied(num_rows: usize, seed: u64) -> Evaluations {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let a: Vec<Scalar> = (0..num_rows).map(|_| Scalar::random(&mut rng)).collect();
        let b: Vec<Scalar> = (0..num_rows).map(|_| Scalar::random(&mut rng)).collect();
        let c = a.iter().zip(&b).map(|(a, b)| a * b).collect();
        Evaluations { a, b, c }
    }

    #[test]
    fn six_transforms_give_the_quotient_of_seven() {
        for (num_rows, log_domain) in [
            (1, 0),
            (2, 1),
            (3, 2),
            (8, 3),
            (100, 7),
            (1024, 10),
            (1025, 11),
        ] {
            let evaluations = satisfied(num_rows, num_rows as u64);
            assert_eq!(
                quotient(evaluations.clone(), log_domain),
                quotient_naive(&evaluations, log_domain),
                "{num_rows} rows"
            );
        }
    }

    #[test]
    fn the_quotient_times_the_vanishing_polynomial_is_the_product_at_a_random_point() {
        let log_domain = 14;
        let evaluations = satisfied(10_000, 3);
        let size = 1_usize << log_domain;
        let point = Scalar::from(0x1234_5678_9abc_def1);
        let omega = root_of_unity(log_domain);
        // Values at `point` of the interpolating polynomials, by Lagrange's formula.
        let vanishing = point.pow_vartime([size as u64]) - Scalar::ONE;
        let at_point = |values: &[Scalar]| {
            let mut root = Scalar::ONE;
            let mut sum = Scalar::ZERO;
            for value in values {
                sum += value * root * invert(point - root);
                root *= omega;
            }
            sum * vanishing * inverse_size(log_domain)
        };
        let product =
            at_point(&evaluations.a) * at_point(&evaluations.b) - at_point(&evaluations.c);
        let h = quotient(evaluations, log_domain);
        assert_eq!(h.len(), size - 1);
        let h_at_point = h
            .iter()
            .rev()
            .fold(Scalar::ZERO, |sum, value| sum * point + value);
        assert_eq!(h_at_point * vanishing, product);
    }
}
