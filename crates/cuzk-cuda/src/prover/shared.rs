//! What pending proofs share with their device: the card, which queues one pass at a time, and the memory that proofs leave
//! behind for the next ones.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use cuzk_groth16::{Blinding, DeviceError, LoadedCircuit, Proof, assemble};
use cuzk_r1cs::PackedWitness;

use super::{
    circuit::CudaCircuit,
    device_error,
    feed::Uploader,
    forms,
    key::KeyQueries,
    key_error,
    pass::{Pass, Queued, Waiting},
    times::ProofTimes,
};
use crate::{
    CudaError, Device, Streaming,
    driver::{InFlight, Transfers},
    lobby::{Lead, Lobby, Redeemed, Ticket},
};

/// What comes of a proof when its pass is queued.
type Outcome = Result<(InFlight, Queued), CudaError>;
pub(super) type PassLobby = Lobby<Waiting, Outcome>;

pub(super) struct Shared {
    pub(super) device: Device,
    pub(super) streaming: Streaming,
    /// Held while proofs are queued, so that no two passes' buffers mix.
    turn: Mutex<()>,
    /// Page-locked memory of finished proofs.
    transfers: Mutex<Vec<Transfers>>,
    /// There once a key is streamed.
    uploader: Mutex<Option<Arc<Uploader>>>,
}

impl Shared {
    pub(super) fn new(device: Device, streaming: Streaming) -> Self {
        Self {
            device,
            streaming,
            turn: Mutex::new(()),
            transfers: Mutex::new(Vec::new()),
            uploader: Mutex::new(None),
        }
    }

    /// Gives a proof its page-locked memory, an old one where there is one.
    pub(super) fn admit(
        &self,
        circuit: &CudaCircuit,
        witness: PackedWitness,
    ) -> Result<Waiting, DeviceError> {
        let mut pool = lock(&self.transfers);
        let transfers = take(&mut pool, &self.device, circuit.transfer_bytes);
        Ok(Waiting {
            witness,
            transfers: transfers.map_err(device_error)?,
        })
    }

    /// Queues a proof by itself.
    pub(super) fn queue_one(
        &self,
        circuit: &LoadedCircuit,
        waiting: Waiting,
    ) -> Result<(InFlight, Queued), DeviceError> {
        let (prepared, key) = forms(circuit)?;
        let turn = lock(&self.turn);
        let queued = Pass::queue(&self.device, prepared, key, (vec![waiting], 1));
        drop(turn);
        queued
            .and_then(|mut proofs| proofs.pop().ok_or(CudaError::PassGivenUp))
            .map_err(|error| key_error(error, circuit.key().origin()))
    }

    /// Waits until a proof's pass is queued, or leads one.
    pub(super) fn redeem(
        &self,
        circuit: &LoadedCircuit,
        ticket: &Ticket<Waiting, Outcome>,
    ) -> Result<(InFlight, Queued), DeviceError> {
        loop {
            let outcome = match ticket.redeem() {
                Redeemed::Done(outcome) => outcome,
                Redeemed::Lost => Err(CudaError::PassGivenUp),
                Redeemed::Lead(lead) => {
                    self.lead(circuit, lead)?;
                    continue;
                }
            };
            return outcome.map_err(|error| key_error(error, circuit.key().origin()));
        }
    }

    /// Queues a pass for as many of the waiting proofs as the memory that is free allows.
    fn lead(
        &self,
        circuit: &LoadedCircuit,
        mut lead: Lead<'_, Waiting, Outcome>,
    ) -> Result<(), DeviceError> {
        let (prepared, key) = forms(circuit)?;
        let turn = lock(&self.turn);
        let available = self.device.available_memory();
        let plan = prepared.plan.refitted(prepared.sizes, available);
        // Those that came while another pass had the turn are in.
        let group = lead.group(NonZeroUsize::new(plan.proofs).unwrap_or(NonZeroUsize::MIN));
        let num_proofs = group.len();
        let queued = Pass::queue(&self.device, prepared, key, (group, plan.quotients));
        drop(turn);
        lead.done(match queued {
            Ok(proofs) => proofs.into_iter().map(Ok).collect(),
            Err(error) => (0..num_proofs).map(|_| Err(error.clone())).collect(),
        });
        Ok(())
    }

    /// Waits for a proof's sums and makes a proof of them.
    pub(super) fn complete(
        &self,
        circuit: &LoadedCircuit,
        (in_flight, queued): (InFlight, Queued),
        blinding: Blinding,
        seen: &OnceLock<ProofTimes>,
    ) -> Result<Proof, DeviceError> {
        let (_, queries) = forms(circuit)?;
        let key = circuit.key();
        let arrived = in_flight.wait().map_err(device_error)?;
        queued
            .expect_points(&arrived)
            .map_err(|error| key_error(error, key.origin()))?;
        let sums = match queries {
            KeyQueries::Resident(_) => queued.read(&arrived),
            // There is a sum for each part of the key.
            KeyQueries::Streamed(_, uploader) => uploader.install(|| queued.read(&arrived)),
        };
        let spent = queued.times().map_err(device_error)?;
        seen.get_or_init(|| spent);
        lock(&self.transfers).push(arrived.reuse());
        let sums = sums.map_err(|row| DeviceError::Unsatisfied { row })?;
        Ok(assemble(
            key.verifying_key(),
            &sums.g1,
            &sums.b_g2,
            blinding,
        ))
    }

    /// What brings keys to the card, made for the first one.
    pub(super) fn uploader(&self) -> Result<Arc<Uploader>, DeviceError> {
        let mut uploader = lock(&self.uploader);
        if let Some(uploader) = uploader.as_ref() {
            return Ok(Arc::clone(uploader));
        }
        let made = Arc::new(Uploader::new(&self.device)?);
        *uploader = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// What the locks of a device guard is whole after any panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
