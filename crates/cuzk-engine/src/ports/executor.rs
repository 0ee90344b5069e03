//! Where the work of a stage runs. Tests put a clock that can be wound forward in the place of threads.

use crate::events::Step;

/// Work of one step.
pub type Work = Box<dyn FnOnce() + Send>;

/// Runs blocking work away from the async tasks.
///
/// The engine limits how much runs at once; an executor starts whatever it is given, and need not catch panics.
pub trait Executor: Send + Sync + 'static {
    /// Runs `work`. Work of a device's `start` runs on one thread per device, in the order given.
    fn execute(&self, step: Step, work: Work);

    /// Runs work of a device's `start` beside that of another partition. The device allows it, from any thread.
    fn execute_beside(&self, step: Step, work: Work) {
        self.execute(step, work);
    }

    /// Drops a large value where no step waits for it.
    fn reap(&self, value: Box<dyn Send>);
}
