//! Statement to tasks.

use std::sync::Arc;

use cuzk_circuits::CircuitId;

use crate::ports::Provable;

/// What has to be proved for a job.
pub(crate) struct JobPlan {
    /// Shared by all tasks.
    pub(crate) statement: Arc<dyn Provable>,
    /// The circuit of every task.
    pub(crate) circuit: CircuitId,
    /// Partitions, one task each.
    pub(crate) num_partitions: usize,
}

/// Plans the proofs of a statement.
pub(crate) fn plan(statement: Arc<dyn Provable>) -> JobPlan {
    JobPlan {
        circuit: statement.circuit_id(),
        num_partitions: statement.num_partitions(),
        statement,
    }
}
