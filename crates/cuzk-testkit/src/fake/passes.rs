//! Passes on virtual time, as devices make them whose keys do not fit: whoever is finished first leads one for all that were
//! started by then, and the device makes one at a time. A partition that is given up keeps its place in the next pass.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuzk_circuits::CircuitId;
use cuzk_engine::{JobId, Step};
use tokio::sync::{Mutex as Turn, Notify};

/// What a pass is like.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// How long it takes.
    pub takes: Duration,
    /// How many partitions there is room for, whatever the device said before.
    pub room: NonZeroUsize,
}

/// Where partitions wait for a pass: each circuit on each device has a place of its own.
#[derive(Debug, Default)]
pub(super) struct Passes {
    state: Mutex<State>,
    /// A pass is over.
    over: Notify,
}

#[derive(Debug, Default)]
struct State {
    lobbies: BTreeMap<(usize, CircuitId), Lobby>,
    turns: BTreeMap<usize, Arc<Turn<()>>>,
}

#[derive(Debug, Default)]
struct Lobby {
    waiting: VecDeque<(JobId, usize)>,
    is_led: bool,
    done: BTreeSet<(JobId, usize)>,
}

/// What there is to do for who is finished.
enum Next {
    Collect,
    Wait,
    Lead(Arc<Turn<()>>),
}

/// The place and the partition of a step.
fn parts(step: &Step) -> Option<((usize, CircuitId), (JobId, usize))> {
    Some(((step.device?, step.circuit?), (step.job?, step.partition?)))
}

impl Passes {
    /// A partition is started.
    pub(super) fn enter(&self, step: &Step) {
        if let Some((place, partition)) = parts(step) {
            let mut state = self.lock();
            let lobby = state.lobbies.entry(place).or_default();
            lobby.waiting.push_back(partition);
        }
    }

    /// Returns when the pass of a partition is over; who is first leads it.
    pub(super) async fn redeem(&self, step: &Step, pass: Pass) {
        let Some((place, partition)) = parts(step) else {
            return;
        };
        loop {
            let over = self.over.notified();
            match self.next(place, partition) {
                Next::Collect => return,
                Next::Wait => over.await,
                Next::Lead(turn) => {
                    let turn = turn.lock().await;
                    let group = self.group(place, partition, pass.room);
                    tokio::time::sleep(pass.takes).await;
                    drop(turn);
                    let mut state = self.lock();
                    let lobby = state.lobbies.entry(place).or_default();
                    lobby.is_led = false;
                    lobby.done.extend(group);
                    self.over.notify_waiters();
                }
            }
        }
    }

    fn next(&self, place: (usize, CircuitId), partition: (JobId, usize)) -> Next {
        let mut state = self.lock();
        let turn = Arc::clone(state.turns.entry(place.0).or_default());
        let lobby = state.lobbies.entry(place).or_default();
        if lobby.done.remove(&partition) {
            return Next::Collect;
        }
        if lobby.is_led {
            return Next::Wait;
        }
        lobby.is_led = true;
        Next::Lead(turn)
    }

    /// The leader, and those that have waited longest.
    fn group(
        &self,
        place: (usize, CircuitId),
        leader: (JobId, usize),
        room: NonZeroUsize,
    ) -> Vec<(JobId, usize)> {
        let mut state = self.lock();
        let lobby = state.lobbies.entry(place).or_default();
        lobby.waiting.retain(|waiting| *waiting != leader);
        let others = lobby.waiting.len().min(room.get() - 1);
        let mut group = vec![leader];
        group.extend(lobby.waiting.drain(..others));
        group
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
