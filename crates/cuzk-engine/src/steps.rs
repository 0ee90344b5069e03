//! One step of work: counted while it runs, timed, and unable to take its worker down.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::bus::Bus;
use crate::events::Step;
use crate::ports::Executor;

/// The work of a step panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Where work of a device runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// On the device's thread, after what is there.
    InTurn,
    /// Beside the device's thread.
    Beside,
}

/// Runs steps.
#[derive(Clone)]
pub(crate) struct Steps {
    pub(crate) bus: Arc<Bus>,
    pub(crate) executor: Arc<dyn Executor>,
}

impl Steps {
    /// Runs `work` and waits for its result and time. If the waiting task goes away, the work still runs to its end.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        step: Step,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> (Result<T, Panicked>, Duration) {
        self.run_as(Placement::InTurn, step, work).await
    }

    /// As [`Steps::run`], with a say in whether work of a device waits for its turn.
    pub(crate) async fn run_as<T: Send + 'static>(
        &self,
        placement: Placement,
        step: Step,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> (Result<T, Panicked>, Duration) {
        let (answer, answered) = oneshot::channel();
        let mark = self.bus.step(step);
        let work = Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked);
            let took = mark.elapsed();
            drop(mark);
            // Nobody waits any more; the result is dropped here.
            drop(answer.send((result, took)));
        });
        match placement {
            Placement::InTurn => self.executor.execute(step, work),
            Placement::Beside => self.executor.execute_beside(step, work),
        }
        answered.await.unwrap_or((Err(Panicked), Duration::ZERO))
    }

    /// Frees a value off the workers' path.
    pub(crate) fn reap(&self, value: impl Send + 'static) {
        self.executor.reap(Box::new(value));
    }
}
