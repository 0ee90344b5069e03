//! Circuits with no private variable: queries over aux variables are empty vectors.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use cuzk_r1cs::Fr;

use super::{ExpectedShape, assigned};

/// Proves a product of public numbers, or nothing about one public number.
#[derive(Clone, Debug)]
pub struct InputsOnly {
    inputs: Vec<Option<Fr>>,
}

impl InputsOnly {
    /// Left, right and their product, all public.
    pub fn product(left: Fr, right: Fr) -> Self {
        Self {
            inputs: vec![Some(left), Some(right), Some(left * right)],
        }
    }

    /// One public number without any constraint: the rows that Groth16 adds are the whole matrix.
    pub fn unconstrained() -> Self {
        Self {
            inputs: vec![Some(Fr::from(42))],
        }
    }

    pub(super) fn blank(&self) -> Self {
        Self {
            inputs: vec![None; self.inputs.len()],
        }
    }

    pub(super) fn public_inputs(&self) -> Vec<Fr> {
        self.inputs.iter().copied().flatten().collect()
    }

    pub(super) fn expected_shape(&self) -> ExpectedShape {
        let num_constraints = usize::from(self.inputs.len() == 3);
        ExpectedShape {
            num_inputs: 1 + self.inputs.len(),
            num_aux: 0,
            num_constraints,
        }
    }
}

impl Circuit<Fr> for InputsOnly {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut variables = Vec::new();
        for (index, value) in self.inputs.into_iter().enumerate() {
            variables.push(cs.alloc_input(|| format!("input {index}"), || assigned(value))?);
        }
        if let [left, right, product] = variables[..] {
            cs.enforce(
                || "product",
                |lc| lc + left,
                |lc| lc + right,
                |lc| lc + product,
            );
        }
        Ok(())
    }
}
