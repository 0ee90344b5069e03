//! What goes into a device and what comes back.

use std::sync::Arc;

use cuzk_r1cs::{Densities, Evaluations, Fr, Shape, Witness};
use ff::Field;
use group::prime::PrimeCurveAffine;

use super::error::DeviceError;
use crate::assembly::Blinding;
use crate::key::{ProvingKey, QueryCounts, Section};
use crate::proof::Proof;

/// What a device must know about a circuit; cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitData {
    /// Counts of variables and constraints.
    pub shape: Shape,
    /// Which variables occur in A and B.
    pub densities: Arc<Densities>,
}

impl CircuitData {
    /// Lengths of the vectors of this circuit's key.
    pub fn query_counts(&self) -> QueryCounts {
        QueryCounts::of_circuit(&self.shape, &self.densities)
    }

    /// Number of variables that occur in B.
    pub(super) fn num_b(&self) -> usize {
        self.densities.b_input.count_ones() + self.densities.b_aux.count_ones()
    }
}

/// A key that a device is ready to use; cheap to clone.
#[derive(Clone, Debug)]
pub struct LoadedKey {
    key: Arc<ProvingKey>,
}

impl LoadedKey {
    pub(super) fn new(key: Arc<ProvingKey>) -> Result<Self, DeviceError> {
        let points = key.verifying_key();
        let singles = [
            (Section::AlphaG1, points.alpha_g1.is_identity()),
            (Section::BetaG1, points.beta_g1.is_identity()),
            (Section::BetaG2, points.beta_g2.is_identity()),
            (Section::DeltaG1, points.delta_g1.is_identity()),
            (Section::DeltaG2, points.delta_g2.is_identity()),
        ];
        match singles.into_iter().find(|(_, identity)| (*identity).into()) {
            Some((section, _)) => Err(DeviceError::Identity { section }),
            None => Ok(Self { key }),
        }
    }

    /// The key.
    pub const fn key(&self) -> &Arc<ProvingKey> {
        &self.key
    }
}

/// A circuit and a key that belong together; cheap to clone.
#[derive(Clone, Debug)]
pub struct LoadedCircuit {
    key: LoadedKey,
    circuit: CircuitData,
}

impl LoadedCircuit {
    /// Joins a circuit and its key.
    ///
    /// # Errors
    /// [`DeviceError::Key`] when they do not belong together.
    pub(super) fn new(key: &LoadedKey, circuit: CircuitData) -> Result<Self, DeviceError> {
        key.key.expect_counts(&circuit.query_counts())?;
        Ok(Self {
            key: key.clone(),
            circuit,
        })
    }

    /// The circuit.
    pub const fn circuit(&self) -> &CircuitData {
        &self.circuit
    }

    /// The key.
    pub const fn key(&self) -> &Arc<ProvingKey> {
        self.key.key()
    }
}

/// One circuit's values, to be proved.
#[derive(Debug)]
pub struct Partition {
    /// Circuit and key.
    pub circuit: LoadedCircuit,
    /// Values of the variables.
    pub witness: Witness,
    /// Values of the rows.
    pub evaluations: Evaluations,
    /// Hides the witness.
    pub blinding: Blinding,
}

impl Partition {
    /// Refuses vectors that are not the circuit's, before anything is allocated.
    pub(super) fn check(&self) -> Result<(), DeviceError> {
        let shape = self.circuit.circuit.shape;
        let variables = [
            ("input", shape.num_inputs, self.witness.inputs.len()),
            ("auxiliary", shape.num_aux, self.witness.aux.len()),
        ];
        for (kind, expected, found) in variables {
            if found != expected {
                return Err(DeviceError::WitnessLength {
                    kind,
                    expected,
                    found,
                });
            }
        }
        let Evaluations { a, b, c } = &self.evaluations;
        for (vector, values) in [("a", a), ("b", b), ("c", c)] {
            if values.len() != shape.num_rows() {
                return Err(DeviceError::EvaluationLength {
                    vector,
                    expected: shape.num_rows(),
                    found: values.len(),
                });
            }
        }
        match self.witness.inputs.first() {
            Some(one) if *one == Fr::ONE => Ok(()),
            _ => Err(DeviceError::FirstInput),
        }
    }
}

/// A proof that was started and not finished.
///
/// It owns everything that its computation still reads and may be dropped at any point.
#[must_use = "a started proof holds memory until it is finished or dropped"]
pub struct PendingProof {
    tail: Box<dyn FnOnce() -> Result<Proof, DeviceError> + Send>,
}

impl PendingProof {
    pub(super) fn new(tail: impl FnOnce() -> Result<Proof, DeviceError> + Send + 'static) -> Self {
        Self {
            tail: Box::new(tail),
        }
    }

    pub(super) fn complete(self) -> Result<Proof, DeviceError> {
        (self.tail)()
    }
}

impl std::fmt::Debug for PendingProof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PendingProof")
    }
}

/// Bytes that one proof holds in memory, without the mapped key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The partition itself: witness and row values.
    pub partition_bytes: usize,
    /// At most, during `start`, the partition included.
    pub start_bytes: usize,
    /// Between `start` and `finish`.
    pub pending_bytes: usize,
    /// At most, during `finish`, the pending proof included.
    pub finish_bytes: usize,
}
