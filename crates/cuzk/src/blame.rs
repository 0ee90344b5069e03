//! A proof that was not made needs an answer to "whose fault is it?" that somebody can act on: the constraint that is
//! violated, the point of the key that is damaged. Both take long to find, so they are looked for only when it has happened.

use bellpepper_core::Circuit;
use cuzk_circuits::{CircuitError, CircuitId, CircuitVisitor, Statement};
use cuzk_engine::{ErrorClass, JobError};
use cuzk_groth16::{DeviceError, PointCheck};
use cuzk_r1cs::{Fr, SatisfactionError, check_satisfied};

use crate::{
    exit::{ExitClass, OrExit as _, classed, failure},
    keys::{KeyStore, shell_word},
};

/// The failure of values that violate a constraint, which a synthesis of the circuit names.
pub(crate) fn unsatisfied(statement: &Statement, partition: usize, row: usize) -> anyhow::Error {
    let place = format!("{} partition {partition}", statement.circuit_id());
    match statement.with_circuit(partition, NameViolation) {
        Err(error) => circuit_failure(error, "building the circuit"),
        Ok(Err(error)) => classed(ExitClass::InvalidInput, place, error),
        Ok(Ok(())) => failure(
            ExitClass::Internal,
            format!("{place}: row {row} is violated by our witness and holds in upstream's"),
        ),
    }
}

/// The failure of a job of an engine in this process. `statement` decodes the request once more.
pub(crate) fn failed_job(
    error: &JobError,
    id: CircuitId,
    store: &KeyStore,
    statement: impl FnOnce() -> anyhow::Result<Statement>,
) -> anyhow::Error {
    match error {
        JobError::Device {
            partition,
            source: DeviceError::Unsatisfied { row },
            ..
        } => match statement() {
            Ok(statement) => unsatisfied(&statement, *partition, *row),
            Err(error) => error,
        },
        JobError::NotVerified { partition, .. } => bad_proof(id, *partition, store),
        JobError::Device {
            source: DeviceError::Key(_) | DeviceError::Identity { .. },
            ..
        } => failure(ExitClass::Key, error.to_string()),
        JobError::Load { source, .. } if source.class == ErrorClass::Resource => {
            failure(ExitClass::Key, error.to_string())
        }
        error => failure(exit_class(error.class()), error.to_string()),
    }
}

/// What an error of an engine in this process is for whoever called the command.
pub(crate) fn exit_class(class: ErrorClass) -> ExitClass {
    match class {
        ErrorClass::Invalid => ExitClass::InvalidInput,
        ErrorClass::Busy | ErrorClass::Resource => ExitClass::Resource,
        ErrorClass::Device | ErrorClass::Internal => ExitClass::Internal,
    }
}

/// The failure of a finished proof that does not verify.
fn bad_proof(id: CircuitId, partition: usize, store: &KeyStore) -> anyhow::Error {
    let verdict = format!(
        "the finished proof of {id} partition {partition} does not verify and is thrown away"
    );
    // Points are not checked while they are added up. One that is none spoils every proof, and its place tells the operator
    // what to do.
    let key = match store.open(id) {
        Ok(key) => key,
        Err(error) => return error,
    };
    let checked = key.check_points(PointCheck::OnCurve, &|_| {});
    if let Err(error) = checked.or_exit(ExitClass::Key, || verdict.clone()) {
        return error;
    }
    failure(
        ExitClass::NotVerified,
        format!(
            "{verdict}; all points of the key are on the curve, but they may be of another key: cuzk key check {} \
             --digest",
            shell_word(key.path())
        ),
    )
}

/// The failure of building something from a decoded statement.
pub(crate) fn circuit_failure(error: CircuitError, what: &str) -> anyhow::Error {
    let class = match error {
        CircuitError::VanillaProof { .. } => ExitClass::InvalidInput,
        _ => ExitClass::Internal,
    };
    classed(class, what, error)
}

/// Names the first violated constraint of whatever circuit it is shown.
struct NameViolation;

impl CircuitVisitor for NameViolation {
    type Output = Result<(), SatisfactionError>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        check_satisfied(circuit, &|_| {}).map(drop)
    }
}
