//! The published Filecoin circuits as a [`CircuitSource`]: each partition is synthesized and its rows evaluated in one pass.

use std::sync::Arc;

use bellpepper_core::{Circuit, SynthesisError};
use cuzk_circuits::{
    CircuitError, CircuitId, CircuitVisitor, ProofRequest, Statement, with_blank_circuit,
};
use cuzk_groth16::{CircuitData, Partition};
use cuzk_r1cs::{
    CircuitSummary, DirectEvaluation, Evaluations, Fr, SatisfactionError, Shape, check_satisfied,
    evaluate_with_hint, summarize,
};
use rayon::prelude::*;

use super::circuits::{CircuitSource, Prepared, Provable};
use crate::error::{ErrorClass, PortError};

/// Decodes Filecoin requests and synthesizes their circuits with the published crates.
#[derive(Clone, Copy, Debug, Default)]
pub struct FilecoinCircuits;

impl CircuitSource for FilecoinCircuits {
    fn decode(&self, request: &ProofRequest) -> Result<Arc<dyn Provable>, PortError> {
        match request.decode() {
            Ok(statement) => Ok(Arc::new(statement)),
            Err(error) => Err(PortError::new(ErrorClass::Invalid, error)),
        }
    }

    fn resident_bytes(&self, circuit: CircuitId) -> u64 {
        // One bit per variable in each of A and B.
        let info = circuit.info();
        let bits = info.num_inputs + 2 * info.num_aux.unwrap_or(0);
        bits.div_ceil(8) as u64
    }

    fn load(&self, circuit: CircuitId) -> Result<CircuitData, PortError> {
        let summary = with_blank_circuit(circuit, Summarize)
            .map_err(|error| PortError::new(ErrorClass::Internal, error))?;
        Ok(CircuitData {
            shape: summary.shape,
            densities: Arc::new(summary.densities),
        })
    }
}

impl Provable for Statement {
    fn circuit_id(&self) -> CircuitId {
        Self::circuit_id(self)
    }

    fn num_partitions(&self) -> usize {
        Self::num_partitions(self)
    }

    fn public_inputs(&self, partition: usize) -> Result<Vec<Fr>, PortError> {
        Self::public_inputs(self, partition).map_err(classed)
    }

    fn prepare(&self, partition: usize, circuit: &CircuitData) -> Result<Prepared, PortError> {
        let direct = self
            .with_circuit(
                partition,
                Evaluate {
                    shape: circuit.shape,
                },
            )
            .map_err(classed)?
            .map_err(|error| PortError::new(ErrorClass::Invalid, error))?;
        expect_satisfied(self, partition, &direct.evaluations)?;
        let DirectEvaluation {
            witness,
            evaluations,
            ..
        } = direct;
        Ok(Prepared::new(move |circuit, blinding| Partition {
            circuit,
            witness,
            evaluations,
            blinding,
        }))
    }
}

/// Refuses values that violate a constraint, with the name of the first one.
fn expect_satisfied(
    statement: &Statement,
    partition: usize,
    evaluations: &Evaluations,
) -> Result<(), PortError> {
    let Evaluations { a, b, c } = evaluations;
    let holds = a.par_iter().zip(b).zip(c).all(|((a, b), c)| a * b == *c);
    if holds {
        return Ok(());
    }
    let named = statement
        .with_circuit(partition, NameViolation)
        .map_err(classed)?;
    Err(match named {
        Err(error) => PortError::new(ErrorClass::Invalid, error),
        Ok(()) => PortError::new(
            ErrorClass::Internal,
            "a row is violated in one synthesis and holds in another",
        ),
    })
}

fn classed(error: CircuitError) -> PortError {
    let class = match error {
        CircuitError::VanillaProof { .. } => ErrorClass::Invalid,
        _ => ErrorClass::Internal,
    };
    PortError::new(class, error)
}

struct Evaluate {
    shape: Shape,
}

impl CircuitVisitor for Evaluate {
    type Output = Result<DirectEvaluation, SynthesisError>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        evaluate_with_hint(circuit, self.shape)
    }
}

struct Summarize;

impl CircuitVisitor for Summarize {
    type Output = Result<CircuitSummary, SynthesisError>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        summarize(circuit, &|_| ())
    }
}

/// Names the first violated constraint of whatever circuit it is shown.
struct NameViolation;

impl CircuitVisitor for NameViolation {
    type Output = Result<(), SatisfactionError>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        check_satisfied(circuit, &|_| ()).map(drop)
    }
}
