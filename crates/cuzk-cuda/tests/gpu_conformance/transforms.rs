//! Transforms and the quotient.

use blstrs::Scalar;
use cuzk_cuda::{
    CudaError, Device, DeviceBuffer, Finish, MAX_LOG_SIZE, Quotient, RawScalar, Transform,
    TransformKind, reverse_order,
};
use ff::{Field, PrimeField};
use rayon::prelude::*;

use crate::{device, many_random_scalars, random_scalars};

fn root_of_unity(log_size: u32) -> Scalar {
    (log_size..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
}

fn naive_evaluations(coefficients: &[Scalar], shift: Scalar) -> Vec<Scalar> {
    let root = root_of_unity(coefficients.len().ilog2());
    let mut x = shift;
    (0..coefficients.len())
        .map(|_| {
            let value = coefficients
                .iter()
                .rev()
                .fold(Scalar::ZERO, |sum, c| sum * x + c);
            x *= root;
            value
        })
        .collect()
}

fn reversed<T: Copy>(values: &[T]) -> Vec<T> {
    let log = values.len().ilog2();
    (0..values.len())
        .map(|i| {
            if log == 0 {
                values[i]
            } else {
                values[i.reverse_bits() >> (usize::BITS - log)]
            }
        })
        .collect()
}

fn download(device: &Device, data: &DeviceBuffer<RawScalar>) -> Vec<Scalar> {
    let raw = device.download_scalars(data).unwrap();
    raw.into_par_iter().map(RawScalar::to_scalar).collect()
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_transform_of_another_length_is_refused() {
    let device = device();
    let transform = Transform::new(&device, 4, TransformKind::Inverse).unwrap();
    let mut data = device.upload_scalars(&random_scalars(8, 1)).unwrap();
    let got = transform.run(&device, &mut data, Finish::Plain);
    assert_eq!(
        got,
        Err(CudaError::Length {
            what: "data",
            got: 8,
            expected: 16
        })
    );
    assert!(matches!(
        Transform::new(&device, 29, TransformKind::Inverse),
        Err(CudaError::TransformSize {
            log_size: 29,
            max: 28
        })
    ));
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_forward_transforms_evaluate() {
    let device = device();
    for log_size in 0..=11 {
        let mut coefficients = random_scalars(1 << log_size, u64::from(log_size));
        for (i, value) in coefficients.iter_mut().enumerate() {
            match i % 8 {
                0 => *value = -Scalar::ONE,
                1 => *value = Scalar::ZERO,
                2 => *value = Scalar::ONE,
                _ => {}
            }
        }
        for (kind, shift) in [
            (TransformKind::Forward, Scalar::ONE),
            (
                TransformKind::CosetForward,
                Scalar::MULTIPLICATIVE_GENERATOR,
            ),
        ] {
            let transform = Transform::new(&device, log_size, kind).unwrap();
            let mut data = device.upload_scalars(&reversed(&coefficients)).unwrap();
            transform.run(&device, &mut data, Finish::Plain).unwrap();
            assert_eq!(
                download(&device, &data),
                naive_evaluations(&coefficients, shift),
                "2^{log_size} {kind:?}"
            );
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_every_size_round_trips() {
    let device = device();
    for log_size in 0..=MAX_LOG_SIZE {
        let values = many_random_scalars(1 << log_size, 7);
        let scale = Scalar::from(1_u64 << log_size).invert().unwrap();
        for (inverse, forward) in [
            (TransformKind::Inverse, TransformKind::Forward),
            (TransformKind::CosetInverse, TransformKind::CosetForward),
        ] {
            let mut data = device.upload_scalars(&values).unwrap();
            let inverse = Transform::new(&device, log_size, inverse).unwrap();
            inverse
                .run(&device, &mut data, Finish::Scale(scale))
                .unwrap();
            let forward = Transform::new(&device, log_size, forward).unwrap();
            forward.run(&device, &mut data, Finish::Plain).unwrap();
            assert!(
                download(&device, &data) == values,
                "2^{log_size} {inverse:?}"
            );
        }
    }
}

/// The value of a polynomial, by all cores.
fn value(coefficients: &[Scalar], x: Scalar) -> Scalar {
    const CHUNK: usize = 1 << 16;
    let chunks = coefficients.par_chunks(CHUNK).enumerate();
    let values = chunks.map(|(number, chunk)| {
        let horner = chunk.iter().rev().fold(Scalar::ZERO, |sum, c| sum * x + c);
        horner * x.pow_vartime([(number * CHUNK) as u64])
    });
    values.sum()
}

/// At some points of the domain, in its order, a large transform gives the polynomial's values.
#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_large_forward_transforms_evaluate() {
    let device = device();
    for log_size in [25, 26, 27] {
        let n = 1_usize << log_size;
        let coefficients = many_random_scalars(n, 21);
        let (kind, shift) = (
            TransformKind::CosetForward,
            Scalar::MULTIPLICATIVE_GENERATOR,
        );
        let mut data = device.upload_scalars(&coefficients).unwrap();
        reverse_order(&device, &mut data).unwrap();
        let transform = Transform::new(&device, log_size, kind).unwrap();
        transform.run(&device, &mut data, Finish::Plain).unwrap();
        let values = download(&device, &data);
        let root = root_of_unity(log_size);
        for place in [0, 1, n / 2 + 3, n / 3, n - 1] {
            let x = shift * root.pow_vartime([place as u64]);
            assert_eq!(
                values[place],
                value(&coefficients, x),
                "2^{log_size}, {place}"
            );
        }
    }
}

/// At a random point, the coefficients of a large inverse transform give what barycentric interpolation gives.
#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_large_inverse_transforms_interpolate() {
    let device = device();
    for log_size in [19, 20, 21, 23] {
        let n = 1_usize << log_size;
        let values = random_scalars(n, 11);
        let transform = Transform::new(&device, log_size, TransformKind::Inverse).unwrap();
        let mut data = device.upload_scalars(&values).unwrap();
        transform.run(&device, &mut data, Finish::Plain).unwrap();
        reverse_order(&device, &mut data).unwrap();
        let x = random_scalars(1, 12)[0];
        let horner = value(&download(&device, &data), x);
        let root = root_of_unity(log_size);
        // n P(x) = (x^n - 1) sum of values[i] root^i / (x - root^i); the denominators are inverted together.
        let roots: Vec<Scalar> = std::iter::successors(Some(Scalar::ONE), |w| Some(w * root))
            .take(n)
            .collect();
        let mut inverses: Vec<Scalar> = roots.iter().map(|w| x - w).collect();
        let mut scratch = vec![Scalar::ZERO; n];
        ff::BatchInverter::invert_with_external_scratch(&mut inverses, &mut scratch);
        let sum: Scalar = values
            .iter()
            .zip(&roots)
            .zip(&inverses)
            .map(|((v, w), i)| v * w * i)
            .sum();
        assert_eq!(
            horner,
            (x.pow_vartime([n as u64]) - Scalar::ONE) * sum,
            "2^{log_size}"
        );
    }
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_the_quotient_times_the_vanishing_polynomial_is_the_difference() {
    let device = device();
    for log_size in [0, 1, 2, 3, 5, 10, 13, 19, 21, 27] {
        check_quotient(&device, log_size);
    }
}

pub(crate) fn check_quotient(device: &Device, log_size: u32) {
    let n = 1_usize << log_size;
    let a = many_random_scalars(n, 1);
    let b = many_random_scalars(n, 2);
    let c: Vec<Scalar> = a.par_iter().zip(&b).map(|(a, b)| a * b).collect();
    let quotient = Quotient::new(device, log_size).unwrap();
    let mut on_device = [&a, &b, &c].map(|v| device.upload_scalars(v).unwrap());
    let [da, db, dc] = &mut on_device;
    quotient.run(device, da, db, dc).unwrap();
    reverse_order(device, dc).unwrap();
    let h = download(device, dc);
    assert_eq!(
        h[n - 1],
        Scalar::ZERO,
        "h has degree at most n - 2, n = 2^{log_size}"
    );

    // A(x) B(x) - C(x) = h(x) (x^n - 1) at a random x.
    let x = random_scalars(1, 3)[0];
    let scale = Scalar::from(n as u64).invert().unwrap();
    let inverse = Transform::new(device, log_size, TransformKind::Inverse).unwrap();
    let at_x = |values: &[Scalar]| {
        let mut data = device.upload_scalars(values).unwrap();
        inverse
            .run(device, &mut data, Finish::Scale(scale))
            .unwrap();
        reverse_order(device, &mut data).unwrap();
        value(&download(device, &data), x)
    };
    let h_at_x = value(&h, x);
    let left = at_x(&a) * at_x(&b) - at_x(&c);
    assert_eq!(
        left,
        h_at_x * (x.pow_vartime([n as u64]) - Scalar::ONE),
        "n = 2^{log_size}"
    );
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_repeated_transforms_are_bit_equal() {
    let device = device();
    let transform = Transform::new(&device, 15, TransformKind::CosetInverse).unwrap();
    let values = random_scalars(1 << 15, 13);
    let mut expected = None;
    for repeat in 0..1000 {
        let mut data = device.upload_scalars(&values).unwrap();
        transform.run(&device, &mut data, Finish::Plain).unwrap();
        let got = device.download_scalars(&data).unwrap();
        assert!(
            *expected.get_or_insert_with(|| got.clone()) == got,
            "repeat {repeat}"
        );
    }
}
