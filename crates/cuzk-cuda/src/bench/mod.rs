//! How near is each operation to what the card can do? Times mean little without the ceilings, and ceilings differ from
//! card to card and with its clock, so both are measured in one run.
//!
//! A floor counts the multiplications that an operation cannot do without, at the rate at which the same card multiplies
//! when it does nothing else. What an operation does besides (sorting, inversions, memory) is its distance from one.

mod ceilings;
mod operations;

use crate::{BenchPlan, CudaError, Device, KernelTable};

/// Measures a card; `told` is called with the name of each operation before it begins.
///
/// # Errors
///
/// [`CudaError::OutOfMemory`] when the largest size does not fit, [`CudaError::Kernel`], [`CudaError::Driver`].
pub fn bench_kernels(
    device: &Device,
    plan: BenchPlan,
    told: &mut dyn FnMut(&str),
) -> Result<KernelTable, CudaError> {
    told("rates");
    let (rates, ceilings) = ceilings::measure_all(device)?;
    let bench = operations::Bench {
        device,
        plan,
        ceilings,
    };
    let mut times = Vec::new();
    bench.transforms(&mut times, told)?;
    bench.groups(&mut times, told)?;
    Ok(KernelTable {
        rates,
        times,
        peak_device_bytes: device.peak_memory(),
    })
}
