//! Proofs are made in the exponent: with α, β, γ, δ known, C = (A·B − αβ − Σ xᵢ·icᵢ·γ) / δ satisfies the equation.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use proptest::prelude::*;

use super::*;
use crate::verifying_key::VerifyingKey;

const ALPHA: u64 = 1_000_003;
const BETA: u64 = 2_000_003;
const GAMMA: u64 = 3_000_017;
const DELTA: u64 = 4_000_037;

fn g1(k: Scalar) -> G1Affine {
    (G1Projective::generator() * k).to_affine()
}

fn g2(k: Scalar) -> G2Affine {
    (G2Projective::generator() * k).to_affine()
}

/// The i-th input's scalar behind its `ic` point.
fn ic_scalar(index: usize) -> Scalar {
    Scalar::from(77 + 13 * index as u64)
}

fn key(num_public_inputs: usize) -> VerifyingKey {
    VerifyingKey {
        alpha_g1: g1(ALPHA.into()),
        beta_g1: g1(BETA.into()),
        beta_g2: g2(BETA.into()),
        gamma_g2: g2(GAMMA.into()),
        delta_g1: g1(DELTA.into()),
        delta_g2: g2(DELTA.into()),
        ic: (0..=num_public_inputs).map(|i| g1(ic_scalar(i))).collect(),
    }
}

fn prove(inputs: &[Scalar], a: u64, b: u64) -> Proof {
    let (a, b) = (Scalar::from(a), Scalar::from(b));
    let sum = inputs
        .iter()
        .enumerate()
        .fold(ic_scalar(0), |sum, (i, x)| sum + ic_scalar(i + 1) * x);
    let rest = a * b - Scalar::from(ALPHA) * Scalar::from(BETA) - sum * Scalar::from(GAMMA);
    let delta_inverse = Scalar::from(DELTA).invert().expect("not zero");
    Proof {
        a: g1(a),
        b: g2(b),
        c: g1(rest * delta_inverse),
    }
}

fn inputs(count: usize, seed: u64) -> Vec<Scalar> {
    (0..count as u64)
        .map(|i| match (i + seed) % 5 {
            0 => Scalar::ZERO,
            1 => Scalar::ONE,
            2 => -Scalar::from(i + 1),
            _ => Scalar::from(seed + i).square(),
        })
        .collect()
}

fn prepared(num_public_inputs: usize) -> PreparedVerifyingKey {
    PreparedVerifyingKey::new(&key(num_public_inputs))
}

#[test]
fn an_empty_batch_is_refused() {
    let none: [(Vec<Scalar>, Proof); 0] = [];
    assert!(matches!(
        verify_batch(&prepared(1), &none),
        Err(VerifyError::NoProofs)
    ));
}

#[test]
fn another_number_of_inputs_is_refused_with_both_numbers() {
    let key = prepared(3);
    let good = inputs(3, 1);
    let proof = prove(&good, 5, 7);
    for found in [0, 2, 4] {
        let wrong = inputs(found, 1);
        assert!(matches!(
            verify(&key, &wrong, &proof),
            Err(VerifyError::NumInputs { proof: 0, expected: 3, found: f }) if f == found
        ));
        let batch = [(good.clone(), proof), (wrong, proof)];
        assert!(matches!(
            verify_batch(&key, &batch),
            Err(VerifyError::NumInputs { proof: 1, expected: 3, found: f }) if f == found
        ));
    }
}

#[test]
fn a_circuit_without_public_inputs_is_verified() {
    let key = prepared(0);
    assert!(verify(&key, &[], &prove(&[], 5, 7)).is_ok());
    let mut bad = prove(&[], 5, 7);
    bad.c = bad.a;
    assert!(verify(&key, &[], &bad).is_err());
}

#[test]
fn numbers_of_inputs_of_every_window_size_are_verified() {
    for count in [1, 7, 8, 9, 16, 17, 33, 200, 5000] {
        let key = prepared(count);
        let inputs = inputs(count, 3);
        let proof = prove(&inputs, 11, 13);
        verify(&key, &inputs, &proof).expect("good proof");
        let mut wrong = inputs.clone();
        wrong[count - 1] += Scalar::ONE;
        assert!(verify(&key, &wrong, &proof).is_err(), "{count} inputs");
    }
}

#[test]
fn all_inputs_zero_are_verified() {
    let key = prepared(40);
    let inputs = vec![Scalar::ZERO; 40];
    verify(&key, &inputs, &prove(&inputs, 3, 5)).expect("good proof");
}

#[test]
fn each_changed_element_is_refused() {
    let key = prepared(2);
    let inputs = inputs(2, 9);
    let good = prove(&inputs, 21, 22);
    verify(&key, &inputs, &good).expect("good proof");
    let changed = [
        Proof {
            a: (-good.a),
            ..good
        },
        Proof {
            b: (-good.b),
            ..good
        },
        Proof {
            c: (-good.c),
            ..good
        },
        Proof { a: good.c, ..good },
        Proof {
            a: G1Affine::default(),
            ..good
        },
        Proof {
            b: G2Affine::default(),
            ..good
        },
        Proof {
            c: G1Affine::default(),
            ..good
        },
    ];
    for proof in changed {
        assert!(matches!(
            verify(&key, &inputs, &proof),
            Err(VerifyError::Invalid { count: 1, .. })
        ));
    }
}

#[test]
fn a_bad_batch_names_exactly_the_bad_proofs() {
    let key = prepared(4);
    let mut batch: Vec<(Vec<Scalar>, Proof)> = (0..10)
        .map(|i| {
            let inputs = inputs(4, i);
            let proof = prove(&inputs, 100 + i, 200 + i);
            (inputs, proof)
        })
        .collect();
    verify_batch(&key, &batch).expect("ten good proofs");
    batch[3].1.c = batch[4].1.c;
    batch[8].0[0] += Scalar::ONE;
    match verify_batch(&key, &batch) {
        Err(VerifyError::Invalid { failing, count }) => {
            assert_eq!((failing, count), (vec![3, 8], 10));
        }
        other => panic!("unexpected {other:?}"),
    }
}

#[test]
fn errors_of_two_proofs_that_cancel_are_found() {
    // Adding a point to one C and taking it from another leaves the product of the plain equations unchanged.
    let key = prepared(1);
    let input = inputs(1, 2);
    let mut one = prove(&input, 5, 6);
    let mut two = prove(&input, 7, 8);
    let shift = G1Projective::generator();
    one.c = (shift + one.c).to_affine();
    two.c = (-shift + two.c).to_affine();
    let batch = [(input.clone(), one), (input, two)];
    assert!(matches!(
        verify_batch(&key, &batch),
        Err(VerifyError::Invalid { failing, .. }) if failing == [0, 1]
    ));
}

#[test]
fn sums_of_multiples_equal_separate_multiplications() {
    for count in [0, 1, 2, 8, 100, 1000] {
        let mut scalars = inputs(count, 4);
        if let [first, .., last] = &mut scalars[..] {
            (*first, *last) = (-Scalar::ONE, -Scalar::from(2).invert().expect("not zero"));
        }
        // Equal points make equal buckets, opposite ones cancel.
        let points: Vec<G1Affine> = (0..count as u64)
            .map(|i| {
                let point = g1(Scalar::from(1 + i / 3));
                if i % 3 == 0 { -point } else { point }
            })
            .collect();
        let separate: G1Projective = points.iter().zip(&scalars).map(|(p, s)| p * s).sum();
        assert_eq!(
            sum_of_multiples(&points, &scalars),
            separate,
            "{count} points"
        );
    }
}

#[test]
fn bits_are_cut_at_any_place() {
    let mut number = [0; 32];
    number[30] = 0b1010_0000;
    number[31] = 0b0111_0011;
    assert_eq!(bits_of(&number, 0, 13), 0);
    assert_eq!(bits_of(&number, 245, 5), 0b1_1101);
    assert_eq!(bits_of(&number, 248, 13), 0b0111_0011);
    assert_eq!(bits_of(&number, 254, 13), 1);
}

#[test]
fn factors_are_distinct_and_not_zero() {
    let factors = random_factors(100).expect("randomness");
    for (index, factor) in factors.iter().enumerate() {
        assert_ne!(*factor, Scalar::ZERO);
        assert!(!factors[..index].contains(factor));
    }
    let expected = Scalar::from(1 << 63).double().double() + Scalar::from(5);
    assert_eq!(scalar_of((1 << 65) + 5), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn single_and_batched_verification_agree(bad in proptest::collection::vec(any::<bool>(), 2..6), seed in 0_u64..1000) {
        let key = prepared(2);
        let batch: Vec<(Vec<Scalar>, Proof)> = bad.iter().zip(0..).map(|(bad, i)| {
            let mut inputs = inputs(2, seed + i);
            let proof = prove(&inputs, seed + 2, i + 3);
            if *bad {
                inputs[0] += Scalar::ONE;
            }
            (inputs, proof)
        }).collect();
        let expected: Vec<usize> = (0..bad.len()).filter(|i| bad[*i]).collect();
        match verify_batch(&key, &batch) {
            Ok(()) => prop_assert!(expected.is_empty()),
            Err(VerifyError::Invalid { failing, .. }) => prop_assert_eq!(failing, expected),
            Err(other) => prop_assert!(false, "{}", other),
        }
        for ((inputs, proof), bad) in batch.iter().zip(&bad) {
            prop_assert_eq!(verify(&key, inputs, proof).is_err(), *bad);
        }
    }
}
