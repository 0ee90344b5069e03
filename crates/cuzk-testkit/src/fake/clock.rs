//! Steps on virtual time.

use std::sync::Arc;

use cuzk_engine::{Executor, Step, Work};

use super::script::Script;

/// Runs each step at the end of its scripted duration, on the current runtime's clock.
///
/// What a step consumes lives until then, and what it makes appears then, as on real threads.
#[derive(Debug)]
pub struct VirtualExecutor {
    script: Arc<Script>,
}

impl VirtualExecutor {
    /// An executor that follows a script.
    pub const fn new(script: Arc<Script>) -> Self {
        Self { script }
    }
}

impl Executor for VirtualExecutor {
    fn execute(&self, step: Step, work: Work) {
        let duration = self.script.duration(&step);
        tokio::spawn(async move {
            tokio::time::sleep(duration).await;
            work();
        });
    }

    fn reap(&self, value: Box<dyn Send>) {
        drop(value);
    }
}
