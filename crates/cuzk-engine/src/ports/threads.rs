//! Threads for the steps of an engine: one per device, one that frees large values, and the runtime's pool for the rest.

use std::collections::HashMap;
use std::sync::{Mutex, mpsc};

use tokio::runtime::Handle;

use super::executor::{Executor, Work};
use crate::events::{Stage, Step};
use crate::sync::lock;

/// Runs steps on threads. Threads end when the executor is dropped.
pub struct ThreadExecutor {
    runtime: Handle,
    /// A device is a thread that owns its context, started when the device is first used.
    devices: Mutex<HashMap<usize, mpsc::Sender<Work>>>,
    /// Large frees unmap pages and disturb whoever runs; one thread does them one after the other.
    reaper: Mutex<Option<mpsc::Sender<Box<dyn Send>>>>,
}

impl ThreadExecutor {
    /// An executor that uses the blocking pool of `runtime`.
    pub fn new(runtime: Handle) -> Self {
        Self {
            runtime,
            devices: Mutex::new(HashMap::new()),
            reaper: Mutex::new(None),
        }
    }

    fn on_device(&self, device: usize, work: Work) {
        let mut devices = lock(&self.devices);
        let unsent = match devices.get(&device) {
            Some(thread) => match thread.send(work) {
                Ok(()) => return,
                Err(mpsc::SendError(work)) => work,
            },
            None => work,
        };
        match start_thread(format!("cuzk-device-{device}"), |work: Work| work()) {
            Some(thread) => {
                if let Err(mpsc::SendError(work)) = thread.send(unsent) {
                    self.runtime.spawn_blocking(work);
                }
                devices.insert(device, thread);
            }
            // The system has no thread left; the pool may have an idle one.
            None => drop(self.runtime.spawn_blocking(unsent)),
        }
    }
}

/// A thread that consumes what it is sent until the sender is dropped.
fn start_thread<T: Send + 'static>(
    name: String,
    consume: impl Fn(T) + Send + 'static,
) -> Option<mpsc::Sender<T>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new()
        .name(name)
        .spawn(move || {
            for value in receiver {
                // One bad value must not end the thread; whoever waits for it sees that its answer is gone.
                let caught =
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| consume(value)));
                drop(caught);
            }
        })
        .ok()
        .map(|_| sender)
}

impl Executor for ThreadExecutor {
    fn execute(&self, step: Step, work: Work) {
        match (step.stage, step.device) {
            (Stage::Start | Stage::Load, Some(device)) => self.on_device(device, work),
            _ => drop(self.runtime.spawn_blocking(work)),
        }
    }

    fn execute_beside(&self, _: Step, work: Work) {
        drop(self.runtime.spawn_blocking(work));
    }

    fn reap(&self, value: Box<dyn Send>) {
        let mut reaper = lock(&self.reaper);
        if reaper.is_none() {
            *reaper = start_thread("cuzk-reaper".to_owned(), drop::<Box<dyn Send>>);
        }
        if let Some(thread) = reaper.as_ref() {
            // A value that comes back is dropped here.
            drop(thread.send(value));
        }
    }
}
