//! The card as a prover: `start` queues a whole proof and returns, `finish` waits for its sums.
//!
//! All proofs of a device share one stream, so the next one's upload and launches are queued while the card computes, and
//! buffers that one proof frees serve the next. The host holds a packed witness per proof in flight, in page-locked memory, and
//! some of that for the next ones.
//!
//! With a key that passes through the card in parts, `start` lets the proof wait, and the first `finish` leads a pass for all
//! that wait by then.

mod circuit;
mod cut;
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

use self::circuit::{
    CudaCircuit, MAX_COPIED_WITNESS, max_result_bytes, proof_sizes, witness_bytes,
};
use self::cut::WHOLE;
use self::feed::STAGING_BYTES;
use self::key::{CudaKey, KeyQueries};
use self::shared::{SPARE_BYTES, Shared};
use crate::{
    CudaError, Device, DeviceKey, MAX_LOG_SIZE, PassPlan, Streaming,
    device_key::EmptyKey,
    fault::Fault,
    footprint::{key_bytes, proof_bytes},
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
        let room = self.shared.rooms.keep(proof_bytes(&counts));
        let key = CudaKey::on_card(None, key, (&self.shared, room));
        LoadedKey::new(origin, &verifying_key, counts, Arc::new(key))
    }

    /// Brings a key to the card, or says that it has to be streamed.
    fn bring(&self, key: &Arc<ProvingKey>) -> Result<Option<CudaKey>, CudaError> {
        if self.shared.streaming != Streaming::WhatDoesNotFit {
            return Ok(None);
        }
        let (device, rooms) = (&self.shared.device, &self.shared.rooms);
        let counts = key.counts();
        let own = proof_bytes(&counts);
        // Only the decision and its memory must not be disturbed: other proofs go on during the upload.
        let turn = self.shared.turn.wait();
        if key_bytes(&counts) + own.max(rooms.largest()) > device.available_memory() {
            return Ok(None);
        }
        let room = rooms.keep(own);
        let empty = match EmptyKey::allocate(device, key) {
            // Something else has taken memory of the card.
            Err(CudaError::OutOfMemory { .. }) => return Ok(None),
            empty => empty?,
        };
        drop(turn);
        let queries = empty.fill(device, key)?;
        let file = Some(Arc::clone(key));
        Ok(Some(CudaKey::on_card(file, queries, (&self.shared, room))))
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
        let prepared: &CudaCircuit = circuit.form(NAME)?;
        let waiting = shared.admit(prepared, witness)?;
        let pending = match &prepared.key {
            KeyQueries::Resident(..) => {
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
        let brought = self.bring(&key);
        let brought = brought.map_err(|error| key_error(error, key.path()))?;
        let form = brought.unwrap_or_else(|| CudaKey::in_file(Arc::clone(&key)));
        let (origin, counts) = (key.path().to_path_buf(), key.counts());
        LoadedKey::new(origin, key.verifying_key(), counts, Arc::new(form))
    }

    fn load_circuit(
        &self,
        key: &LoadedKey,
        circuit: Arc<CompiledCircuit>,
    ) -> Result<LoadedCircuit, DeviceError> {
        let form: &CudaKey = key.form(NAME)?;
        let log_domain = circuit.shape().log_domain();
        if log_domain > MAX_LOG_SIZE {
            return Err(DeviceError::TooLarge {
                device: NAME,
                log_domain,
                max_log_domain: MAX_LOG_SIZE,
            });
        }
        LoadedCircuit::new(key, circuit, |circuit| {
            CudaCircuit::new(&self.shared, circuit, form)
        })
    }

    fn start(&self, partition: Partition) -> Result<PendingProof, DeviceError> {
        self.start_timed(partition).map(|(pending, _)| pending)
    }

    fn starts_beside(&self) -> bool {
        true
    }

    fn proofs_per_pass(&self, circuit: &LoadedCircuit) -> NonZeroUsize {
        let prepared = circuit.form::<CudaCircuit>(NAME);
        let proofs = prepared.map_or(1, CudaCircuit::proofs_per_pass);
        NonZeroUsize::new(proofs).unwrap_or(NonZeroUsize::MIN)
    }

    /// With a key that passes through the card there are more results, in parts of any size that its memory limit gives, and the
    /// witness needs no copy in page-locked memory.
    fn footprint(&self, circuit: &CompiledCircuit) -> Footprint {
        let (device, streaming) = (&self.shared.device, self.shared.streaming);
        let counts = QueryCounts::of_circuit(&circuit.shape(), circuit.densities());
        let plan = match streaming {
            Streaming::Planned(plan) => Some(plan),
            Streaming::All | Streaming::WhatDoesNotFit => {
                PassPlan::within(proof_sizes(device, circuit), device.memory_limit()).ok()
            }
        };
        let plans = [Some(WHOLE), plan, WHOLE.smaller()].into_iter().flatten();
        let results = plans.map(|plan| max_result_bytes(&counts, plan));
        let results = results.fold(0, usize::max);
        let partition = witness_bytes(circuit);
        let copied = match streaming {
            Streaming::WhatDoesNotFit if partition <= MAX_COPIED_WITNESS => partition,
            _ => 0,
        };
        Footprint {
            partition_bytes: partition,
            evaluation_bytes: 0,
            start_bytes: partition + copied + results,
            pending_bytes: partition + results,
            finish_bytes: partition + 2 * results,
        }
    }

    fn own_bytes(&self) -> u64 {
        (SPARE_BYTES + STAGING_BYTES) as u64
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
        CudaError::KeyRead { kind, os_error, .. } => DeviceError::from(KeyError::Io {
            path: origin.to_path_buf(),
            action: "read the points",
            source: os_error.map_or_else(|| kind.into(), std::io::Error::from_raw_os_error),
        }),
        error => device_error(error),
    }
}

fn device_error(error: CudaError) -> DeviceError {
    let device = NAME;
    if let CudaError::OutOfMemory {
        wanted,
        used,
        limit,
    } = error
    {
        return DeviceError::OutOfMemory {
            device,
            needed_bytes: wanted,
            free_bytes: limit.saturating_sub(used),
        };
    }
    let fault = error.fault();
    let source = Box::new(error);
    match fault {
        Fault::Memory => DeviceError::NoMemory { device, source },
        Fault::Request => DeviceError::Refused { device, source },
        Fault::Passing => DeviceError::Failed { device, source },
        Fault::Lasting => DeviceError::Lost { device, source },
    }
}

/// The error when `needed` bytes are not free, which is final when they are more than the limit.
fn no_room(needed: u64, device: &Device) -> DeviceError {
    let limit = device.memory_limit();
    if needed > limit {
        return DeviceError::MemoryLimit {
            device: NAME,
            needed_bytes: needed,
            limit_bytes: limit,
        };
    }
    DeviceError::OutOfMemory {
        device: NAME,
        needed_bytes: needed,
        free_bytes: device.available_memory(),
    }
}

#[cfg(test)]
mod tests {
    use cuzk_groth16::Blinding;
    use cuzk_testkit::conformance::Case;

    use super::*;
    use crate::{
        Fp,
        driver::{Arguments, Grid},
        kernels::DeviceGroup,
    };

    /// Alone in its program, since the card fails for all other tests of it, too.
    #[test]
    #[ignore = "needs an NVIDIA card, which it makes fail until the program ends"]
    fn gpu_a_kernel_that_fails_loses_the_device_for_good() {
        let device = Device::open(0, u64::MAX).expect("a card");
        let prover = CudaDevice::new(device);
        let case = Case::named("mimc");
        let [first, second] = [(); 2].map(|()| case.partition(&prover, Blinding::random()));
        let pending = prover.start(first).expect("the card works");
        prover.finish(pending).expect("the card works");

        let session = prover.device().session();
        let at_zero = Arguments::new().wide(0).word(0).word(1).wide(0);
        let launched = session.launch(Fp::KERNELS.decode, Grid::for_items(1, 32), &at_zero);
        launched.expect("it is queued");
        let failed = session.wait().expect_err("nothing lies at address zero");
        assert_eq!(failed.fault(), Fault::Lasting, "{failed}");

        let lost = |result: Result<(), DeviceError>| match result {
            Err(DeviceError::Lost { .. }) => (),
            other => panic!("{other:?}"),
        };
        let proved = prover
            .start(second)
            .and_then(|pending| prover.finish(pending));
        lost(proved.map(drop));
        lost(prover.load_key(Arc::clone(case.key())).map(drop));
    }
}
