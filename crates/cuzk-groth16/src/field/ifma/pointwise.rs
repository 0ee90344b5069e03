//! Products and sums of vectors of scalars, entry by entry, in memory.

use blstrs::Scalar;

use super::Ifma;
use super::scalar::{
    GROUP, broadcast, load_scalars, mul, mul_raw, reduce, scaled, store_scalars, sub,
};

/// `values[i]` times `factors[i]`, for slices of equal length, a multiple of eight.
pub(crate) fn multiply_each(_: Ifma, values: &mut [Scalar], factors: &[Scalar]) {
    // SAFETY: the `Ifma` value proves that the processor has the instructions.
    unsafe { multiply_each_detected(values, factors) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn multiply_each_detected(values: &mut [Scalar], factors: &[Scalar]) {
    // A product of two scalars in memory lacks 2^4; 16·2^260 gives it back.
    let correction = broadcast(scaled(Scalar::from(16)));
    let vectors = values
        .chunks_exact_mut(GROUP)
        .zip(factors.chunks_exact(GROUP));
    for (values, factors) in vectors {
        let product = mul(&load_scalars(values), &load_scalars(factors));
        store_scalars(&reduce(&mul_raw(&product, &correction)), values);
    }
}

/// `values[i]` times `common`·`powers[i]`, for slices of equal length, a multiple of eight.
pub(crate) fn scale_each(_: Ifma, values: &mut [Scalar], powers: &[Scalar], common: Scalar) {
    // SAFETY: the `Ifma` value proves that the processor has the instructions.
    unsafe { scale_each_detected(values, powers, common) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn scale_each_detected(values: &mut [Scalar], powers: &[Scalar], common: Scalar) {
    let common = broadcast(scaled(scaled(common)));
    let vectors = values
        .chunks_exact_mut(GROUP)
        .zip(powers.chunks_exact(GROUP));
    for (values, powers) in vectors {
        let factor = mul(&load_scalars(powers), &common);
        store_scalars(&reduce(&mul_raw(&load_scalars(values), &factor)), values);
    }
}

/// `a[i]`·`common`·`powers[i]` − `c[i]`·`factor` into `out[i]`, for slices of equal length, a multiple of eight.
pub(crate) fn scaled_difference(
    _: Ifma,
    [a, c, powers]: [&[Scalar]; 3],
    common: Scalar,
    factor: Scalar,
    out: &mut [Scalar],
) {
    // SAFETY: the `Ifma` value proves that the processor has the instructions.
    unsafe { scaled_difference_detected([a, c, powers], common, factor, out) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn scaled_difference_detected(
    [a, c, powers]: [&[Scalar]; 3],
    common: Scalar,
    factor: Scalar,
    out: &mut [Scalar],
) {
    let common = broadcast(scaled(scaled(common)));
    let factor = broadcast(scaled(factor));
    let vectors = a
        .chunks_exact(GROUP)
        .zip(c.chunks_exact(GROUP))
        .zip(powers.chunks_exact(GROUP))
        .zip(out.chunks_exact_mut(GROUP));
    for (((a, c), powers), out) in vectors {
        let power = mul(&load_scalars(powers), &common);
        let left = mul_raw(&load_scalars(a), &power);
        let right = mul_raw(&load_scalars(c), &factor);
        store_scalars(&reduce(&sub(&left, &right, 2)), out);
    }
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::*;

    /// Values at the edges of the range and some others.
    fn samples(seed: u64) -> Vec<Scalar> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut samples = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2)];
        samples.resize_with(24, || Scalar::random(&mut rng));
        samples.rotate_left(seed as usize);
        samples
    }

    #[test]
    fn products_and_differences_are_those_of_blst() {
        let Some(ifma) = Ifma::detect() else { return };
        for seed in 0..24 {
            let (a, b, c) = (samples(0), samples(seed), samples(3));
            let (common, factor) = (samples(5)[seed as usize], samples(6)[seed as usize]);

            let mut product = a.clone();
            multiply_each(ifma, &mut product, &b);
            assert!(
                product
                    .iter()
                    .zip(a.iter().zip(&b))
                    .all(|(p, (a, b))| *p == a * b)
            );

            let mut product = a.clone();
            scale_each(ifma, &mut product, &b, common);
            let expected = a.iter().zip(&b).map(|(a, b)| a * b * common);
            assert!(product.iter().copied().eq(expected));

            let mut out = vec![Scalar::ZERO; a.len()];
            scaled_difference(ifma, [&a, &c, &b], common, factor, &mut out);
            let expected = (0..a.len()).map(|i| a[i] * b[i] * common - c[i] * factor);
            assert!(out.iter().copied().eq(expected));
        }
    }

    #[test]
    fn a_difference_of_equals_is_stored_as_zero() {
        let Some(ifma) = Ifma::detect() else { return };
        let a = samples(1);
        let ones = vec![Scalar::ONE; a.len()];
        let mut out = ones.clone();
        scaled_difference(ifma, [&a, &a, &ones], Scalar::ONE, Scalar::ONE, &mut out);
        assert!(out.iter().all(|value| *value == Scalar::ZERO));
    }
}
