//! The rates that bound everything else, and what the card's clocks allow.

use super::{REPEATS, copies::Copies};
use crate::{CudaError, Device, Rate, RateLine, measure};

/// Wide multiply-adds that a multiprocessor begins in one clock.
const MULTIPLY_ADDS_PER_CLOCK: f64 = 32.0;
/// Wide multiply-adds of a product and its reduction: each of n limbs with n others, twice.
const MULTIPLY_ADDS_OF_BASE_FIELD: f64 = 288.0;
const MULTIPLY_ADDS_OF_SCALAR_FIELD: f64 = 128.0;

/// Multiplications per second in both fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ceilings {
    pub(super) base_field: f64,
    pub(super) scalar_field: f64,
}

pub(super) fn measure_all(
    device: &Device,
    copies: Copies,
) -> Result<(Vec<RateLine>, Ceilings), CudaError> {
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
            2.0 * copies.on_device,
            Some(clocks.memory_bytes_per_second),
        ),
    ];
    Ok((lines, ceilings))
}

/// The best of several runs: a card that idled needs some to reach its clock.
fn best(device: &Device, rate: Rate) -> Result<f64, CudaError> {
    (0..REPEATS).try_fold(0.0_f64, |best, _| Ok(best.max(measure(device, rate)?)))
}
