//! The rates that bound everything else, and what the card's clocks allow.

use crate::{CudaError, Device, Rate, RateLine, RawScalar, driver::DeviceBuffer, measure};

/// Wide multiply-adds that a multiprocessor begins in one clock.
const MULTIPLY_ADDS_PER_CLOCK: f64 = 32.0;
/// Wide multiply-adds of a product and its reduction: each of n limbs with n others, twice.
const MULTIPLY_ADDS_OF_BASE_FIELD: f64 = 288.0;
const MULTIPLY_ADDS_OF_SCALAR_FIELD: f64 = 128.0;
const REPEATS: usize = 5;
/// Elements that are copied to measure memory: 2 GiB.
const COPIED: usize = 1 << 26;
/// Bytes that are uploaded to measure the bus.
const UPLOADED: usize = 1 << 29;

/// Multiplications per second in both fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ceilings {
    pub(super) base_field: f64,
    pub(super) scalar_field: f64,
}

pub(super) fn measure_all(device: &Device) -> Result<(Vec<RateLine>, Ceilings), CudaError> {
    let clocks = device.clocks()?;
    let bound = MULTIPLY_ADDS_PER_CLOCK
        * f64::from(device.info().multiprocessors)
        * clocks.multiprocessor_hz;
    let multiply_adds = best(device, Rate::MultiplyAdd)?;
    let ceilings = Ceilings {
        base_field: best(device, Rate::BaseField)?,
        scalar_field: best(device, Rate::ScalarField)?,
    };
    let lines = vec![
        // A carry chain, which is not quite what the fields' code looks like and reaches less.
        RateLine::new(
            "32-bit multiply-adds in a chain",
            multiply_adds,
            Some(bound),
        ),
        RateLine::new(
            "base-field multiplications",
            ceilings.base_field,
            Some(bound / MULTIPLY_ADDS_OF_BASE_FIELD),
        ),
        RateLine::new(
            "scalar-field multiplications",
            ceilings.scalar_field,
            Some(bound / MULTIPLY_ADDS_OF_SCALAR_FIELD),
        ),
        RateLine::new(
            "device memory, bytes read and written",
            copy_rate(device)?,
            Some(clocks.memory_bytes_per_second),
        ),
        RateLine::new(
            "upload from pageable memory, bytes",
            upload_rate(device)?,
            None,
        ),
    ];
    Ok((lines, ceilings))
}

/// The best of several runs: a card that idled needs some to reach its clock.
fn best(device: &Device, rate: Rate) -> Result<f64, CudaError> {
    (0..REPEATS).try_fold(0.0_f64, |best, _| Ok(best.max(measure(device, rate)?)))
}

fn copy_rate(device: &Device) -> Result<f64, CudaError> {
    let session = device.session();
    let from: DeviceBuffer<RawScalar> = session.allocate(COPIED)?;
    let mut to = session.allocate(COPIED)?;
    session.copy(&from, &mut to)?;
    let ms = device.time(|| session.copy(&from, &mut to))?;
    Ok(2.0 * (COPIED * size_of::<RawScalar>()) as f64 / ms * 1e3)
}

fn upload_rate(device: &Device) -> Result<f64, CudaError> {
    let session = device.session();
    let bytes = vec![1; UPLOADED];
    let mut to: DeviceBuffer<RawScalar> = session.allocate(UPLOADED / size_of::<RawScalar>())?;
    session.upload_bytes(&mut to, 0, &bytes)?;
    let ms = device.time(|| session.upload_bytes(&mut to, 0, &bytes))?;
    Ok(UPLOADED as f64 / ms * 1e3)
}
