//! The quotient h = (a·b − c) / (X^n − 1) by six transforms.
//!
//! On the coset X^n is the constant k = g^n, so the polynomial of degree below n that agrees there with a·b is
//! c + (k − 1)·h. Therefore h = (inverse coset transform of a·b − inverse transform of c) / (k − 1), coefficient by
//! coefficient, and c never goes to the coset: two transforms for a, two for b, one for a·b, one for c.

use blstrs::Scalar;
use cuzk_r1cs::Evaluations;
use ff::{Field, PrimeField};

use super::pointwise::{
    TILE_BYTES, multiply_each, scale_by_reversed_powers, scaled_difference_to_natural,
};
use super::{Network, inverse_size, invert, root_of_unity};
use crate::curve::Arithmetic;

/// The coefficients of h, n − 1 of them in natural order, n being 2^`log_domain`.
///
/// The row values must satisfy a·b = c; if they do not, the result is not a quotient and proofs made with it do not
/// verify. Runs on the threads of the current pool; holds at most three vectors of n scalars and some tables, see
/// [`quotient_bytes`].
pub(crate) fn quotient(
    evaluations: Evaluations,
    log_domain: u32,
    arithmetic: Arithmetic,
) -> Vec<Scalar> {
    let size = 1_usize << log_domain;
    let omega = root_of_unity(log_domain);
    let generator = Scalar::MULTIPLICATIVE_GENERATOR;
    let by_size = inverse_size(log_domain);
    let inverse = Network::new(invert(omega), log_domain, arithmetic);
    let Evaluations {
        mut a,
        mut b,
        mut c,
    } = evaluations;
    for values in [&mut a, &mut b, &mut c] {
        values.resize(size, Scalar::ZERO);
        inverse.to_reversed(values);
    }
    let forward = Network::new(omega, log_domain, arithmetic);
    for values in [&mut a, &mut b] {
        scale_by_reversed_powers(arithmetic, values, by_size, generator);
        forward.to_natural(values);
    }
    drop(forward);
    multiply_each(arithmetic, &mut a, &b);
    drop(b);
    inverse.to_reversed(&mut a);
    drop(inverse);

    let vanishing = generator.pow_vartime([size as u64]) - Scalar::ONE;
    let factor = invert(vanishing) * by_size;
    let mut h = scaled_difference_to_natural(arithmetic, &a, &c, factor, invert(generator));
    h.truncate(size - 1);
    h
}

/// Upper estimate of the bytes that [`quotient`] holds, its operands included.
pub(crate) fn quotient_bytes(log_domain: u32, threads: usize, arithmetic: Arithmetic) -> usize {
    const SCALAR: usize = size_of::<Scalar>();
    let vectors = (3 * SCALAR) << log_domain;
    let tables = 2 * Network::table_bytes(log_domain, arithmetic);
    vectors + tables + threads * TILE_BYTES
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
            let expected = quotient_naive(&evaluations, log_domain);
            for arithmetic in [Arithmetic::Fastest, Arithmetic::Portable] {
                let found = quotient(evaluations.clone(), log_domain, arithmetic);
                assert_eq!(found, expected, "{num_rows} rows, {arithmetic:?}");
            }
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
        let h = quotient(evaluations, log_domain, Arithmetic::Fastest);
        assert_eq!(h.len(), size - 1);
        let h_at_point = h
            .iter()
            .rev()
            .fold(Scalar::ZERO, |sum, value| sum * point + value);
        assert_eq!(h_at_point * vanishing, product);
    }

    /// bellperson's computation of the same coefficients: seven transforms.
    fn bellperson_quotient(evaluations: Evaluations) -> Vec<Scalar> {
        use bellperson::domain::EvaluationDomain;
        let worker = ec_gpu_gen::threadpool::Worker::new();
        let kernel = &mut None;
        let [mut a, mut b, mut c] = [evaluations.a, evaluations.b, evaluations.c]
            .map(|values| EvaluationDomain::from_coeffs(values).expect("below 2^32 rows"));
        EvaluationDomain::ifft_many(&mut [&mut a, &mut b, &mut c], &worker, kernel)
            .expect("no device is involved");
        EvaluationDomain::coset_fft_many(&mut [&mut a, &mut b, &mut c], &worker, kernel)
            .expect("no device is involved");
        a.mul_assign(&worker, &b);
        a.sub_assign(&worker, &c);
        a.divide_by_z_on_coset(&worker);
        a.icoset_fft(&worker, kernel)
            .expect("no device is involved");
        let mut h = a.into_coeffs();
        h.truncate(h.len() - 1);
        h
    }

    #[test]
    fn the_estimate_grows_with_the_domain_and_covers_the_vectors() {
        for arithmetic in [Arithmetic::Fastest, Arithmetic::Portable] {
            let bytes: Vec<usize> = (0..30)
                .map(|log_domain| quotient_bytes(log_domain, 2, arithmetic))
                .collect();
            assert!(bytes.is_sorted());
            assert!((0..30).all(|log_domain| bytes[log_domain] >= 96 << log_domain));
            // Tables of factors stop growing.
            assert!(bytes[29] - (96 << 29) < 160 << 20);
        }
    }

    #[test]
    fn the_coefficients_are_those_of_bellperson() {
        for (num_rows, log_domain) in [(2, 1), (5, 3), (5000, 13)] {
            let evaluations = satisfied(num_rows, 4);
            let found = quotient(evaluations.clone(), log_domain, Arithmetic::Fastest);
            assert!(found == bellperson_quotient(evaluations), "{num_rows} rows");
        }
    }

    #[test]
    #[ignore = "measures the time of a quotient of 2^20 rows beside bellperson's"]
    fn speed_beside_bellperson() {
        let evaluations = satisfied(1 << 20, 5);
        let time = |compute: &dyn Fn(Evaluations) -> Vec<Scalar>| {
            (0..3)
                .map(|_| {
                    let evaluations = evaluations.clone();
                    let start = std::time::Instant::now();
                    assert_eq!(compute(evaluations).len(), (1 << 20) - 1);
                    start.elapsed().as_secs_f64()
                })
                .fold(f64::INFINITY, f64::min)
        };
        let theirs = time(&bellperson_quotient);
        for arithmetic in [Arithmetic::Fastest, Arithmetic::Portable] {
            let ours = time(&|evaluations| quotient(evaluations, 20, arithmetic));
            let line = format!(
                "quotient of 2^20 rows by {}: {ours:.3} s, x{:.2} of bellperson's {theirs:.3} s\n",
                arithmetic.name(),
                ours / theirs,
            );
            std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).expect("stderr");
        }
    }
}
