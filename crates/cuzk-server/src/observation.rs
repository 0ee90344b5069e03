//! Everything that is shown about a running engine, from one place: calls and admin pages cannot disagree.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cuzk_engine::{Engine, Event, Snapshot, Stamped};
use cuzk_groth16::CardMemory;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::{
    metrics::{Fold, render},
    question::Question,
};

/// A status or metrics without the free memory of a card are better than none.
const DRIVER_PATIENCE: Duration = Duration::from_secs(2);

/// An engine and the fold over its events.
pub(crate) struct Observation {
    engine: Engine,
    fold: Mutex<Fold>,
    drivers: Question,
}

impl Observation {
    /// Nothing observed yet.
    pub(crate) fn new(engine: Engine) -> Arc<Self> {
        Arc::new(Self {
            engine,
            fold: Mutex::default(),
            drivers: Question::new(DRIVER_PATIENCE),
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
                Ok(stamped) => {
                    self.log_buffer(&stamped);
                    self.fold().apply(&stamped.event);
                }
                Err(RecvError::Lagged(missed)) => self.fold().miss(missed),
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// One line for each large buffer that appears or goes, for whoever looks for the one that stays.
    fn log_buffer(&self, stamped: &Stamped) {
        let (change, class, bytes) = match stamped.event {
            Event::BufferTaken { class, bytes } => ("taken", class, bytes),
            Event::BufferFreed { class, bytes } => ("freed", class, bytes),
            _ => return,
        };
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        // The engine may be ahead of the event; what it holds now is what counts.
        let now = self.engine.buffers(class);
        tracing::debug!(
            at_s = stamped.at.as_secs_f64(),
            %class,
            change,
            bytes,
            in_flight = now.count,
            in_flight_bytes = now.bytes,
            peak_bytes = now.peak_bytes,
            "buffer"
        );
    }

    /// All metrics in the text format of Prometheus.
    pub(crate) async fn metrics(&self) -> String {
        let memory = self.card_memory().await;
        let fold = self.fold().clone();
        render(&fold, &self.snapshot(), &memory)
    }

    /// The engine's state.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.engine.snapshot()
    }

    /// Memory of the cards, in the order of the devices; empty when a driver does not answer in time.
    pub(crate) async fn card_memory(&self) -> Vec<Option<CardMemory>> {
        let engine = self.engine.clone();
        let memory = self.drivers.ask(move || engine.card_memory()).await;
        memory.unwrap_or_default()
    }

    fn fold(&self) -> std::sync::MutexGuard<'_, Fold> {
        // A fold is whole between any two events.
        self.fold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
