//! Times multi-scalar multiplication beside `blst`'s Pippenger and bellperson's on the same points and scalars.
//!
//! `cargo run --release -p cuzk-groth16 --example msm -- [LOG_SIZE] [THREADS] [WINDOW_BITS]`
//!
//! Prints seconds on the clock and on all cores, and the ratio of the latter to the others'. Window bits of 0 mean the
//! width that the cost model picks. The others use all cores.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::sync::Arc;
use std::time::Instant;

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use cuzk_groth16::{
    Affine, Arithmetic, CurveField, EncodedBases, MsmSettings, ScalarSegment, WindowBits, msm,
    scratch_bytes,
};
use ec_gpu_gen::multiexp_cpu::{FullDensity, multiexp_cpu};
use ec_gpu_gen::threadpool::Worker;
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;

/// Distinct points, cheap to make: a few random ones and their running sums.
fn points<P>(count: usize) -> Vec<P::AffineRepr>
where
    P: Curve + Send,
    P::AffineRepr: Send,
{
    const RUN: usize = 4096;
    (0..count.div_ceil(RUN))
        .into_par_iter()
        .flat_map_iter(|run| {
            let mut rng = ChaCha8Rng::seed_from_u64(run as u64);
            let (mut point, step) = (P::random(&mut rng), P::random(&mut rng));
            (0..RUN.min(count - run * RUN)).map(move |_| {
                point += step;
                point.to_affine()
            })
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

/// What a multiplication took.
#[derive(Clone, Copy)]
struct Seconds {
    wall: f64,
    cores: f64,
}

fn timed<R>(work: impl FnOnce() -> R) -> (Seconds, R) {
    let (start, cores) = (Instant::now(), core_seconds());
    let result = work();
    let seconds = Seconds {
        wall: start.elapsed().as_secs_f64(),
        cores: core_seconds() - cores,
    };
    (seconds, result)
}

/// Points and scalars of one comparison, and what the others took for them.
struct Case<'a, A: PrimeCurveAffine> {
    label: &'a str,
    points: &'a [A],
    scalars: &'a [Scalar],
    expected: A::Curve,
    blst: Seconds,
}

/// How we run.
struct Run {
    threads: usize,
    window_bits: Option<WindowBits>,
}

impl Run {
    /// Runs a case with both arithmetics and with bellperson, and prints a line for each.
    fn compare<F>(&self, case: &Case<'_, F::BlstrsAffine>)
    where
        F: CurveField,
        Affine<F>: for<'a> From<&'a F::BlstrsAffine>,
    {
        let (bellperson, sum) = bellperson_msm(case.points, case.scalars);
        assert!(sum == case.expected, "sums differ");
        let encoded: Vec<Affine<F>> = case.points.iter().map(Affine::from).collect();
        let bases = EncodedBases::from_points(&encoded);
        let segments = [ScalarSegment::all(case.scalars)];
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .expect("a pool of the requested size");
        let count = case.scalars.len();
        println!("{} {}, {count} points", F::NAME, case.label);
        for arithmetic in [Arithmetic::Fastest, Arithmetic::Portable] {
            let settings = MsmSettings {
                arithmetic,
                window_bits: self.window_bits,
            };
            let (ours, sum) = timed(|| msm(&pool, &bases, &segments, settings));
            assert!(sum == Ok(case.expected), "sums differ");
            println!(
                "  {:<12} {:7.3} s {:7.2} core-s {:6.0} ns/point  x{:.2} of blst  x{:.2} of bellperson  scratch {} MiB",
                arithmetic.name(),
                ours.wall,
                ours.cores,
                ours.cores * 1e9 / count as f64,
                ours.cores / case.blst.cores,
                ours.cores / bellperson.cores,
                scratch_bytes::<F>(count, self.threads, settings) >> 20,
            );
        }
        for (name, other) in [("(blst)", case.blst), ("(bellperson)", bellperson)] {
            println!(
                "  {name:<12} {:7.3} s {:7.2} core-s",
                other.wall, other.cores
            );
        }
    }
}

fn bellperson_msm<A>(points: &[A], scalars: &[Scalar]) -> (Seconds, A::Curve)
where
    A: PrimeCurveAffine<Scalar = Scalar>,
{
    let bases = (Arc::new(points.to_vec()), 0);
    let exponents = Arc::new(scalars.iter().map(PrimeField::to_repr).collect::<Vec<_>>());
    let (seconds, sum) =
        timed(|| multiexp_cpu::<_, _, A, _>(&Worker::new(), bases, FullDensity, exponents).wait());
    (seconds, sum.expect("as many points as scalars"))
}

/// `blst`'s Pippenger as its Rust binding runs it.
macro_rules! blst_msm {
    ($points:expr, $scalars:expr, $projective:ty, $raw:ident) => {{
        let bytes: Vec<u8> = $scalars
            .iter()
            .flat_map(|scalar| scalar.to_repr())
            .collect();
        let raw: Vec<blst::$raw> = $points.iter().map(|point| *point.as_ref()).collect();
        let (seconds, sum) = timed(|| blst::MultiPoint::mult(raw.as_slice(), &bytes, 255));
        let mut out = <$projective>::identity();
        *out.as_mut() = sum;
        (seconds, out)
    }};
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u32>());
    let mut next = |default| arguments.next().and_then(Result::ok).unwrap_or(default);
    let size = 1 << next(18);
    let run = Run {
        threads: next(2) as usize,
        window_bits: WindowBits::new(next(0)).ok(),
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let uniform: Vec<Scalar> = (0..size).map(|_| Scalar::random(&mut rng)).collect();
    let circuit: Vec<Scalar> = (0..size)
        .map(|i| match i % 40 {
            0 => uniform[i],
            k if k % 2 == 0 => Scalar::ONE,
            _ => Scalar::ZERO,
        })
        .collect();

    let points_g1: Vec<G1Affine> = points::<G1Projective>(size);
    for (label, scalars) in [("uniform", &uniform), ("49% ones, 2.5% wide", &circuit)] {
        let (blst, expected) = blst_msm!(points_g1, scalars, G1Projective, blst_p1_affine);
        run.compare::<cuzk_groth16::Fp>(&Case {
            label,
            points: &points_g1,
            scalars,
            expected,
            blst,
        });
    }
    let points_g2: Vec<G2Affine> = points::<G2Projective>(size / 8);
    let scalars = &uniform[..size / 8];
    let (blst, expected) = blst_msm!(points_g2, scalars, G2Projective, blst_p2_affine);
    run.compare::<cuzk_groth16::Fp2>(&Case {
        label: "uniform",
        points: &points_g2,
        scalars,
        expected,
        blst,
    });
}
