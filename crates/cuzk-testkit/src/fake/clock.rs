//! Steps on virtual time.

use std::sync::Arc;

use cuzk_engine::{Executor, Stage, Step, Work};

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
        let script = Arc::clone(&self.script);
        let duration = script.duration(&step);
        let pass = script.pass();
        tokio::spawn(async move {
            if let (Stage::Finish, Some(pass)) = (step.stage, pass) {
                script.passes.redeem(&step, pass).await;
            }
            tokio::time::sleep(duration).await;
            if step.stage == Stage::Start && pass.is_some() {
                script.passes.enter(&step);
            }
            work();
        });
    }

    fn reap(&self, value: Box<dyn Send>) {
        drop(value);
    }
}
