//! The card as a prover: `start` queues a whole proof and returns, `finish` waits for its sums.
//!
//! All proofs of a device share one stream, so the next one's upload and launches are queued while the card computes, and
//! buffers that one proof frees serve the next. The host holds a packed witness's worth of page-locked memory per proof in
//! flight, and nothing else.

mod circuit;
mod key;
mod queue;
mod times;

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use cuzk_groth16::{
    CardMemory, DeviceDescription, DeviceError, Footprint, FormatError, KeyError, LoadedCircuit,
    LoadedKey, Partition, PendingProof, PointDefect, PointError, ProverDevice, ProvingKey, Section,
    StartTimes, assemble,
};
use cuzk_r1cs::{CompiledCircuit, PackedWitness};

pub use times::ProofTimes;

use self::circuit::{Chunking, CudaCircuit, MAX_RESULT_BYTES, witness_bytes};
use self::key::KeyQueries;
use self::queue::{Queue, Queued};
use crate::{
    CudaError, Device, DeviceKey, MAX_LOG_SIZE,
    driver::{InFlight, Transfers},
    footprint::resident_bytes,
    kernels,
};

const NAME: &str = "cuda";

/// A prover on one NVIDIA card.
pub struct CudaDevice {
    shared: Arc<Shared>,
}

/// What pending proofs share with their device.
struct Shared {
    device: Device,
    /// Bases of streamed keys that are on the card at a time; without it, keys are streamed when the card cannot hold them.
    streamed: Option<Chunking>,
    /// Page-locked memory of finished proofs. Held while a proof is queued, so that no two proofs' buffers mix.
    transfers: Mutex<Vec<Transfers>>,
}

/// Device times of a proof, known when it is finished.
pub type PendingTimes = Arc<OnceLock<ProofTimes>>;

impl CudaDevice {
    /// A prover on an opened card. It keeps the keys that fit, and streams others from their files for every proof.
    pub fn new(device: Device) -> Self {
        Self::with(device, None)
    }

    /// A prover that streams every key, `max_bases` bases of G1 at a time, however much memory there is.
    ///
    /// # Panics
    /// When `max_bases` is below 2.
    pub fn streaming(device: Device, max_bases: usize) -> Self {
        Self::with(device, Some(Chunking::of(max_bases)))
    }

    fn with(device: Device, streamed: Option<Chunking>) -> Self {
        Self {
            shared: Arc::new(Shared {
                device,
                streamed,
                transfers: Mutex::new(Vec::new()),
            }),
        }
    }

    /// The card.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// Makes a key ready that is on the card already.
    ///
    /// # Errors
    /// [`DeviceError::Identity`] for a key that must not be used.
    pub fn adopt_key(&self, key: DeviceKey) -> Result<LoadedKey, DeviceError> {
        let (verifying_key, counts) = (key.verifying_key.clone(), key.counts());
        let origin = PathBuf::from("key on the device");
        let queries = Arc::new(KeyQueries::Resident(Box::new(key)));
        LoadedKey::new(origin, &verifying_key, counts, queries)
    }

    /// As [`ProverDevice::start`], with a view of the device times.
    ///
    /// # Errors
    /// As [`ProverDevice::start`].
    pub fn start_timed(
        &self,
        partition: Partition,
    ) -> Result<(PendingProof, PendingTimes), DeviceError> {
        partition.check()?;
        let Partition {
            circuit,
            witness,
            blinding,
        } = partition;
        let (in_flight, queued) = self.queue(&circuit, &witness)?;
        let times = PendingTimes::default();
        let (shared, seen) = (Arc::clone(&self.shared), Arc::clone(&times));
        let pending = PendingProof::new(StartTimes::default(), move || {
            let arrived = in_flight.wait().map_err(device_error)?;
            let sums = queued.read(&arrived);
            let spent = queued.times().map_err(device_error)?;
            seen.get_or_init(|| spent);
            shared.transfers().push(arrived.reuse());
            let sums = sums.map_err(|row| DeviceError::Unsatisfied { row })?;
            let key = circuit.key().verifying_key();
            Ok(assemble(key, &sums.g1, &sums.b_g2, blinding))
        });
        Ok((pending, times))
    }

    fn queue(
        &self,
        circuit: &LoadedCircuit,
        witness: &PackedWitness,
    ) -> Result<(InFlight, Queued), DeviceError> {
        let prepared: &CudaCircuit = circuit.form(NAME)?;
        let key: &KeyQueries = circuit.key().form(NAME)?;
        let domain_size = circuit.circuit().shape().domain_size();
        let device = &self.shared.device;
        let mut pool = self.shared.transfers();
        let transfers = take(&mut pool, device, prepared.transfer_bytes).map_err(device_error)?;
        let queued = Queue::new(device, (prepared, key), transfers, witness)
            .and_then(|queue| queue.queue(domain_size))
            .and_then(|(transfers, queued)| Ok((transfers.queued(device.session())?, queued)));
        queued.map_err(|error| key_error(error, circuit.key().origin()))
    }
}

impl Shared {
    fn transfers(&self) -> std::sync::MutexGuard<'_, Vec<Transfers>> {
        // A list of free memory is whole after any panic.
        self.transfers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Page-locked memory of at least `bytes` bytes, an old one where there is one.
fn take(pool: &mut Vec<Transfers>, device: &Device, bytes: usize) -> Result<Transfers, CudaError> {
    if let Some(index) = pool.iter().position(|free| free.capacity() >= bytes) {
        return Ok(pool.swap_remove(index));
    }
    // Smaller ones would be kept beside larger ones for ever.
    pool.pop();
    Transfers::new(device.session(), bytes)
}

impl ProverDevice for CudaDevice {
    fn describe(&self) -> DeviceDescription {
        DeviceDescription {
            name: NAME,
            threads: NonZeroUsize::MIN,
            tail_threads: NonZeroUsize::MIN,
            arithmetic: kernels::ARCHITECTURES,
            card: Some(self.shared.device.info().card()),
        }
    }

    fn card_memory(&self) -> Option<CardMemory> {
        let device = &self.shared.device;
        Some(CardMemory {
            free_bytes: device.free_memory().ok(),
            used_bytes: device.used_memory(),
            limit_bytes: device.memory_limit(),
        })
    }

    fn load_key(&self, key: Arc<ProvingKey>) -> Result<LoadedKey, DeviceError> {
        let (device, counts) = (&self.shared.device, key.counts());
        let fits = resident_bytes(&counts) <= device.available_memory();
        let queries = if fits && self.shared.streamed.is_none() {
            let resident =
                DeviceKey::upload(device, &key).map_err(|error| key_error(error, key.path()))?;
            KeyQueries::Resident(Box::new(resident))
        } else {
            KeyQueries::Streamed(Arc::clone(&key))
        };
        let origin = key.path().to_path_buf();
        LoadedKey::new(origin, key.verifying_key(), counts, Arc::new(queries))
    }

    fn load_circuit(
        &self,
        key: &LoadedKey,
        circuit: Arc<CompiledCircuit>,
    ) -> Result<LoadedCircuit, DeviceError> {
        let queries: &KeyQueries = key.form(NAME)?;
        let log_domain = circuit.shape().log_domain();
        if log_domain > MAX_LOG_SIZE {
            return Err(DeviceError::TooLarge {
                device: NAME,
                log_domain,
                max_log_domain: MAX_LOG_SIZE,
            });
        }
        let device = &self.shared.device;
        LoadedCircuit::new(key, circuit, |circuit| {
            let chunking = match queries {
                KeyQueries::Resident(_) => Ok(Chunking::NONE),
                KeyQueries::Streamed(_) => match self.shared.streamed {
                    Some(chunking) => Ok(chunking),
                    None => Chunking::within(device, circuit, device.available_memory()),
                },
            };
            chunking
                .and_then(|chunking| CudaCircuit::new(device, circuit, chunking))
                .map_err(device_error)
        })
    }

    fn start(&self, partition: Partition) -> Result<PendingProof, DeviceError> {
        self.start_timed(partition).map(|(pending, _)| pending)
    }

    fn footprint(&self, circuit: &CompiledCircuit) -> Footprint {
        let partition = witness_bytes(circuit);
        let pinned = partition + MAX_RESULT_BYTES;
        Footprint {
            partition_bytes: partition,
            evaluation_bytes: 0,
            start_bytes: partition + pinned,
            pending_bytes: pinned,
            finish_bytes: pinned + MAX_RESULT_BYTES,
        }
    }
}

/// As [`device_error`]; a point that is none is the fault of the key from `origin`.
fn key_error(error: CudaError, origin: &Path) -> DeviceError {
    match error {
        CudaError::BadPoint { section, index } => DeviceError::from(KeyError::Format {
            path: origin.to_path_buf(),
            defect: FormatError::Point {
                section,
                index: index as usize,
                defect: PointDefect::Encoding(PointError::NotOnCurve {
                    group: if section == Section::BG2 { "G2" } else { "G1" },
                }),
            },
        }),
        error => device_error(error),
    }
}

fn device_error(error: CudaError) -> DeviceError {
    match error {
        CudaError::OutOfMemory {
            wanted,
            used,
            limit,
        } => DeviceError::OutOfMemory {
            device: NAME,
            needed_bytes: wanted,
            free_bytes: limit.saturating_sub(used),
        },
        error => DeviceError::Lost {
            device: NAME,
            source: Box::new(error),
        },
    }
}
