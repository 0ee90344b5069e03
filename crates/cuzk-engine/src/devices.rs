//! How far each device is trusted, and which partitions it may take.
//!
//! A device that fails is quarantined while another one can work; the last one goes on as suspect, because an engine that
//! refuses everything helps nobody, and rests after each failure, because one that is asked at once fails a whole backlog. A
//! partition that failed on a device goes to another one where there is one.
//!
//! A lost device is never asked again. What it held is proved elsewhere, and that is no attempt of the partition: it tells
//! nothing about it. When no other device is left, the engine is of no use any more and says so to its owner.

use std::sync::Arc;
use std::time::Duration;

use cuzk_groth16::ProverDevice;
use tokio::time::Instant;

use crate::bus::Bus;
use crate::events::{DeviceHealth, Event};
use crate::held::{Held, InFlight};
use crate::sync::{Mutex, lock};

/// How long the last device rests after a failure, times its failures in a row.
const REST: Duration = Duration::from_secs(5);

/// All devices of an engine.
pub(crate) struct Devices {
    provers: Vec<Arc<dyn ProverDevice>>,
    bus: Arc<Bus>,
    state: Mutex<Vec<State>>,
}

#[derive(Clone, Debug)]
struct State {
    health: DeviceHealth,
    /// Until when it gets no work, since it failed.
    rests_until: Option<Instant>,
    /// Since its last proof, while there was no other device.
    num_failures: u32,
    last_error: Option<String>,
    /// Whether a partition is in `start`.
    starting: bool,
    /// Whether one of the lane is.
    starting_in_lane: bool,
    held: Held,
}

impl State {
    /// Whether it gets work, now or after a rest.
    const fn works(&self) -> bool {
        matches!(self.health, DeviceHealth::Healthy | DeviceHealth::Suspect)
    }

    fn rests(&self) -> bool {
        self.rests_until.is_some_and(|until| Instant::now() < until)
    }

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
            rests_until: None,
            num_failures: 0,
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
        let others_work = others_work(&state, device);
        let own = &mut state[device];
        let is_free = !own.starting_in_lane && (beside || !own.starting);
        let may_take =
            own.works() && !own.rests() && is_free && !(avoid == Some(device) && others_work);
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

    /// Notes that a device failed; until when it gets no work. It is quarantined, or rests where it is the last one.
    pub(crate) fn distrust(&self, device: usize, why: String, quarantine: Duration) -> Instant {
        let now = Instant::now();
        let mut state = lock(&self.state);
        let is_last = !others_work(&state, device);
        let own = &mut state[device];
        let until = match own.rests_until {
            // It was asked before, and fails for the same reason.
            Some(until) if is_last && now < until => until,
            _ if is_last => {
                own.num_failures += 1;
                now + quarantine.min(REST * own.num_failures)
            }
            _ => now + quarantine,
        };
        own.rests_until = Some(until);
        drop(state);
        let health = if is_last {
            DeviceHealth::Suspect
        } else {
            DeviceHealth::Quarantined
        };
        self.change(device, health, why);
        until
    }

    /// Notes that a device made a proof.
    pub(crate) fn proved(&self, device: usize) {
        lock(&self.state)[device].num_failures = 0;
    }

    /// Ends a quarantine that was not renewed.
    pub(crate) fn readmit(&self, device: usize) {
        let mut state = lock(&self.state);
        let own = &mut state[device];
        if own.health == DeviceHealth::Quarantined && !own.rests() {
            own.health = DeviceHealth::Suspect;
            drop(state);
            self.bus.emit(Event::DeviceChanged {
                device,
                health: DeviceHealth::Suspect,
            });
        }
    }

    /// Notes that a device does not work any more. Whether another one is left: where none but quarantined ones are, those
    /// work again.
    pub(crate) fn lose(&self, device: usize, why: String) -> bool {
        self.change(device, DeviceHealth::Lost, why);
        let mut state = lock(&self.state);
        if others_work(&state, device) {
            return true;
        }
        let mut readmitted = Vec::new();
        for (index, other) in state.iter_mut().enumerate() {
            if other.health == DeviceHealth::Quarantined {
                other.rests_until = None;
                readmitted.push(index);
            }
        }
        drop(state);
        for &other in &readmitted {
            self.readmit(other);
        }
        !readmitted.is_empty()
    }

    pub(crate) fn is_lost(&self, device: usize) -> bool {
        lock(&self.state)[device].health == DeviceHealth::Lost
    }

    fn change(&self, device: usize, health: DeviceHealth, why: String) {
        let mut state = lock(&self.state);
        let own = &mut state[device];
        if own.health == DeviceHealth::Lost {
            return;
        }
        own.last_error = Some(why);
        if own.health == DeviceHealth::Quarantined && health == DeviceHealth::Suspect {
            return;
        }
        own.health = health;
        drop(state);
        self.bus.emit(Event::DeviceChanged { device, health });
    }

    /// Health, last error and partitions of a device.
    pub(crate) fn state_of(&self, device: usize) -> (DeviceHealth, Option<String>, Vec<InFlight>) {
        let state = lock(&self.state)[device].clone();
        (state.health, state.last_error, state.held.partitions())
    }
}

/// Whether a device other than this one gets work.
fn others_work(state: &[State], device: usize) -> bool {
    let mut states = state.iter().enumerate();
    states.any(|(index, other)| index != device && other.works())
}
