//! What pending proofs share with their device: the card, which queues one pass at a time, and the memory that proofs leave
//! behind for the next ones.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, OnceLock},
};

use cuzk_groth16::{Blinding, DeviceError, LoadedCircuit, Proof, assemble};
use cuzk_r1cs::PackedWitness;

use super::{
    NAME,
    circuit::CudaCircuit,
    device_error,
    feed::Uploader,
    key::KeyQueries,
    key_error, no_room,
    pass::{Pass, Queued, Waiting},
    times::ProofTimes,
};
use crate::{
    CudaError, Device, Streaming,
    background::Background,
    driver::{InFlight, Transfers},
    lobby::{Lead, Lobby, Redeemed, Ticket},
    rooms::Rooms,
    spares::Spares,
    sync::lock,
    turn::Turn,
};

/// Page-locked memory that is kept for the next proofs: of two or three large proofs.
pub(super) const SPARE_BYTES: usize = 256 << 20;

/// What comes of a proof when its pass is queued.
type Outcome = Result<(InFlight, Queued), CudaError>;
pub(super) type PassLobby = Lobby<Waiting, Outcome>;

pub(super) struct Shared {
    pub(super) device: Arc<Device>,
    pub(super) streaming: Streaming,
    /// Held while proofs are queued, so that no two passes' buffers mix, and while a load decides by what is free.
    pub(super) turn: Turn,
    /// What loads leave free for proofs.
    pub(super) rooms: Rooms,
    /// Page-locked memory of finished proofs.
    spares: Spares<Transfers>,
    /// There once a key is streamed.
    uploader: Mutex<Option<Arc<Uploader>>>,
    /// For what waits for the card and concerns no proof.
    background: Background,
}

impl Shared {
    pub(super) fn new(device: Device, streaming: Streaming) -> Self {
        Self {
            device: Arc::new(device),
            streaming,
            turn: Turn::new(),
            rooms: Rooms::default(),
            spares: Spares::new(SPARE_BYTES),
            uploader: Mutex::new(None),
            background: Background::default(),
        }
    }

    /// Gives memory of the card that nothing uses any more back to the system, some time.
    pub(super) fn trim(&self) {
        let device = Arc::clone(&self.device);
        self.background.run(move || {
            // A card that fails has nothing to give back, and the next call tells of it.
            let _ = device.trim();
        });
    }

    /// Gives a proof its page-locked memory, an old one where there is one.
    pub(super) fn admit(
        &self,
        circuit: &CudaCircuit,
        witness: PackedWitness,
    ) -> Result<Waiting, DeviceError> {
        let bytes = circuit.transfer_bytes;
        let transfers = match self.spares.take(bytes) {
            Some(transfers) => transfers,
            None => Transfers::new(self.device.session(), bytes).map_err(device_error)?,
        };
        Ok(Waiting { witness, transfers })
    }

    /// Whether there is room for the proofs of everything that was loaded, each by itself.
    pub(super) fn expect_rooms(&self) -> Result<(), DeviceError> {
        let needed = self.rooms.largest();
        if needed <= self.device.available_memory() {
            return Ok(());
        }
        Err(no_room(needed, &self.device))
    }

    /// Queues a proof by itself.
    pub(super) fn queue_one(
        &self,
        circuit: &LoadedCircuit,
        waiting: Waiting,
    ) -> Result<(InFlight, Queued), DeviceError> {
        let prepared: &CudaCircuit = circuit.form(NAME)?;
        let turn = self.turn.wait();
        let queued = self.queue(prepared, |_| vec![waiting]);
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
        let prepared: &CudaCircuit = circuit.form(NAME)?;
        let turn = self.turn.wait();
        let mut num_proofs = 0;
        // Those that came while another pass had the turn are in.
        let queued = self.queue(prepared, |most| {
            let group = lead.group(most);
            num_proofs = group.len();
            group
        });
        drop(turn);
        lead.done(match queued {
            Ok(proofs) => proofs.into_iter().map(Ok).collect(),
            Err(error) => (0..num_proofs).map(|_| Err(error.clone())).collect(),
        });
        Ok(())
    }

    /// Queues a pass, in its turn, for at most as many proofs as `group` is told.
    fn queue(
        &self,
        circuit: &CudaCircuit,
        group: impl FnOnce(NonZeroUsize) -> Vec<Waiting>,
    ) -> Result<Vec<(InFlight, Queued)>, CudaError> {
        let (cut, plan) = circuit.next_pass(&self.device);
        let group = group(NonZeroUsize::new(plan.proofs).unwrap_or(NonZeroUsize::MIN));
        Pass::queue(&self.device, (circuit, cut), (group, plan.quotients))
    }

    /// Waits for a proof's sums and makes a proof of them.
    pub(super) fn complete(
        &self,
        circuit: &LoadedCircuit,
        (in_flight, queued): (InFlight, Queued),
        blinding: Blinding,
        seen: &OnceLock<ProofTimes>,
    ) -> Result<Proof, DeviceError> {
        let prepared: &CudaCircuit = circuit.form(NAME)?;
        let key = circuit.key();
        let arrived = in_flight.wait().map_err(device_error)?;
        queued
            .expect_points(&arrived)
            .map_err(|error| key_error(error, key.origin()))?;
        let sums = match &prepared.key {
            KeyQueries::Resident(..) => queued.read(&arrived),
            // There is a sum for each part of the key.
            KeyQueries::Streamed(_, uploader) => uploader.install(|| queued.read(&arrived)),
        };
        let spent = queued.times().map_err(device_error)?;
        seen.get_or_init(|| spent);
        let surplus = self.spares.keep(prepared.transfer_bytes, arrived.reuse());
        if !surplus.is_empty() {
            self.background.run(move || drop(surplus));
        }
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
