//! What steps cost and where they fail.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuzk_circuits::CircuitId;
use cuzk_engine::{Stage, Step};

use super::passes::{Pass, Passes};

/// How a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It panics.
    Panic,
    /// The request is refused as invalid; a device finds a violated row.
    Invalid,
    /// The device refuses the partition for a reason that is not the client's.
    Refused,
    /// The device fails, and may work the next time.
    Failed,
    /// The device fails, and so does everything that it is asked after.
    Lost,
    /// The device lacks memory.
    OutOfMemory,
    /// It succeeds and the proof does not verify.
    BadProof,
}

/// A step that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// In which stage.
    pub stage: Stage,
    /// On which device; `None` is any.
    pub device: Option<usize>,
    /// How.
    pub kind: FaultKind,
    /// How often.
    pub times: usize,
}

/// What is scripted.
#[derive(Debug, Default)]
pub struct Script {
    state: Mutex<State>,
    pub(super) passes: Passes,
}

#[derive(Debug, Default)]
struct State {
    durations: BTreeMap<(Stage, Option<CircuitId>), Range>,
    /// Steps whose duration was drawn.
    num_drawn: u64,
    faults: Vec<Fault>,
    lost: BTreeSet<usize>,
    calls: BTreeMap<Stage, usize>,
    starts_beside: bool,
    proofs_per_pass: Option<NonZeroUsize>,
    pass: Option<Pass>,
    evicted: Vec<CircuitId>,
    max_circuits: Option<usize>,
}

/// Durations that a step may have.
#[derive(Clone, Copy, Debug)]
struct Range {
    least: Duration,
    most: Duration,
}

impl Range {
    /// The same sequence in every run, spread evenly.
    fn draw(self, number: u64) -> Duration {
        // The golden ratio's fraction of 2^64: multiples of it are as evenly spread as can be.
        let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let width = self.most.saturating_sub(self.least).as_nanos() as u64;
        let offset = (u128::from(width) * u128::from(spread)) >> 32;
        self.least + Duration::from_nanos(offset as u64)
    }
}

impl Script {
    /// Sets how long a stage takes for every circuit.
    pub fn takes(&self, stage: Stage, duration: Duration) {
        self.takes_between(stage, duration, duration);
    }

    /// Sets between what bounds a stage takes for every circuit.
    pub fn takes_between(&self, stage: Stage, least: Duration, most: Duration) {
        let range = Range { least, most };
        self.lock().durations.insert((stage, None), range);
    }

    /// Sets how long a stage takes for one circuit.
    pub fn takes_for(&self, stage: Stage, circuit: CircuitId, duration: Duration) {
        let range = Range {
            least: duration,
            most: duration,
        };
        let key = (stage, Some(circuit));
        self.lock().durations.insert(key, range);
    }

    /// How long a step takes; nothing where nothing was set.
    pub fn duration(&self, step: &Step) -> Duration {
        let mut state = self.lock();
        let durations = &state.durations;
        let own = durations.get(&(step.stage, step.circuit));
        let range = own.or_else(|| durations.get(&(step.stage, None))).copied();
        state.num_drawn += 1;
        let number = state.num_drawn;
        range.map_or(Duration::ZERO, |range| range.draw(number))
    }

    /// Lets steps fail, beginning with the next one that fits.
    pub fn fail(&self, fault: Fault) {
        self.lock().faults.push(fault);
    }

    /// Lets devices start an urgent partition beside another one.
    pub fn start_beside(&self) {
        self.lock().starts_beside = true;
    }

    /// Whether they do.
    pub(super) fn starts_beside(&self) -> bool {
        self.lock().starts_beside
    }

    /// Lets devices compute so many partitions together.
    pub fn share_passes(&self, proofs_per_pass: NonZeroUsize) {
        self.lock().proofs_per_pass = Some(proofs_per_pass);
    }

    /// Lets a partition be finished only when a pass is over that it shares or leads. What finishing takes otherwise comes after.
    pub fn lead_passes(&self, pass: Pass) {
        self.lock().pass = Some(pass);
    }

    /// What their passes are like, where those are told.
    pub(super) fn pass(&self) -> Option<Pass> {
        self.lock().pass
    }

    /// Partitions that they compute together.
    pub(super) fn proofs_per_pass(&self) -> NonZeroUsize {
        self.lock().proofs_per_pass.unwrap_or(NonZeroUsize::MIN)
    }

    /// Gives each device memory for so many circuits.
    pub fn hold_circuits(&self, max_circuits: usize) {
        self.lock().max_circuits = Some(max_circuits);
    }

    /// How many circuits a device has memory for.
    pub(super) fn max_circuits(&self) -> usize {
        self.lock().max_circuits.unwrap_or(usize::MAX)
    }

    /// Circuits whose source was told that they were evicted, in order.
    pub fn evicted(&self) -> Vec<CircuitId> {
        self.lock().evicted.clone()
    }

    /// Notes that a circuit was evicted.
    pub(super) fn note_evicted(&self, circuit: CircuitId) {
        self.lock().evicted.push(circuit);
    }

    /// How often a stage was called.
    pub fn num_calls(&self, stage: Stage) -> usize {
        self.lock().calls.get(&stage).copied().unwrap_or(0)
    }

    /// The fault of a call that begins now; panics where that is the fault.
    pub(super) fn call(&self, stage: Stage, device: Option<usize>) -> Option<FaultKind> {
        let mut state = self.lock();
        *state.calls.entry(stage).or_default() += 1;
        if device.is_some_and(|device| state.lost.contains(&device)) {
            return Some(FaultKind::Lost);
        }
        let fault = state.faults.iter_mut().find(|fault| {
            let is_there = fault.device.is_none() || fault.device == device;
            fault.stage == stage && is_there && fault.times > 0
        })?;
        fault.times -= 1;
        let kind = fault.kind;
        if kind == FaultKind::Lost {
            state.lost.extend(device);
        }
        drop(state);
        assert!(kind != FaultKind::Panic, "scripted panic in {stage}");
        Some(kind)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
