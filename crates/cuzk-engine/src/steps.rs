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
        let (answer, answered) = oneshot::channel();
        let mark = self.bus.step(step);
        self.executor.execute(
            step,
            Box::new(move || {
                let result = catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked);
                let took = mark.elapsed();
                drop(mark);
                // Nobody waits any more; the result is dropped here.
                drop(answer.send((result, took)));
            }),
        );
        answered.await.unwrap_or((Err(Panicked), Duration::ZERO))
    }

    /// Frees a value off the workers' path.
    pub(crate) fn reap(&self, value: impl Send + 'static) {
        self.executor.reap(Box::new(value));
    }
}
