//! Keys and circuits that are ready, and who uses them.
//!
//! A partition in flight holds a lease; what nobody leases may be evicted, the longest unused first. Key and circuit are
//! paid from the same budget as partitions, and a partition asks for both at once, so that no two wait for each other.

mod footprints;
mod load;

use std::collections::BTreeMap;
use std::sync::Arc;

use cuzk_circuits::CircuitId;
use cuzk_groth16::{LoadedCircuit, PreparedVerifyingKey, ProvingKey};
use cuzk_r1cs::CompiledCircuit;
use tokio::sync::Notify;

pub(crate) use footprints::Footprints;
pub(crate) use load::{
    Asking, Readiness, evicted, lease, look_ahead, needed_bytes, preload, relieve,
};

use crate::budget::Permit;
use crate::bus::Counted;
use crate::completion::Completion;
use crate::error::ResidencyError;
use crate::order::Rank;
use crate::shared::Core;
use crate::snapshot::Tier;
use crate::sync::{Mutex, lock};

/// All circuits that were ever asked for.
#[derive(Default)]
pub(crate) struct Residency {
    state: Mutex<State>,
    /// Told when a load begins or ends. Whoever waits for memory to load the same circuit needs less then.
    changed: Notify,
}

#[derive(Default)]
struct State {
    entries: BTreeMap<CircuitId, Entry>,
    uses: u64,
}

#[derive(Default)]
struct Entry {
    place: EntryPlace,
    num_leases: usize,
    last_use: u64,
    footprints: Option<Footprints>,
}

#[derive(Default)]
enum EntryPlace {
    #[default]
    Absent,
    /// Somebody loads it; the cell is set when that is over, well or not.
    Loading(Arc<Completion<()>>),
    Resident(Arc<Resident>),
}

/// A key and its circuit, with the permit for their memory.
pub(crate) struct Resident {
    pub(crate) key: Arc<ProvingKey>,
    pub(crate) circuit: Arc<CompiledCircuit>,
    pub(crate) verifying_key: Arc<PreparedVerifyingKey>,
    /// The circuit on each device that used it and did not need the memory for another one since.
    on_devices: Vec<Mutex<Option<LoadedCircuit>>>,
    _counted: Counted,
    permit: Permit<Rank>,
}

impl Resident {
    pub(crate) fn on_device(&self, device: usize) -> Option<LoadedCircuit> {
        lock(&self.on_devices[device]).clone()
    }

    pub(crate) fn put_on_device(&self, device: usize, circuit: LoadedCircuit) {
        *lock(&self.on_devices[device]) = Some(circuit);
    }

    fn is_on_a_device(&self) -> bool {
        self.on_devices.iter().any(|loaded| lock(loaded).is_some())
    }
}

/// Keeps a circuit resident.
pub(crate) struct Lease {
    core: Arc<Core>,
    circuit: CircuitId,
    pub(crate) resident: Arc<Resident>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = lock(&self.core.residency.state);
        if let Some(entry) = state.entries.get_mut(&self.circuit) {
            entry.num_leases -= 1;
        }
        drop(state);
        // It may be idle now, and somebody may wait for its memory.
        relieve(&self.core);
    }
}

/// Where a circuit is and what it takes, for the snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryView {
    pub(crate) tier: Tier,
    pub(crate) budget_bytes: u64,
    pub(crate) num_leases: usize,
}

impl Residency {
    /// A lease of a circuit that is resident.
    fn try_lease(&self, core: &Arc<Core>, circuit: CircuitId) -> Option<Lease> {
        let mut state = lock(&self.state);
        state.uses += 1;
        let uses = state.uses;
        let entry = state.entries.get_mut(&circuit)?;
        let EntryPlace::Resident(resident) = &entry.place else {
            return None;
        };
        let resident = Arc::clone(resident);
        entry.num_leases += 1;
        entry.last_use = uses;
        Some(Lease {
            core: Arc::clone(core),
            circuit,
            resident,
        })
    }

    /// What a partition of a circuit holds; `None` until the circuit was loaded once.
    pub(crate) fn footprints(&self, circuit: CircuitId) -> Option<Footprints> {
        lock(&self.state).entries.get(&circuit)?.footprints
    }

    fn is_absent(&self, circuit: CircuitId) -> bool {
        let state = lock(&self.state);
        let entry = state.entries.get(&circuit);
        entry.is_none_or(|entry| matches!(entry.place, EntryPlace::Absent))
    }

    /// The idle circuit that was not used for longest, among those that `may_go` accepts, taken out.
    fn take_idle(&self, may_go: impl Fn(CircuitId) -> bool) -> Option<(CircuitId, Arc<Resident>)> {
        let mut state = lock(&self.state);
        let idle = state.entries.iter_mut().filter(|(circuit, entry)| {
            let EntryPlace::Resident(resident) = &entry.place else {
                return false;
            };
            entry.num_leases == 0 && resident.permit.bytes() > 0 && may_go(**circuit)
        });
        let (circuit, entry) = idle.min_by_key(|(_, entry)| entry.last_use)?;
        match std::mem::take(&mut entry.place) {
            EntryPlace::Resident(resident) => Some((*circuit, resident)),
            EntryPlace::Absent | EntryPlace::Loading(_) => None,
        }
    }

    /// Whether a partition in flight uses any circuit.
    fn is_in_use(&self) -> bool {
        let state = lock(&self.state);
        state.entries.values().any(|entry| entry.num_leases > 0)
    }

    /// Takes a circuit out, if nobody uses it.
    pub(crate) fn take(&self, circuit: CircuitId) -> Result<Option<Arc<Resident>>, ResidencyError> {
        let mut state = lock(&self.state);
        let Some(entry) = state.entries.get_mut(&circuit) else {
            return Ok(None);
        };
        let is_loading = matches!(entry.place, EntryPlace::Loading(_));
        if is_loading || entry.num_leases > 0 {
            return Err(ResidencyError::InUse {
                circuit,
                num_leases: entry.num_leases,
            });
        }
        match std::mem::take(&mut entry.place) {
            EntryPlace::Resident(resident) => Ok(Some(resident)),
            EntryPlace::Absent | EntryPlace::Loading(_) => Ok(None),
        }
    }

    pub(crate) fn view(&self, circuit: CircuitId) -> EntryView {
        let state = lock(&self.state);
        let resident = state
            .entries
            .get(&circuit)
            .and_then(|entry| match &entry.place {
                EntryPlace::Resident(resident) => Some((entry, resident)),
                EntryPlace::Absent | EntryPlace::Loading(_) => None,
            });
        match resident {
            None => EntryView {
                tier: Tier::Cold,
                budget_bytes: 0,
                num_leases: 0,
            },
            Some((entry, resident)) => EntryView {
                tier: if resident.is_on_a_device() {
                    Tier::Hot
                } else {
                    Tier::Warm
                },
                budget_bytes: resident.permit.bytes(),
                num_leases: entry.num_leases,
            },
        }
    }

    /// Takes the circuits off a device; what they hold there is freed with them.
    pub(crate) fn take_off_device(&self, device: usize) -> Vec<LoadedCircuit> {
        self.take_off_where(device, |_| true)
    }

    /// Frees what circuits hold on a device that nobody leases; whether there were any. Not for later, as the reaper would:
    /// the device's memory is wanted now.
    pub(crate) fn free_idle_on_device(&self, device: usize) -> bool {
        let idle = self.take_off_where(device, |entry| entry.num_leases == 0);
        !idle.is_empty()
    }

    fn take_off_where(&self, device: usize, may_go: impl Fn(&Entry) -> bool) -> Vec<LoadedCircuit> {
        let state = lock(&self.state);
        let going = state.entries.values().filter(|entry| may_go(entry));
        let taken = going.filter_map(|entry| match &entry.place {
            EntryPlace::Resident(resident) => lock(&resident.on_devices[device]).take(),
            EntryPlace::Absent | EntryPlace::Loading(_) => None,
        });
        taken.collect()
    }

    /// All circuits that are resident.
    pub(crate) fn resident(&self) -> Vec<CircuitId> {
        let state = lock(&self.state);
        let entries = state.entries.iter();
        entries
            .filter(|(_, entry)| matches!(entry.place, EntryPlace::Resident(_)))
            .map(|(circuit, _)| *circuit)
            .collect()
    }
}
