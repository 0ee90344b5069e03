//! The card as a prover: `start` queues a whole proof and returns, `finish` waits for its sums.
//!
//! All proofs of a device share one stream, so the next one's upload and launches are queued while the card computes, and
//! buffers that one proof frees serve the next. The host holds a packed witness's worth of page-locked memory per proof in
//! flight, and nothing else.
//!
//! With a key that passes through the card in parts, `start` lets the proof wait, and the first `finish` leads a pass for all
//! that wait by then.

mod circuit;
mod feed;
mod key;
mod pass;
mod shared;
mod times;

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use cuzk_groth16::{
    CardMemory, DeviceDescription, DeviceError, Footprint, FormatError, KeyError, LoadedCircuit,
    LoadedKey, Partition, PendingProof, PointDefect, PointError, ProverDevice, ProvingKey,
    QueryCounts, Section, StartTimes,
};
use cuzk_r1cs::CompiledCircuit;

pub use times::ProofTimes;

use self::circuit::{CudaCircuit, max_result_bytes, proof_sizes, witness_bytes};
use self::key::KeyQueries;
use self::shared::{PassLobby, Shared};
use crate::{
    CudaError, Device, DeviceKey, MAX_LOG_SIZE, PassPlan, Streaming, footprint::resident_bytes,
    kernels,
};

const NAME: &str = "cuda";

/// A prover on one NVIDIA card.
pub struct CudaDevice {
    shared: Arc<Shared>,
}

/// Device times of a proof, known when it is finished.
pub type PendingTimes = Arc<OnceLock<ProofTimes>>;

impl CudaDevice {
    /// A prover on an opened card. It keeps the keys that fit, and streams others from their files for every proof.
    pub fn new(device: Device) -> Self {
        Self::streaming(device, Streaming::WhatDoesNotFit)
    }

    /// A prover on an opened card, with a say in which keys are streamed.
    pub fn streaming(device: Device, streaming: Streaming) -> Self {
        Self {
            shared: Arc::new(Shared::new(device, streaming)),
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
        let times = PendingTimes::default();
        let (shared, seen) = (Arc::clone(&self.shared), Arc::clone(&times));
        let (prepared, key) = forms(&circuit)?;
        let waiting = shared.admit(prepared, witness)?;
        let pending = match key {
            KeyQueries::Resident(_) => {
                let queued = shared.queue_one(&circuit, waiting)?;
                PendingProof::new(StartTimes::default(), move || {
                    shared.complete(&circuit, queued, blinding, &seen)
                })
            }
            KeyQueries::Streamed(..) => {
                let ticket = prepared.lobby.enter(waiting);
                PendingProof::new(StartTimes::default(), move || {
                    let queued = shared.redeem(&circuit, &ticket)?;
                    shared.complete(&circuit, queued, blinding, &seen)
                })
            }
        };
        Ok((pending, times))
    }
}

/// A loaded circuit and its key as this device has them.
fn forms(circuit: &LoadedCircuit) -> Result<(&CudaCircuit, &KeyQueries), DeviceError> {
    Ok((circuit.form(NAME)?, circuit.key().form(NAME)?))
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
        let queries = if fits && self.shared.streaming == Streaming::WhatDoesNotFit {
            let resident =
                DeviceKey::upload(device, &key).map_err(|error| key_error(error, key.path()))?;
            KeyQueries::Resident(Box::new(resident))
        } else {
            KeyQueries::Streamed(Arc::clone(&key), self.shared.uploader()?)
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
            let streaming = match queries {
                KeyQueries::Resident(_) => None,
                KeyQueries::Streamed(..) => Some(self.shared.streaming),
            };
            CudaCircuit::new(device, circuit, streaming).map_err(device_error)
        })
    }

    fn start(&self, partition: Partition) -> Result<PendingProof, DeviceError> {
        self.start_timed(partition).map(|(pending, _)| pending)
    }

    fn proofs_per_pass(&self, circuit: &LoadedCircuit) -> NonZeroUsize {
        let prepared = circuit.form::<CudaCircuit>(NAME);
        let proofs = prepared.map_or(1, |prepared| prepared.plan.proofs);
        NonZeroUsize::new(proofs).unwrap_or(NonZeroUsize::MIN)
    }

    fn footprint(&self, circuit: &CompiledCircuit) -> Footprint {
        let device = &self.shared.device;
        let counts = QueryCounts::of_circuit(&circuit.shape(), circuit.densities());
        let limit = device.memory_limit();
        let within = || PassPlan::within(proof_sizes(device, circuit), limit).ok();
        let plan = match self.shared.streaming {
            Streaming::Planned(plan) => Some(plan),
            Streaming::WhatDoesNotFit if resident_bytes(&counts) <= limit => None,
            Streaming::All | Streaming::WhatDoesNotFit => within(),
        };
        let results = max_result_bytes(&counts, plan);
        let partition = witness_bytes(circuit);
        let pinned = partition + results;
        // The proof of a streamed key waits for its pass with its witness.
        let pending = pinned + if plan.is_some() { partition } else { 0 };
        Footprint {
            partition_bytes: partition,
            evaluation_bytes: 0,
            start_bytes: partition + pinned,
            pending_bytes: pending,
            finish_bytes: pending + results,
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
        CudaError::KeyRead { kind, .. } => DeviceError::from(KeyError::Io {
            path: origin.to_path_buf(),
            action: "read the points",
            source: kind.into(),
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
        error => DeviceError::Failed {
            device: NAME,
            source: Box::new(error),
        },
    }
}
