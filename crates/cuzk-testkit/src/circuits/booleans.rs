//! A public number and its bits: every aux variable is 0 or 1.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use cuzk_r1cs::Fr;
use ff::Field;

use super::{ExpectedShape, assigned};

/// Proves that a public number has a decomposition into bits.
#[derive(Clone, Debug)]
pub struct Booleans {
    bits: Vec<Option<bool>>,
}

impl Booleans {
    /// The number with these bits, lowest first. More than 254 bits wrap around the field, which the circuit allows.
    pub fn new(bits: impl IntoIterator<Item = bool>) -> Self {
        Self {
            bits: bits.into_iter().map(Some).collect(),
        }
    }

    pub(super) fn blank(&self) -> Self {
        Self {
            bits: vec![None; self.bits.len()],
        }
    }

    pub(super) fn public_inputs(&self) -> Vec<Fr> {
        self.number().into_iter().collect()
    }

    pub(super) fn expected_shape(&self) -> ExpectedShape {
        let length = self.bits.len();
        ExpectedShape {
            num_inputs: 2,
            num_aux: length,
            num_constraints: length + 1,
        }
    }

    fn number(&self) -> Option<Fr> {
        self.bits.iter().rev().try_fold(Fr::ZERO, |number, bit| {
            Some(number.double() + if (*bit)? { Fr::ONE } else { Fr::ZERO })
        })
    }
}

impl Circuit<Fr> for Booleans {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let number = self.number();
        let mut variables = Vec::with_capacity(self.bits.len());
        for (index, bit) in self.bits.into_iter().enumerate() {
            let value = bit.map(|bit| Fr::from(u64::from(bit)));
            let variable = cs.alloc(|| format!("bit {index}"), || assigned(value))?;
            cs.enforce(
                || format!("bit {index} is boolean"),
                |lc| lc + CS::one() - variable,
                |lc| lc + variable,
                |lc| lc,
            );
            variables.push(variable);
        }
        let input = cs.alloc_input(|| "number", || assigned(number))?;
        let mut coefficient = Fr::ONE;
        cs.enforce(
            || "bits give the number",
            |lc| {
                variables.iter().fold(lc, |lc, variable| {
                    let sum = lc + (coefficient, *variable);
                    coefficient = coefficient.double();
                    sum
                })
            },
            |lc| lc + CS::one(),
            |lc| lc + input,
        );
        Ok(())
    }
}
