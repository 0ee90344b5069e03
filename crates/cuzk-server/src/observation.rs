//! Everything that is shown about a running engine, from one place: calls and admin pages cannot disagree.

use std::sync::{Arc, Mutex, PoisonError};

use cuzk_engine::{Engine, Snapshot, Stamped};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::metrics::{Fold, render};

/// An engine and the fold over its events.
pub(crate) struct Observation {
    engine: Engine,
    fold: Mutex<Fold>,
}

impl Observation {
    /// Nothing observed yet.
    pub(crate) fn new(engine: Engine) -> Arc<Self> {
        Arc::new(Self {
            engine,
            fold: Mutex::default(),
        })
    }

    /// The engine.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Takes every event in, until the events end.
    pub(crate) async fn follow(self: Arc<Self>, mut events: Receiver<Stamped>) {
        loop {
            match events.recv().await {
                Ok(stamped) => self.fold().apply(&stamped.event),
                Err(RecvError::Lagged(missed)) => self.fold().miss(missed),
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// All metrics in the text format of Prometheus.
    pub(crate) fn metrics(&self) -> String {
        let fold = self.fold().clone();
        render(&fold, &self.snapshot())
    }

    /// The engine's state.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.engine.snapshot()
    }

    fn fold(&self) -> std::sync::MutexGuard<'_, Fold> {
        // A fold is whole between any two events.
        self.fold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
