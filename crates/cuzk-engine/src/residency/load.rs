//! Loading what a partition needs, together with the memory for the partition, and giving up what nobody uses.

use std::sync::Arc;

use cuzk_circuits::{CircuitId, Family};
use cuzk_groth16::PreparedVerifyingKey;

use super::{Entry, EntryPlace, Footprints, Lease, Resident};
use crate::budget::{OverBudget, Permit, Request};
use crate::completion::Completion;
use crate::error::{PortError, ResidencyError};
use crate::events::{BufferClass, Event, Step};
use crate::order::Rank;
use crate::shared::Core;
use crate::sync::{Mutex, lock};

/// A lease, what a partition holds, and a permit for that.
pub(crate) struct Readiness {
    pub(crate) lease: Lease,
    pub(crate) footprints: Footprints,
    pub(crate) permit: Permit<Rank>,
}

/// Who asks for a circuit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    pub(crate) circuit: CircuitId,
    pub(crate) rank: Rank,
    /// How the load is called in events.
    pub(crate) step: Step,
}

/// Waits for memory for a partition, with its key and circuit where they are not resident, and loads those.
///
/// Memory is acquired in one request and nothing is held while it is waited for. May be dropped at any point.
pub(crate) async fn lease(
    core: &Arc<Core>,
    asking: Asking,
    on_wait: impl Fn(u64),
) -> Result<Readiness, ResidencyError> {
    let Asking { circuit, rank, .. } = asking;
    loop {
        let changed = core.residency.changed.notified();
        let footprints = core.residency.footprints(circuit);
        let peak = footprints.map_or(0, |footprints| footprints.peak_bytes());
        let needed = needed_bytes(core, circuit)
            .map_err(|source| ResidencyError::Load { circuit, source })?;
        // Its own key and circuit cannot make room for it.
        core.budget
            .expect_within(peak + needed)
            .map_err(|over| too_large(circuit, over))?;
        let missing = if core.residency.is_absent(circuit) {
            needed
        } else {
            0
        };
        let request = Request {
            bytes: peak + missing,
            in_lane: core.settings.winning_lane && circuit.family == Family::WinningPoSt,
        };
        on_wait(request.bytes);
        let acquire = core.budget.acquire(rank, request);
        let acquire = acquire.map_err(|over| too_large(circuit, over))?;
        relieve(core);
        let mut permit = tokio::select! {
            biased;
            permit = acquire => permit,
            () = changed, if missing > 0 => continue,
        };
        let room = permit.split(missing);
        let lease = match core.residency.try_lease(core, circuit) {
            Some(lease) => {
                drop(room);
                lease
            }
            None => match load(core, asking, room).await? {
                Some(lease) => lease,
                // It was evicted while this waited: ask again, for its memory, too.
                None => continue,
            },
        };
        // What a partition holds is known only once its circuit was loaded.
        if let Some(footprints) = footprints {
            return Ok(Readiness {
                lease,
                footprints,
                permit,
            });
        }
    }
}

/// Makes a circuit resident that no partition needs yet.
pub(crate) async fn preload(core: &Arc<Core>, asking: Asking) -> Result<(), ResidencyError> {
    let circuit = asking.circuit;
    loop {
        let changed = core.residency.changed.notified();
        if !core.residency.is_absent(circuit) {
            return Ok(());
        }
        let request = Request {
            bytes: needed_bytes(core, circuit)
                .map_err(|source| ResidencyError::Load { circuit, source })?,
            in_lane: false,
        };
        let acquire = core.budget.acquire(asking.rank, request);
        let acquire = acquire.map_err(|over| too_large(circuit, over))?;
        relieve(core);
        let room = tokio::select! {
            biased;
            room = acquire => room,
            () = changed => continue,
        };
        drop(load(core, asking, room).await?);
    }
}

fn too_large(circuit: CircuitId, over: OverBudget) -> ResidencyError {
    ResidencyError::TooLarge {
        circuit,
        needed_bytes: over.needed_bytes,
        budget_bytes: over.budget_bytes,
    }
}

/// Bytes of a circuit and its key.
pub(crate) fn needed_bytes(core: &Core, circuit: CircuitId) -> Result<u64, PortError> {
    Ok(core.keys.size(circuit)?.budget_bytes + core.circuits.resident_bytes(circuit))
}

/// Loads a circuit into `room`, or waits for who does; `None` when there is neither room nor somebody.
async fn load(
    core: &Arc<Core>,
    asking: Asking,
    room: Permit<Rank>,
) -> Result<Option<Lease>, ResidencyError> {
    let circuit = asking.circuit;
    let needed =
        needed_bytes(core, circuit).map_err(|source| ResidencyError::Load { circuit, source })?;
    let other = match place_of(core, circuit, room.bytes() >= needed) {
        PlaceFound::Free(loading) => {
            return make_resident(core, asking, room, loading).await.map(Some);
        }
        PlaceFound::NoRoom => return Ok(None),
        PlaceFound::Loading(other) => Some(other),
        PlaceFound::Resident => None,
    };
    drop(room);
    if let Some(other) = other {
        other.wait().await;
    }
    // If that failed, the next attempt is this one's own and gets its own error.
    Ok(core.residency.try_lease(core, circuit))
}

/// Where a circuit was found.
enum PlaceFound {
    Resident,
    Loading(Arc<Completion<()>>),
    /// It was absent; its entry says now that it is loaded.
    Free(Arc<Completion<()>>),
    NoRoom,
}

fn place_of(core: &Core, circuit: CircuitId, has_room: bool) -> PlaceFound {
    let mut state = lock(&core.residency.state);
    let entry = state.entries.entry(circuit).or_default();
    match &entry.place {
        EntryPlace::Loading(other) => PlaceFound::Loading(Arc::clone(other)),
        EntryPlace::Resident(_) => PlaceFound::Resident,
        EntryPlace::Absent if !has_room => PlaceFound::NoRoom,
        EntryPlace::Absent => {
            let loading = Arc::new(Completion::new());
            entry.place = EntryPlace::Loading(Arc::clone(&loading));
            drop(state);
            core.residency.changed.notify_waiters();
            PlaceFound::Free(loading)
        }
    }
}

/// Loads a circuit whose entry says so; the entry changes whatever happens, and also when this is dropped.
async fn make_resident(
    core: &Arc<Core>,
    asking: Asking,
    permit: Permit<Rank>,
    loading: Arc<Completion<()>>,
) -> Result<Lease, ResidencyError> {
    let circuit = asking.circuit;
    let shared = Arc::clone(core);
    let present = core.presence.enter();
    // The work itself changes the entry, because whoever waits for it here may go away.
    let work = move || {
        let mut guard = LoadGuard {
            core: Arc::clone(&shared),
            circuit,
            loading,
            outcome: EntryPlace::Absent,
            footprints: None,
        };
        let resident = open(&shared, circuit, permit)?;
        let devices = shared.devices.iter().map(|device| &**device);
        guard.footprints = Some(Footprints::of(&resident.circuit, devices));
        guard.outcome = EntryPlace::Resident(Arc::new(resident));
        drop(guard);
        drop(present);
        Ok(())
    };
    let (loaded, _) = core.steps.run(asking.step, work).await;
    loaded
        .map_err(|_| ResidencyError::Panicked { circuit })?
        .map_err(|source| ResidencyError::Load { circuit, source })?;
    // Between the load and this it may have been evicted, by an operator at most.
    core.residency
        .try_lease(core, circuit)
        .ok_or(ResidencyError::InUse {
            circuit,
            num_leases: 0,
        })
}

fn open(core: &Core, circuit: CircuitId, mut permit: Permit<Rank>) -> Result<Resident, PortError> {
    let key = core.keys.open(circuit)?;
    let data = core.circuits.load(circuit)?;
    let verifying_key = Arc::new(PreparedVerifyingKey::new(key.verifying_key()));
    permit.fix();
    let bytes = permit.bytes();
    core.bus.emit(Event::Loaded { circuit, bytes });
    Ok(Resident {
        key,
        circuit: data,
        verifying_key,
        on_devices: (0..core.devices.len()).map(|_| Mutex::new(None)).collect(),
        _counted: core.bus.count(BufferClass::Resident, bytes),
        permit,
    })
}

/// Writes the outcome of a load into the entry, also when the load panics.
struct LoadGuard {
    core: Arc<Core>,
    circuit: CircuitId,
    loading: Arc<Completion<()>>,
    outcome: EntryPlace,
    footprints: Option<Footprints>,
}

impl Drop for LoadGuard {
    fn drop(&mut self) {
        let mut state = lock(&self.core.residency.state);
        let entry: &mut Entry = state.entries.entry(self.circuit).or_default();
        entry.place = std::mem::take(&mut self.outcome);
        if let Some(footprints) = self.footprints {
            entry.footprints = Some(footprints);
        }
        drop(state);
        if let Some(footprints) = self.footprints
            && self.circuit.family == Family::WinningPoSt
            && self.core.settings.winning_lane
        {
            let reserve = self.core.budget.numbers().reserve;
            self.core
                .budget
                .set_reserve(reserve.max(footprints.peak_bytes()));
        }
        self.loading.set(());
        self.core.residency.changed.notify_waiters();
    }
}

/// Gives up idle circuits while somebody waits for memory: those that no job needs first, and others only when no
/// partition in flight will give memory back. The circuit of the first job that waits stays.
pub(crate) fn relieve(core: &Core) {
    if !core.budget.is_contended() {
        return;
    }
    let mut hungry = core.registry.unfinished();
    hungry.retain(|job| job.is_hungry());
    let first = hungry.iter().min_by_key(|job| job.rank);
    let first = first.map(|job| job.circuit);
    while core.budget.is_contended() {
        let is_needed = |circuit| hungry.iter().any(|job| job.circuit == circuit);
        let idle = core.residency.take_idle(|circuit| !is_needed(circuit));
        let idle = idle.or_else(|| {
            if core.residency.is_in_use() {
                return None;
            }
            core.residency.take_idle(|circuit| Some(circuit) != first)
        });
        let Some((circuit, resident)) = idle else {
            return;
        };
        evicted(core, circuit, resident);
    }
}

/// Frees a circuit that was taken out; the bytes of the budget that this gives back.
pub(crate) fn evicted(core: &Core, circuit: CircuitId, resident: Arc<Resident>) -> u64 {
    let bytes = resident.permit.bytes();
    core.circuits.evicted(circuit);
    core.bus.emit(Event::Evicted { circuit, bytes });
    core.steps.reap(resident);
    bytes
}

/// Loads what the next waiting job needs, where memory is free for it and nobody waits for that.
pub(crate) fn look_ahead(core: &Arc<Core>) {
    let mut hungry = core.registry.unfinished();
    hungry.retain(|job| job.is_hungry());
    hungry.sort_by_key(|job| job.rank);
    let next = hungry
        .iter()
        .find(|job| core.residency.is_absent(job.circuit));
    let Some(job) = next else { return };
    let circuit = job.circuit;
    // A key that is missing is reported when the job's turn comes.
    let Ok(bytes) = needed_bytes(core, circuit) else {
        return;
    };
    let request = Request {
        bytes,
        in_lane: false,
    };
    let Some(room) = core.budget.try_acquire(request) else {
        return;
    };
    let asking = Asking {
        circuit,
        rank: job.rank,
        step: Step::load(circuit, None),
    };
    let core = Arc::clone(core);
    tokio::spawn(async move {
        // As above.
        drop(load(&core, asking, room).await);
    });
}
