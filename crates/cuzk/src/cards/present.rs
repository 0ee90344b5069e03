//! What a program with kernels does on a card.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use cuzk_cuda::{
    BenchPlan, CudaDevice, Device, DeviceInfo, DeviceKey, DevicePoints, EvaluatedCircuit,
    KernelTable, PendingTimes, bench_kernels, key_bytes,
};
use cuzk_groth16::{
    DeviceError, LoadedKey, Partition, PendingProof, ProverDevice,
    setup::{KeyScalars, PointSource, PointStream, StreamError},
};
use cuzk_r1cs::{CompiledCircuit, PackedWitness};

use super::{ResidentKey, refused};
use crate::exit::{ExitClass, OrExit as _, failure};

/// Chooses the combinations that check a key; any number does.
const CHECK_SEED: u64 = 1;

/// Points of a key from a card.
#[derive(Debug)]
pub(crate) struct CardPoints {
    ordinal: usize,
    device: Device,
}

impl CardPoints {
    /// Opens a card.
    ///
    /// # Errors
    /// Resource, when there is no driver, no such card, or no kernel for it.
    pub(crate) fn open(ordinal: usize) -> anyhow::Result<Self> {
        let device = open(ordinal, None)?;
        Ok(Self { ordinal, device })
    }

    /// Makes a key, checks it, and lets it go.
    ///
    /// # Errors
    /// Resource, when the card has too little memory or fails; internal, when a query is not what it should be.
    pub(crate) fn resident_key(&self, scalars: &KeyScalars) -> anyhow::Result<ResidentKey> {
        let (ordinal, device) = (self.ordinal, &self.device);
        let failed = |error| refused(ordinal, error);
        let start = Instant::now();
        let key = DeviceKey::generate(device, scalars).map_err(failed)?;
        device.wait().map_err(failed)?;
        let points_s = start.elapsed().as_secs_f64();
        let start = Instant::now();
        if let Some(section) = key.check(device, scalars, CHECK_SEED).map_err(failed)? {
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
}

impl PointSource for CardPoints {
    fn send(
        &mut self,
        scalars: &KeyScalars,
        stream: &mut PointStream<'_>,
    ) -> Result<(), StreamError> {
        DevicePoints::new(&self.device).send(scalars, stream)
    }
}

/// A card whose operations are measured.
pub(crate) struct MeasuredCard {
    ordinal: usize,
    device: Device,
}

impl MeasuredCard {
    /// Opens a card.
    ///
    /// # Errors
    /// Resource, when there is no driver, no such card, or no kernel for it.
    pub(crate) fn open(ordinal: usize) -> anyhow::Result<Self> {
        Ok(Self {
            ordinal,
            device: open(ordinal, None)?,
        })
    }

    pub(crate) fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// Measures it, rows with a circuit and values that satisfy it; `told` is called with the name of each operation before
    /// it begins.
    ///
    /// # Errors
    /// Resource, when the card has too little memory or fails.
    pub(crate) fn kernel_table(
        &self,
        plan: BenchPlan,
        (circuit, witness): (&CompiledCircuit, &PackedWitness),
        told: &dyn Fn(&str),
    ) -> anyhow::Result<KernelTable> {
        let evaluated = EvaluatedCircuit { circuit, witness };
        bench_kernels(&self.device, plan, evaluated, &mut |operation| {
            told(operation);
        })
        .map_err(|error| refused(self.ordinal, error))
    }
}

fn open(ordinal: usize, memory_limit: Option<u64>) -> anyhow::Result<Device> {
    Device::open(ordinal, memory_limit.unwrap_or(u64::MAX)).map_err(|error| refused(ordinal, error))
}

/// A prover on a card, of whose memory at most `memory_limit` bytes may be used.
///
/// # Errors
/// Resource, when there is no driver, no such card, or no kernel for it.
pub(crate) fn start_prover(
    ordinal: usize,
    memory_limit: Option<u64>,
) -> anyhow::Result<Arc<dyn ProverDevice>> {
    Ok(Arc::new(CardProver::open(ordinal, memory_limit)?.device))
}

/// A prover on a card, and what only a card tells.
pub(crate) struct CardProver {
    ordinal: usize,
    device: CudaDevice,
}

/// Device times of a proof, known when it is finished.
#[derive(Debug)]
pub(crate) struct CardTimes(PendingTimes);

impl CardProver {
    /// Opens a card, of whose memory at most `memory_limit` bytes may be used.
    ///
    /// # Errors
    /// Resource, when there is no driver, no such card, or no kernel for it.
    pub(crate) fn open(ordinal: usize, memory_limit: Option<u64>) -> anyhow::Result<Self> {
        Ok(Self {
            ordinal,
            device: CudaDevice::new(open(ordinal, memory_limit)?),
        })
    }

    /// The card's product name.
    pub(crate) fn name(&self) -> String {
        self.device.device().info().name.clone()
    }

    pub(crate) fn prover(&self) -> &dyn ProverDevice {
        &self.device
    }

    /// Most bytes of the card in use at a time so far.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.device.device().peak_memory()
    }

    /// Makes a key that stays on the card.
    ///
    /// # Errors
    /// Resource, when the card has too little memory or fails.
    pub(crate) fn make_key(&self, scalars: &KeyScalars) -> anyhow::Result<LoadedKey> {
        let key = DeviceKey::generate(self.device.device(), scalars)
            .map_err(|error| refused(self.ordinal, error))?;
        self.device
            .adopt_key(key)
            .or_exit(ExitClass::Key, || "loading the key".to_owned())
    }

    pub(crate) fn start(
        &self,
        partition: Partition,
    ) -> Result<(PendingProof, CardTimes), DeviceError> {
        let (pending, times) = self.device.start_timed(partition)?;
        Ok((pending, CardTimes(times)))
    }
}

impl CardTimes {
    /// The times by stage; none before the proof is finished.
    pub(crate) fn stages(self) -> Vec<(&'static str, Duration)> {
        self.0
            .get()
            .map(|times| times.stages().to_vec())
            .unwrap_or_default()
    }
}
