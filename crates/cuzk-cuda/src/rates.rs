//! A kernel's time means little without the card's ceilings, so the bench measures them in the same run. Also large
//! inputs that are made on the device, because uploading them would take longer than the bench.

use crate::{
    CudaError, Device, RawScalar,
    driver::{Arguments, DeviceBuffer, Grid},
    elements::Base,
    kernels::{self, DeviceGroup},
};

const THREADS: u32 = 256;
const BLOCKS_PER_SM: u32 = 4;
const FIELD_ROUNDS: u32 = 4096;
const MULTIPLY_ADD_ROUNDS: u32 = 1 << 16;

/// A raw rate of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// 32 x 32 -> 64 bit multiply-adds.
    MultiplyAdd,
    /// Multiplications in the base field (381 bits).
    BaseField,
    /// Multiplications in the scalar field (255 bits).
    ScalarField,
}

/// Operations per second, from the second of two runs.
///
/// # Errors
///
/// [`CudaError::Kernel`], [`CudaError::Driver`].
pub fn measure(device: &Device, rate: Rate) -> Result<f64, CudaError> {
    let grid = Grid::new(BLOCKS_PER_SM * device.info().multiprocessors, THREADS);
    let threads = grid.blocks.0 * THREADS;
    let (kernel, rounds, per_round, bytes) = match rate {
        Rate::MultiplyAdd => (kernels::RATE_MULTIPLY_ADD, MULTIPLY_ADD_ROUNDS, 8, 8),
        Rate::BaseField => (kernels::RATE_MULTIPLY_FP, FIELD_ROUNDS, 2, 48),
        Rate::ScalarField => (kernels::RATE_MULTIPLY_FR, FIELD_ROUNDS, 2, 32),
    };
    let out: DeviceBuffer<u64> = device.session().allocate(threads as usize * bytes / 8)?;
    let arguments = match rate {
        Rate::MultiplyAdd => Arguments::new().buffer(&out).word(0x9e37_79b9).word(rounds),
        _ => Arguments::new().buffer(&out).word(rounds),
    };
    device.session().launch(kernel, grid, &arguments)?;
    let ms = device.time(|| device.session().launch(kernel, grid, &arguments))?;
    Ok(f64::from(threads) * f64::from(rounds) * f64::from(per_round) / ms * 1e3)
}

/// `len` pseudo-random scalars of 254 bits: word j of scalar i is the output of `SplitMix64` for 4 i + j + `seed`, the top
/// word shifted right by two.
///
/// # Errors
///
/// [`CudaError::OutOfMemory`], [`CudaError::Kernel`].
pub fn fill_random(
    device: &Device,
    len: usize,
    seed: u64,
) -> Result<DeviceBuffer<RawScalar>, CudaError> {
    let out = device.session().allocate(len)?;
    let arguments = Arguments::new().buffer(&out).wide(seed).wide(len as u64);
    device.session().launch(
        kernels::RANDOM_SCALARS,
        Grid::for_items(len as u64, THREADS),
        &arguments,
    )?;
    Ok(out)
}

/// `len` bases that repeat the given ones.
///
/// # Errors
///
/// [`CudaError::Length`] when there are more bases than `len`, [`CudaError::OutOfMemory`], [`CudaError::Kernel`].
pub fn repeat_bases<C: DeviceGroup>(
    device: &Device,
    bases: &[Base<C>],
    len: usize,
) -> Result<DeviceBuffer<Base<C>>, CudaError> {
    let units = size_of::<Base<C>>() as u64 / 16;
    let mut out = device.session().allocate(len)?;
    device.session().upload(&mut out, 0, bases)?;
    let (period, count) = (bases.len() as u64 * units, len as u64 * units);
    let arguments = Arguments::new().buffer(&out).wide(period).wide(count);
    device
        .session()
        .launch(kernels::REPEAT, Grid::for_items(count, THREADS), &arguments)?;
    Ok(out)
}
