//! Both kernels against the oracle.

use std::sync::Arc;

use blstrs::Scalar;
use cuzk_r1cs::{PackedWitness, VariableKinds, Witness};
use ff::Field;
use group::Group;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use rayon::ThreadPool;

use super::*;
use crate::curve::{Affine, Arithmetic, CurveField};
use crate::field::{Fp, Fp2};

fn pool(threads: usize) -> ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a pool of a few threads")
}

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Multiples g, 2g, 4g + g, …: distinct points in linear time.
fn distinct_points<F: CurveField>(count: usize) -> Vec<Affine<F>> {
    let mut point = F::Projective::random(rng(count as u64));
    (0..count)
        .map(|_| {
            point = point.double() + F::Projective::generator();
            Affine::from_projective(&point)
        })
        .collect()
}

fn random_scalars(count: usize, seed: u64) -> Vec<Scalar> {
    let mut rng = rng(seed);
    (0..count).map(|_| Scalar::random(&mut rng)).collect()
}

fn settings(arithmetic: Arithmetic, bits: Option<u32>) -> MsmSettings {
    MsmSettings {
        arithmetic,
        window_bits: bits.map(|bits| WindowBits::new(bits).expect("a valid width")),
    }
}

fn check<F: CurveField>(points: &[Affine<F>], scalars: &[Scalar], bits: Option<u32>) {
    let bases = EncodedBases::from_points(points);
    let segments = [ScalarSegment::all(scalars)];
    let expected = msm_naive(&bases, &segments).expect("operands of equal length");
    for arithmetic in [Arithmetic::Fastest, Arithmetic::Portable] {
        for threads in [1, 3] {
            let found = msm(
                &pool(threads),
                &bases,
                &segments,
                settings(arithmetic, bits),
            );
            assert_eq!(
                found,
                Ok(expected),
                "{} {arithmetic:?}, {threads} threads",
                F::NAME
            );
        }
    }
}

/// The scalar at an index.
type ScalarOf<'a> = Box<dyn Fn(usize) -> Scalar + 'a>;

#[test]
fn sizes_around_powers_of_two_agree_with_the_oracle() {
    for count in [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 127, 128, 129] {
        check::<Fp>(&distinct_points(count), &random_scalars(count, 1), None);
        check::<Fp2>(&distinct_points(count), &random_scalars(count, 2), None);
    }
}

#[test]
fn special_scalars_agree_with_the_oracle() {
    let points = distinct_points::<Fp>(300);
    let uniform = random_scalars(300, 3);
    let half_modulus = (-Scalar::ONE) * Scalar::from(2).invert().expect("two is not zero");
    let kinds: [(&str, ScalarOf<'_>); 9] = [
        ("zero", Box::new(|_| Scalar::ZERO)),
        ("one", Box::new(|_| Scalar::ONE)),
        ("minus one", Box::new(|_| -Scalar::ONE)),
        ("equal", Box::new(|_| uniform[0])),
        (
            "half zero",
            Box::new(|i| if i % 2 == 0 { Scalar::ZERO } else { uniform[i] }),
        ),
        ("bits", Box::new(|i| Scalar::from(u64::from(i % 3 == 0)))),
        ("one bucket", Box::new(|i| Scalar::from(2 + (i as u64 & 1)))),
        (
            "around r/2",
            Box::new(|i| half_modulus + Scalar::from(i as u64) - Scalar::from(150)),
        ),
        ("small negative", Box::new(|i| -Scalar::from(i as u64))),
    ];
    for (_, kind) in kinds {
        check(&points, &(0..300).map(kind).collect::<Vec<_>>(), None);
    }
}

#[test]
fn repeated_negated_and_infinite_bases_agree_with_the_oracle() {
    fn bases<F: CurveField>(len: usize) -> Vec<Affine<F>> {
        let distinct = distinct_points::<F>(3);
        (0..len)
            .map(|i| match i % 7 {
                0 => Affine::INFINITY,
                1 | 2 => distinct[0],
                3 => distinct[0].negate_if(true),
                4 => distinct[1],
                5 => distinct[1].negate_if(true),
                _ => distinct[2],
            })
            .collect()
    }
    for len in [2, 9, 200] {
        let equal = vec![Scalar::from(77); len];
        check(&bases::<Fp>(len), &equal, None);
        check(&bases::<Fp2>(len), &equal, None);
        check(&bases::<Fp>(len), &vec![Scalar::ONE; len], None);
        check(&bases::<Fp2>(len), &vec![-Scalar::ONE; len], None);
        check(&bases::<Fp>(len), &random_scalars(len, 5), Some(6));
    }
}

#[test]
fn every_window_width_agrees_with_the_oracle() {
    let points = distinct_points::<Fp>(60);
    let mut scalars = random_scalars(60, 6);
    scalars[0] = -Scalar::from(2);
    scalars[1] = Scalar::from(2);
    for bits in 5..=16 {
        check(&points, &scalars, Some(bits));
    }
}

#[test]
fn windows_outside_the_range_are_refused() {
    for bits in [0, 4, 21, u32::MAX] {
        let refused = MsmError::WindowBits {
            bits,
            min: 5,
            max: 20,
        };
        assert_eq!(WindowBits::new(bits), Err(refused));
    }
}

#[test]
fn many_blocks_and_several_chunks_agree_with_the_sum_of_their_parts() {
    // Σ sᵢ·(tᵢ·g) = (Σ sᵢ·tᵢ)·g with tᵢ = 2^(i mod 40).
    let count = super::plan::CHUNK_POINTS + 3 * super::plan::BLOCK_SCALARS + 5;
    let mut powers = vec![blstrs::G1Projective::generator()];
    for i in 0..39 {
        powers.push(powers[i].double());
    }
    let powers: Vec<Affine<Fp>> = powers.iter().map(Affine::from_projective).collect();
    let points: Vec<Affine<Fp>> = (0..count).map(|i| powers[i % 40]).collect();
    let mut scalars = random_scalars(count, 7);
    for i in 0..count / 9 {
        scalars[9 * i] = Scalar::from(i as u64 & 1);
    }
    let exponent: Scalar = scalars
        .iter()
        .enumerate()
        .map(|(i, scalar)| *scalar * Scalar::from(1 << (i % 40)))
        .sum();
    let bases = EncodedBases::from_points(&points);
    let segments = [ScalarSegment::all(&scalars)];
    let expected = blstrs::G1Projective::generator() * exponent;
    let found = msm(&pool(2), &bases, &segments, MsmSettings::default());
    assert_eq!(found, Ok(expected));
    let one_bucket = vec![Scalar::from(3); count];
    let expected: blstrs::G1Projective = points.iter().map(Affine::to_projective).sum();
    let found = msm(
        &pool(2),
        &bases,
        &[ScalarSegment::all(&one_bucket)],
        MsmSettings::default(),
    );
    assert_eq!(found, Ok(expected * Scalar::from(3)));
}

#[test]
fn a_small_multiplication_does_not_hold_all_its_bases() {
    // A decoded base with its scalar takes 160 bytes or more in every arithmetic, and buckets come on top.
    let settings = MsmSettings::default();
    let scratch = |num_wide| super::scratch_bytes::<Fp>(num_wide, 2, settings);
    let threads = scratch(0);
    for num_wide in [66_000, 91_000, 131_000] {
        assert!(scratch(num_wide) - threads < 160 * num_wide, "{num_wide}");
    }
}

#[test]
fn selected_scalars_take_consecutive_bases() {
    let scalars = random_scalars(200, 8);
    let words = [0x8000_0000_0000_0001, 0, u64::MAX, 0x80];
    let selected: Vec<Scalar> = (0..200)
        .filter(|i| words[i / 64] >> (i % 64) & 1 == 1)
        .map(|i| scalars[i])
        .collect();
    let points = distinct_points::<Fp>(200 + selected.len());
    let bases = EncodedBases::from_points(&points);
    let segment = ScalarSegment::selected(&scalars, &words).expect("four words for 200 scalars");
    let segments = [segment, ScalarSegment::all(&scalars)];
    let joined: Vec<Scalar> = selected.iter().chain(&scalars).copied().collect();
    let expected = msm_naive(&bases, &[ScalarSegment::all(&joined)]);
    assert!(expected.is_ok());
    assert_eq!(
        msm(&pool(2), &bases, &segments, MsmSettings::default()),
        expected
    );
}

#[test]
fn bits_beyond_the_last_scalar_select_nothing() {
    let scalars = random_scalars(3, 9);
    let segment = ScalarSegment::selected(&scalars, &[u64::MAX]).expect("one word");
    assert_eq!(segment.count_selected(), 3);
    assert_eq!(segment.to_scalars(), scalars);
}

#[test]
fn operands_of_different_length_are_refused_with_both_lengths() {
    let bases = EncodedBases::from_points(&distinct_points::<Fp2>(3));
    let scalars = random_scalars(4, 10);
    let refused = MsmError::Length {
        group: "G2",
        bases: 3,
        scalars: 4,
    };
    let segments = [ScalarSegment::all(&scalars)];
    assert_eq!(
        msm(&pool(1), &bases, &segments, MsmSettings::default()),
        Err(refused)
    );
    assert_eq!(msm_naive(&bases, &segments), Err(refused));
    let short = ScalarSegment::selected(&scalars, &[]).err();
    let refused = MsmError::Selection {
        words: 0,
        scalars: 4,
        expected: 1,
    };
    assert_eq!(short, Some(refused));
}

/// Scalars as circuits have them: mostly zeros and ones, some small, some full.
fn scalar_strategy() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        3 => Just(Scalar::ZERO),
        3 => Just(Scalar::ONE),
        1 => Just(-Scalar::ONE),
        2 => any::<u64>().prop_map(Scalar::from),
        4 => any::<u64>().prop_map(|seed| Scalar::random(rng(seed))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_packed_witness_multiplies_as_its_expansion(
        variables in prop::collection::vec((scalar_strategy(), any::<bool>(), any::<bool>()), 1..400),
        start in 0_usize..6,
    ) {
        let bitmap = |flags: Vec<bool>| {
            let mut words = vec![0_u64; flags.len().div_ceil(64)];
            for (index, flag) in flags.into_iter().enumerate() {
                words[index / 64] |= u64::from(flag) << (index % 64);
            }
            words
        };
        let mask = bitmap(variables.iter().map(|&(_, wide, _)| wide).collect());
        let kinds = VariableKinds::from_wide_mask(variables.len(), mask).expect("a mask of all variables");
        let narrowed = |&(scalar, wide, _): &(Scalar, bool, bool)| {
            if wide { scalar } else { Scalar::from(u64::from(scalar != Scalar::ZERO)) }
        };
        let witness = Witness { inputs: vec![Scalar::ONE], aux: variables.iter().map(narrowed).collect() };
        let packed = PackedWitness::pack(&Arc::new(kinds), &witness).expect("booleans are 0 or 1");
        let words = bitmap(variables.iter().map(|&(_, _, selected)| selected).collect());
        let plain = [
            ScalarSegment::selected(&witness.aux, &words).expect("a bit for each variable"),
            ScalarSegment::all(&witness.aux),
        ];
        let segments = [
            ScalarSegment::packed_selected(&packed, &words).expect("a bit for each variable"),
            ScalarSegment::packed(&packed),
        ];
        for (plain, packed) in plain.iter().zip(&segments) {
            let (start, len) = ((64 * start).min(plain.len()), 128);
            let (plain_part, packed_part) = (plain.part(start, len), packed.part(start, len));
            prop_assert_eq!(packed_part.count_selected(), plain_part.count_selected());
            prop_assert_eq!(packed_part.to_scalars(), plain_part.to_scalars());
        }
        let count = segments.iter().map(ScalarSegment::count_selected).sum();
        let bases = EncodedBases::from_points(&distinct_points::<Fp>(count));
        let expected = msm_naive(&bases, &plain);
        prop_assert_eq!(msm_naive(&bases, &segments), expected);
        prop_assert_eq!(msm(&pool(2), &bases, &plain, MsmSettings::default()), expected);
        prop_assert_eq!(msm(&pool(2), &bases, &segments, MsmSettings::default()), expected);
    }

    #[test]
    fn multiplication_is_linear(
        left in prop::collection::vec(scalar_strategy(), 1..80),
        seed in any::<u64>(),
        factor in scalar_strategy(),
    ) {
        let count = left.len();
        let right = random_scalars(count, seed);
        let bases = EncodedBases::from_points(&distinct_points::<Fp>(count));
        let combined: Vec<Scalar> = left.iter().zip(&right).map(|(l, r)| *l * factor + r).collect();
        let run = |scalars: &[Scalar]| {
            msm(&pool(1), &bases, &[ScalarSegment::all(scalars)], MsmSettings::default())
                .expect("operands of equal length")
        };
        prop_assert_eq!(run(&combined), run(&left) * factor + run(&right));
    }

    #[test]
    fn mixed_scalars_agree_with_the_oracle(
        scalars in prop::collection::vec(scalar_strategy(), 0..40),
        bits in 5_u32..12,
    ) {
        check::<Fp2>(&distinct_points(scalars.len()), &scalars, Some(bits));
    }
}
