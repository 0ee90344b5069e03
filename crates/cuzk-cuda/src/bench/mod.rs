//! How near is each operation to what the card can do? Times mean little without the ceilings, and ceilings differ from
//! card to card and with its clock, so both are measured in one run.
//!
//! A floor counts the multiplications that an operation cannot do without, at the rate at which the same card multiplies
//! when it does nothing else. What an operation does besides (sorting, inversions, memory) is its distance from one.

mod ceilings;
mod copies;
mod operations;
mod rows;

use crate::{BenchPlan, CudaError, Device, KernelTable};

pub use rows::EvaluatedCircuit;

const REPEATS: usize = 5;

/// Measures a card; `evaluated` is what rows are evaluated of, and `told` is called with the name of each operation before it
/// begins.
///
/// # Errors
///
/// [`CudaError::OutOfMemory`] when the largest size does not fit, [`CudaError::Kernel`], [`CudaError::Driver`].
pub fn bench_kernels(
    device: &Device,
    plan: BenchPlan,
    evaluated: EvaluatedCircuit<'_>,
    told: &mut dyn FnMut(&str),
) -> Result<KernelTable, CudaError> {
    told("copies");
    let copies = copies::Copies::measure(device)?;
    told("rates");
    let (rates, ceilings) = ceilings::measure_all(device, copies)?;
    told("rows");
    let evaluation = rows::measure(device, evaluated, copies)?;
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
        copies: copies.lines(),
        evaluation,
        times,
        peak_device_bytes: device.peak_memory(),
    })
}

impl Device {
    /// Seconds of device time of the best of several runs: a card that idled needs some to reach its clock.
    fn best(&self, mut work: impl FnMut() -> Result<(), CudaError>) -> Result<f64, CudaError> {
        (0..REPEATS).try_fold(f64::INFINITY, |best, _| {
            Ok(best.min(self.time(&mut work)? / 1e3))
        })
    }

    /// Milliseconds of device time, the median of several runs after one that does not count.
    fn repeated(&self, mut work: impl FnMut() -> Result<(), CudaError>) -> Result<f64, CudaError> {
        work()?;
        let times: Result<Vec<f64>, _> = (0..REPEATS).map(|_| self.time(&mut work)).collect();
        Ok(median(times?, |ms| *ms))
    }
}

/// The middle one of an odd number of runs.
fn median<T: Copy>(mut runs: Vec<T>, ms: impl Fn(&T) -> f64) -> T {
    runs.sort_by(|left, right| ms(left).total_cmp(&ms(right)));
    runs[runs.len() / 2]
}
