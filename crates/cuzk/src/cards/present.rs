//! What a program with kernels does on a card.

use std::time::Instant;

use cuzk_cuda::{
    BenchPlan, Device, DeviceInfo, DeviceKey, DevicePoints, KernelTable, bench_kernels, key_bytes,
};
use cuzk_groth16::setup::{KeyScalars, PointSource, PointStream, StreamError};

use super::{ResidentKey, refused};
use crate::exit::{ExitClass, failure};

/// Chooses the combinations that check a key; any number does.
const CHECK_SEED: u64 = 1;

/// Points of a key from a card.
#[derive(Debug)]
pub(crate) struct CardPoints(Device);

impl CardPoints {
    /// Opens a card.
    ///
    /// # Errors
    /// Resource, when there is no driver, no such card, or no kernel for it.
    pub(crate) fn open(ordinal: usize) -> anyhow::Result<Self> {
        open(ordinal).map(Self)
    }
}

impl PointSource for CardPoints {
    fn send(
        &mut self,
        scalars: &KeyScalars,
        stream: &mut PointStream<'_>,
    ) -> Result<(), StreamError> {
        DevicePoints::new(&self.0).send(scalars, stream)
    }
}

/// Makes a key on a card, checks it, and lets it go.
///
/// # Errors
/// Resource, when the card cannot be used or has too little memory; internal, when a query is not what it should be.
pub(crate) fn resident_key(ordinal: usize, scalars: &KeyScalars) -> anyhow::Result<ResidentKey> {
    let failed = |error| refused(ordinal, error);
    let device = open(ordinal)?;
    let start = Instant::now();
    let key = DeviceKey::generate(&device, scalars).map_err(failed)?;
    device.wait().map_err(failed)?;
    let points_s = start.elapsed().as_secs_f64();
    let start = Instant::now();
    if let Some(section) = key.check(&device, scalars, CHECK_SEED).map_err(failed)? {
        return Err(failure(
            ExitClass::Internal,
            format!("NVIDIA card {ordinal}: {section} is not what its scalars say"),
        ));
    }
    Ok(ResidentKey {
        points_s,
        check_s: start.elapsed().as_secs_f64(),
        key_bytes: key_bytes(&key.counts()),
        peak_device_bytes: device.peak_memory(),
    })
}

/// Measures a card; `told` is called with the name of each operation before it begins.
///
/// # Errors
/// Resource, when the card cannot be used or has too little memory.
pub(crate) fn kernel_table(
    ordinal: usize,
    plan: BenchPlan,
    told: &dyn Fn(&str),
) -> anyhow::Result<(DeviceInfo, KernelTable)> {
    let device = open(ordinal)?;
    let table = bench_kernels(&device, plan, &mut |operation| told(operation))
        .map_err(|error| refused(ordinal, error))?;
    Ok((device.info().clone(), table))
}

fn open(ordinal: usize) -> anyhow::Result<Device> {
    Device::open(ordinal, u64::MAX).map_err(|error| refused(ordinal, error))
}
