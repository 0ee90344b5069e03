//! The values of all variables, and how to get them without building a single constraint.

use bellpepper_core::{
    Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable,
};
use ff::Field;

use crate::{Fr, Shape};

/// The values of all variables of one circuit, in allocation order, Montgomery form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// Public variables; the first one is ONE.
    pub inputs: Vec<Fr>,
    /// Private variables.
    pub aux: Vec<Fr>,
}

impl Witness {
    /// Empty vectors with room for the variables of `shape`.
    pub(crate) fn with_capacity(shape: Shape) -> Self {
        Self {
            inputs: Vec::with_capacity(shape.num_inputs),
            aux: Vec::with_capacity(shape.num_aux),
        }
    }

    pub(crate) fn push_input(&mut self, value: Fr) -> Variable {
        self.inputs.push(value);
        Variable::new_unchecked(Index::Input(self.inputs.len() - 1))
    }

    pub(crate) fn push_aux(&mut self, value: Fr) -> Variable {
        self.aux.push(value);
        Variable::new_unchecked(Index::Aux(self.aux.len() - 1))
    }

    /// Takes over the variables of a system that extends this one, but for its stand-in for ONE.
    pub(crate) fn append(&mut self, other: &Self) {
        self.inputs.extend_from_slice(&other.inputs[1..]);
        self.aux.extend_from_slice(&other.aux);
    }
}

/// Runs the circuit for its variable values alone; constraint closures are never called.
///
/// # Errors
/// What the circuit's own synthesis returns, for instance a missing assignment.
pub fn synthesize_witness<C: Circuit<Fr>>(circuit: C) -> Result<Witness, SynthesisError> {
    let mut system = WitnessOnly::default();
    system.witness.push_input(Fr::ONE);
    circuit.synthesize(&mut system)?;
    Ok(system.witness)
}

/// A constraint system that keeps values and ignores constraints.
#[derive(Default)]
struct WitnessOnly {
    witness: Witness,
}

impl ConstraintSystem<Fr> for WitnessOnly {
    type Root = Self;

    fn new() -> Self {
        Self::default()
    }

    crate::system::valued_variables!();

    crate::system::ignored_rows!();

    crate::system::unnamed_root!();

    fn is_extensible() -> bool {
        true
    }

    fn extend(&mut self, other: &Self) {
        self.witness.append(&other.witness);
    }
}
