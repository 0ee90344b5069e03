//! Times multi-scalar multiplication against `blst`'s Pippenger on the same points, scalars and threads.
//!
//! `cargo run --release -p cuzk-groth16 --example msm -- [LOG_SIZE] [THREADS] [WINDOW_BITS]`
//!
//! Prints seconds on the clock and on all cores, and the ratio of the latter to `blst`'s. Window bits of 0 mean the
//! width that the cost model picks.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::time::Instant;

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use cuzk_groth16::{
    Affine, Arithmetic, CurveField, EncodedBases, Fp, Fp2, MsmSettings, ScalarSegment, WindowBits,
    msm, scratch_bytes,
};
use ff::{Field, PrimeField};
use group::{Curve, Group};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;

/// Distinct points, cheap to make: a few random ones and their running sums.
fn points<P>(count: usize) -> Vec<P::AffineRepr>
where
    P: Curve + Send,
    P::AffineRepr: Default + Clone + Send,
{
    const RUN: usize = 4096;
    (0..count.div_ceil(RUN))
        .into_par_iter()
        .flat_map_iter(|run| {
            let mut rng = ChaCha8Rng::seed_from_u64(run as u64);
            let (mut point, step) = (P::random(&mut rng), P::random(&mut rng));
            let projective: Vec<P> = (0..RUN.min(count - run * RUN))
                .map(|_| {
                    point += step;
                    point
                })
                .collect();
            let mut affine = vec![P::AffineRepr::default(); projective.len()];
            P::batch_normalize(&projective, &mut affine);
            affine
        })
        .collect()
}

/// Seconds that the process has spent on all cores, so that a busy machine does not blur the comparison.
///
/// From `/proc/self/stat`, in ticks of 10 ms; zero where there is no such file.
fn core_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    ticks / 100.0
}

/// Wall and core seconds of `work`, with its result.
fn timed<R>(work: impl FnOnce() -> R) -> (f64, f64, R) {
    let (start, cores) = (Instant::now(), core_seconds());
    let result = work();
    (
        start.elapsed().as_secs_f64(),
        core_seconds() - cores,
        result,
    )
}

struct Case<'a> {
    label: &'a str,
    scalars: &'a [Scalar],
    threads: usize,
    settings: MsmSettings,
}

/// Runs one case and prints it beside what `blst` took.
fn report<F: CurveField>(
    bases: &EncodedBases<F>,
    case: &Case<'_>,
    blst: (f64, f64),
    expected: F::Projective,
) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(case.threads)
        .build()
        .expect("a pool of the requested size");
    let segments = [ScalarSegment::all(case.scalars)];
    let (wall, cores, sum) = timed(|| msm(&pool, bases, &segments, case.settings));
    assert!(sum == Ok(expected), "sums differ");
    println!(
        "{} {:<34} {wall:8.3} s {cores:8.2} core-s {:7.0} ns/point  x{:.2} of blst {:.3} s {:.2} core-s  scratch {} MiB",
        F::NAME,
        case.label,
        cores * 1e9 / case.scalars.len() as f64,
        cores / blst.1,
        blst.0,
        blst.1,
        scratch_bytes::<F>(case.scalars.len(), case.threads, case.settings) >> 20,
    );
}

/// `blst`'s Pippenger as its Rust binding runs it, on all cores.
macro_rules! blst_msm {
    ($points:expr, $scalars:expr, $projective:ty, $raw:ident) => {{
        let bytes: Vec<u8> = $scalars
            .iter()
            .flat_map(|scalar| scalar.to_repr())
            .collect();
        let raw: Vec<blst::$raw> = $points.iter().map(|point| *point.as_ref()).collect();
        let (wall, cores, sum) = timed(|| blst::MultiPoint::mult(raw.as_slice(), &bytes, 255));
        let mut out = <$projective>::identity();
        *out.as_mut() = sum;
        ((wall, cores), out)
    }};
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u32>());
    let mut next = |default| arguments.next().and_then(Result::ok).unwrap_or(default);
    let (log_size, threads, bits) = (next(18), next(2) as usize, next(0));
    let window_bits = WindowBits::new(bits).ok();
    let size = 1 << log_size;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let uniform: Vec<Scalar> = (0..size).map(|_| Scalar::random(&mut rng)).collect();
    let circuit: Vec<Scalar> = uniform
        .iter()
        .enumerate()
        .map(|(i, scalar)| match i % 40 {
            0 => *scalar,
            k if k % 2 == 0 => Scalar::ONE,
            _ => Scalar::ZERO,
        })
        .collect();

    println!(
        "2^{log_size} points, {threads} threads, {}",
        Arithmetic::Fastest.name()
    );
    for (kind, scalars) in [("uniform", &uniform), ("49% ones, 2.5% wide", &circuit)] {
        let g1: Vec<G1Affine> = points::<G1Projective>(size);
        let (blst_g1, expected) = blst_msm!(g1, scalars, G1Projective, blst_p1_affine);
        let bases =
            EncodedBases::<Fp>::from_points(&g1.iter().map(Affine::from).collect::<Vec<_>>());
        for arithmetic in [Arithmetic::Fastest, Arithmetic::Portable] {
            let settings = MsmSettings {
                arithmetic,
                window_bits,
            };
            let label = format!("{kind}, {}", arithmetic.name());
            let case = Case {
                label: &label,
                scalars,
                threads,
                settings,
            };
            report::<Fp>(&bases, &case, blst_g1, expected);
        }
    }
    let g2_size = size / 8;
    let g2: Vec<G2Affine> = points::<G2Projective>(g2_size);
    let scalars = &uniform[..g2_size];
    let (blst_g2, expected) = blst_msm!(g2, scalars, G2Projective, blst_p2_affine);
    let bases = EncodedBases::<Fp2>::from_points(&g2.iter().map(Affine::from).collect::<Vec<_>>());
    for arithmetic in [Arithmetic::Fastest, Arithmetic::Portable] {
        let settings = MsmSettings {
            arithmetic,
            window_bits,
        };
        let label = format!("1/8 uniform, {}", arithmetic.name());
        let case = Case {
            label: &label,
            scalars,
            threads,
            settings,
        };
        report::<Fp2>(&bases, &case, blst_g2, expected);
    }
}
