//! One value in every variable: all scalars of a multiplication fall into one bucket, and all points may be equal.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use cuzk_r1cs::Fr;

use super::{ExpectedShape, assigned};

/// Many private copies of one public value.
#[derive(Clone, Debug)]
pub struct Repeated {
    count: usize,
    value: Option<Fr>,
}

impl Repeated {
    /// The given number of copies.
    pub fn new(count: usize, value: Fr) -> Self {
        Self {
            count,
            value: Some(value),
        }
    }

    pub(super) fn blank(&self) -> Self {
        Self {
            count: self.count,
            value: None,
        }
    }

    pub(super) fn public_inputs(&self) -> Vec<Fr> {
        self.value.into_iter().collect()
    }

    pub(super) fn expected_shape(&self) -> ExpectedShape {
        ExpectedShape {
            num_inputs: 2,
            num_aux: self.count,
            num_constraints: 2 * self.count,
        }
    }
}

impl Circuit<Fr> for Repeated {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let value = self.value;
        let input = cs.alloc_input(|| "value", || assigned(value))?;
        for index in 0..self.count {
            let copy = cs.alloc(|| format!("copy {index}"), || assigned(value))?;
            cs.enforce(
                || format!("copy {index} equals the input"),
                |lc| lc + copy,
                |lc| lc + CS::one(),
                |lc| lc + input,
            );
            cs.enforce(
                || format!("copy {index} squares alike"),
                |lc| lc + copy,
                |lc| lc + copy - input,
                |lc| lc,
            );
        }
        Ok(())
    }
}
