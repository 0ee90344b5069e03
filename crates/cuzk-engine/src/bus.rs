//! Where events go: first into every fold, under one lock, then to whoever listens.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::time::Instant;

use crate::events::{BufferClass, Event, Stamped, Step};
use crate::folds::Folds;
use crate::sync::{Mutex, lock};

/// Events that a slow listener may be behind before it loses the oldest.
const LISTENER_BACKLOG: usize = 1024;

/// Receives every event.
#[derive(Debug)]
pub(crate) struct Bus {
    started: Instant,
    folds: Mutex<Folds>,
    listeners: broadcast::Sender<Stamped>,
}

impl Bus {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            started: Instant::now(),
            folds: Mutex::new(Folds::default()),
            listeners: broadcast::Sender::new(LISTENER_BACKLOG),
        })
    }

    /// Tells everybody.
    pub(crate) fn emit(&self, event: Event) {
        let at = self.started.elapsed();
        let stamped = Stamped { at, event };
        lock(&self.folds).apply(&stamped);
        // Nobody listening is no error.
        drop(self.listeners.send(stamped));
    }

    /// All events from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Stamped> {
        self.listeners.subscribe()
    }

    /// A view of what the events so far come to.
    pub(crate) fn view<R>(&self, view: impl FnOnce(&Folds) -> R) -> R {
        view(&lock(&self.folds))
    }

    /// Time since the engine started.
    pub(crate) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Counts a buffer for as long as the returned value lives.
    pub(crate) fn count(self: &Arc<Self>, class: BufferClass, bytes: u64) -> Counted {
        self.emit(Event::BufferTaken { class, bytes });
        Counted {
            bus: Arc::clone(self),
            class,
            bytes,
        }
    }

    /// Marks a step as running for as long as the returned value lives.
    pub(crate) fn step(self: &Arc<Self>, step: Step) -> RunningMark {
        self.emit(Event::StepBegan { step });
        RunningMark {
            bus: Arc::clone(self),
            step,
            began: Instant::now(),
        }
    }
}

/// A large buffer that is counted; lives beside its permit in the value that holds the buffer.
#[derive(Debug)]
pub(crate) struct Counted {
    bus: Arc<Bus>,
    class: BufferClass,
    bytes: u64,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.bus.emit(Event::BufferFreed {
            class: self.class,
            bytes: self.bytes,
        });
    }
}

/// A step that runs.
#[derive(Debug)]
pub(crate) struct RunningMark {
    bus: Arc<Bus>,
    step: Step,
    began: Instant,
}

impl RunningMark {
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Drop for RunningMark {
    fn drop(&mut self) {
        self.bus.emit(Event::StepEnded {
            step: self.step,
            took: self.began.elapsed(),
        });
    }
}
