//! How far each device is trusted, and which partitions it may take.
//!
//! A device that fails is quarantined while another one can work; the last one goes on as suspect, because an engine that
//! refuses everything helps nobody. A partition that failed on a device goes to another one where there is one.

use std::sync::Arc;

use cuzk_groth16::ProverDevice;
use tokio::time::Instant;

use crate::bus::Bus;
use crate::events::{DeviceHealth, Event};
use crate::held::{Held, InFlight};
use crate::sync::{Mutex, lock};

/// All devices of an engine.
pub(crate) struct Devices {
    provers: Vec<Arc<dyn ProverDevice>>,
    bus: Arc<Bus>,
    state: Mutex<Vec<State>>,
}

#[derive(Clone, Debug)]
struct State {
    health: DeviceHealth,
    quarantined_at: Option<Instant>,
    last_error: Option<String>,
    /// Whether a partition is in `start`.
    starting: bool,
    /// Whether one of the lane is.
    starting_in_lane: bool,
    held: Held,
}

impl State {
    fn claimed(&mut self, in_lane: bool) -> &mut bool {
        if in_lane {
            &mut self.starting_in_lane
        } else {
            &mut self.starting
        }
    }
}

impl Devices {
    pub(crate) fn new(provers: Vec<Arc<dyn ProverDevice>>, bus: Arc<Bus>) -> Self {
        let state = State {
            health: DeviceHealth::Healthy,
            quarantined_at: None,
            last_error: None,
            starting: false,
            starting_in_lane: false,
            held: Held::default(),
        };
        Self {
            state: Mutex::new(vec![state; provers.len()]),
            provers,
            bus,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.provers.len()
    }

    pub(crate) fn get(&self, device: usize) -> Arc<dyn ProverDevice> {
        Arc::clone(&self.provers[device])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<dyn ProverDevice>> {
        self.provers.iter()
    }

    /// Takes the device for the start of a partition, if it is free, trusted, and no other one should have the partition.
    /// Where the device allows it, one of the lane is started beside another one.
    pub(crate) fn claim(&self, device: usize, avoid: Option<usize>, in_lane: bool) -> bool {
        let beside = in_lane && self.starts_beside(device);
        let mut state = lock(&self.state);
        let others_work = state
            .iter()
            .enumerate()
            .any(|(index, other)| index != device && other.health != DeviceHealth::Quarantined);
        let own = &mut state[device];
        let is_free = !own.starting_in_lane && (beside || !own.starting);
        let may_take = own.health != DeviceHealth::Quarantined
            && is_free
            && !(avoid == Some(device) && others_work);
        if may_take {
            *own.claimed(in_lane) = true;
        }
        may_take
    }

    /// Whether a device allows that a partition of the lane is started beside another one.
    pub(crate) fn starts_beside(&self, device: usize) -> bool {
        self.provers[device].starts_beside()
    }

    /// Gives a claim back.
    pub(crate) fn release(&self, device: usize, in_lane: bool) {
        *lock(&self.state)[device].claimed(in_lane) = false;
    }

    /// What a device holds.
    pub(crate) fn held<T>(&self, device: usize, look: impl FnOnce(&mut Held) -> T) -> T {
        look(&mut lock(&self.state)[device].held)
    }

    /// Notes that a device made a bad proof.
    pub(crate) fn suspect(&self, device: usize, why: String) {
        self.change(device, DeviceHealth::Suspect, why);
    }

    /// Notes that a device failed. Whether it is quarantined now; the last one is not.
    pub(crate) fn distrust(&self, device: usize, why: String) -> bool {
        let others_work = lock(&self.state)
            .iter()
            .enumerate()
            .any(|(index, other)| index != device && other.health != DeviceHealth::Quarantined);
        let health = if others_work {
            DeviceHealth::Quarantined
        } else {
            DeviceHealth::Suspect
        };
        self.change(device, health, why);
        others_work
    }

    /// Ends a quarantine that was not renewed since `began`.
    pub(crate) fn readmit(&self, device: usize, began: Instant) {
        let mut state = lock(&self.state);
        let own = &mut state[device];
        let is_over = own.health == DeviceHealth::Quarantined
            && own.quarantined_at.is_none_or(|at| at <= began);
        if is_over {
            own.health = DeviceHealth::Suspect;
            drop(state);
            self.bus.emit(Event::DeviceChanged {
                device,
                health: DeviceHealth::Suspect,
            });
        }
    }

    fn change(&self, device: usize, health: DeviceHealth, why: String) {
        let mut state = lock(&self.state);
        let own = &mut state[device];
        own.last_error = Some(why);
        if own.health == DeviceHealth::Quarantined && health == DeviceHealth::Suspect {
            return;
        }
        own.health = health;
        own.quarantined_at = (health == DeviceHealth::Quarantined).then(Instant::now);
        drop(state);
        self.bus.emit(Event::DeviceChanged { device, health });
    }

    /// Health, last error and partitions of a device.
    pub(crate) fn state_of(&self, device: usize) -> (DeviceHealth, Option<String>, Vec<InFlight>) {
        let state = lock(&self.state)[device].clone();
        (state.health, state.last_error, state.held.partitions())
    }
}
