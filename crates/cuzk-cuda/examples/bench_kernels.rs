//! Times of the device's operations beside the ceilings of the card, as one JSON object per line.
//!
//! `bench_kernels [smallest log size] [largest log size]`; results are checked against the host by the tests.
#![allow(clippy::print_stdout, reason = "a bench prints its record")]
#![allow(clippy::disallowed_methods, reason = "arguments of a program")]

use std::{env, error::Error};

use blstrs::{G1Projective, G2Projective};
use cuzk_cuda::{
    Base, Bitmap, BitmapSum, Device, DeviceGroup, Finish, G1Base, G2Base, MsmPlan, MultiExp,
    Quotient, Rate, ScalarForm, Transform, TransformKind, fill_random, measure, repeat_bases,
};
use group::Curve;
use serde_json::json;

const REPEATS: usize = 5;
const DISTINCT_BASES: usize = 1 << 14;
/// Multiplications of a transform of n elements per n log2 n.
const MULTIPLICATIONS_PER_STAGE: f64 = 0.5;
/// Base-field multiplications of a batched affine addition: five and a square, which takes 0.8 of one.
const G1_MULTIPLICATIONS: f64 = 5.8;
/// The same in the extension: three for each of five, and two for the square.
const G2_MULTIPLICATIONS: f64 = 17.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let smallest: u32 = arguments.next().map_or(Ok(12), |text| text.parse())?;
    let largest: u32 = arguments.next().map_or(Ok(27), |text| text.parse())?;
    let sizes = smallest..=largest;
    let device = Device::open(0, u64::MAX)?;
    let info = device.info().clone();
    println!(
        "{}",
        json!({"device": info.name, "uuid": info.uuid, "driver": info.driver_version, "kernels": info.kernels})
    );
    let mut rates = Vec::new();
    for rate in [Rate::MultiplyAdd, Rate::BaseField, Rate::ScalarField] {
        let per_second = measure(&device, rate)?;
        println!(
            "{}",
            json!({"rate": format!("{rate:?}"), "per_second": per_second})
        );
        rates.push(per_second);
    }
    for log_size in [16, 20, 22, 24, 26, 27]
        .into_iter()
        .filter(|log| sizes.contains(log))
    {
        transforms(&device, log_size, rates[2])?;
    }
    let g1: Vec<G1Base> = points::<G1Projective>().iter().map(G1Base::from).collect();
    for log_size in [12, 16, 18, 20, 22, 24, 26, 27]
        .into_iter()
        .filter(|log| sizes.contains(log))
    {
        multiplications("g1", &device, &g1, log_size, G1_MULTIPLICATIONS / rates[1])?;
        bitmap_sums("g1", &device, &g1, log_size)?;
    }
    let g2: Vec<G2Base> = points::<G2Projective>().iter().map(G2Base::from).collect();
    for log_size in [12, 16, 20, 22, 24]
        .into_iter()
        .filter(|log| sizes.contains(log))
    {
        multiplications("g2", &device, &g2, log_size, G2_MULTIPLICATIONS / rates[1])?;
        bitmap_sums("g2", &device, &g2, log_size)?;
    }
    Ok(())
}

/// Different points, from a fixed one by steps of the generator.
fn points<P: Curve>() -> Vec<P::AffineRepr> {
    let step = P::generator();
    let points: Vec<P> = std::iter::successors(Some(step.double()), |point| Some(*point + step))
        .take(DISTINCT_BASES)
        .collect();
    points.iter().map(Curve::to_affine).collect()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn repeated(
    device: &Device,
    mut work: impl FnMut() -> Result<(), cuzk_cuda::CudaError>,
) -> Result<f64, cuzk_cuda::CudaError> {
    work()?;
    let times: Result<Vec<f64>, _> = (0..REPEATS).map(|_| device.time(&mut work)).collect();
    times.map(median)
}

fn transforms(device: &Device, log_size: u32, field_rate: f64) -> Result<(), Box<dyn Error>> {
    let mut data = fill_random(device, 1 << log_size, 1)?;
    for kind in [TransformKind::Inverse, TransformKind::CosetForward] {
        let transform = Transform::new(device, log_size, kind)?;
        let ms = repeated(device, || transform.run(device, &mut data, Finish::Plain))?;
        let multiplications =
            MULTIPLICATIONS_PER_STAGE * f64::from(log_size) * (1_u64 << log_size) as f64;
        let floor_ms = multiplications / field_rate * 1e3;
        println!(
            "{}",
            json!({"transform": format!("{kind:?}"), "log_size": log_size, "ms": ms, "floor_ms": floor_ms, "ratio": ms / floor_ms})
        );
    }
    let (mut b, mut c) = (
        fill_random(device, 1 << log_size, 2)?,
        fill_random(device, 1 << log_size, 3)?,
    );
    let quotient = Quotient::new(device, log_size)?;
    let ms = repeated(device, || quotient.run(device, &mut data, &mut b, &mut c))?;
    println!("{}", json!({"quotient": log_size, "ms": ms}));
    Ok(())
}

fn multiplications<C: DeviceGroup>(
    group: &str,
    device: &Device,
    bases: &[Base<C>],
    log_size: u32,
    seconds_per_addition: f64,
) -> Result<(), Box<dyn Error>> {
    let terms = 1 << log_size;
    let scalars = fill_random(device, terms, 4)?;
    let bases = repeat_bases(device, &bases[..bases.len().min(terms)], terms)?;
    let chosen = MsmPlan::new(terms).width;
    for width in [chosen - 1, chosen, chosen + 1] {
        let plan = MsmPlan::with_width(terms, width);
        let mut room = MultiExp::new(device, plan)?;
        room.run(device, &bases, &scalars, ScalarForm::Montgomery)?;
        let mut runs = Vec::new();
        for _ in 0..REPEATS.min(3) {
            let started = std::time::Instant::now();
            let (_, times) = room.run_timed(device, &bases, &scalars, ScalarForm::Montgomery)?;
            runs.push((started.elapsed().as_secs_f64() * 1e3, times));
        }
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (wall_ms, times) = runs[runs.len() / 2];
        let floor_ms = plan.refs() as f64 * seconds_per_addition * 1e3;
        println!(
            "{}",
            json!({"multiexp": group, "log_size": log_size, "width": width, "chosen": width == chosen, "wall_ms": wall_ms,
            "sort_ms": times.sort_ms, "accumulate_ms": times.accumulate_ms, "reduce_ms": times.reduce_ms,
            "accumulate_floor_ms": floor_ms, "peak_bytes": device.peak_memory()})
        );
    }
    Ok(())
}

fn bitmap_sums<C: DeviceGroup>(
    group: &str,
    device: &Device,
    bases: &[Base<C>],
    log_size: u32,
) -> Result<(), Box<dyn Error>> {
    let terms = 1_usize << log_size;
    let bases = repeat_bases(device, &bases[..bases.len().min(terms)], terms)?;
    let mut state = 1_u64;
    let words: Vec<u32> = (0..terms.div_ceil(32))
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        })
        .collect();
    let words = device.upload_words(&words)?;
    let mut room = BitmapSum::new(device, terms)?;
    let ms = repeated(device, || {
        room.queue(device, &bases, Bitmap::all(&words, terms))
    })?;
    println!(
        "{}",
        json!({"bitmap_sum": group, "log_size": log_size, "set": "half", "ms": ms})
    );
    Ok(())
}
