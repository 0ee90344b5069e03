//! A product of many factors, one constraint per multiplication.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use cuzk_r1cs::Fr;
use ff::Field;

use super::{ExpectedShape, assigned};

/// Proves knowledge of factors whose product is public.
#[derive(Clone, Debug)]
pub struct MultiplicationChain {
    factors: Vec<Option<Fr>>,
}

impl MultiplicationChain {
    /// A chain of the given factors; none gives the empty product, ONE.
    pub fn new(factors: impl IntoIterator<Item = Fr>) -> Self {
        Self {
            factors: factors.into_iter().map(Some).collect(),
        }
    }

    pub(super) fn blank(&self) -> Self {
        Self {
            factors: vec![None; self.factors.len()],
        }
    }

    pub(super) fn public_inputs(&self) -> Vec<Fr> {
        self.product().into_iter().collect()
    }

    pub(super) fn expected_shape(&self) -> ExpectedShape {
        let length = self.factors.len();
        ExpectedShape {
            num_inputs: 2,
            num_aux: 2 * length,
            num_constraints: length + 1,
        }
    }

    fn product(&self) -> Option<Fr> {
        self.factors
            .iter()
            .copied()
            .try_fold(Fr::ONE, |product, factor| Some(product * factor?))
    }
}

impl Circuit<Fr> for MultiplicationChain {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let product = self.product();
        let mut running = Some(Fr::ONE);
        let mut last = CS::one();
        for (index, factor) in self.factors.into_iter().enumerate() {
            running = running.zip(factor).map(|(left, right)| left * right);
            let value = running;
            let left = last;
            let right = cs.alloc(|| format!("factor {index}"), || assigned(factor))?;
            let next = cs.alloc(|| format!("product {index}"), || assigned(value))?;
            cs.enforce(
                || format!("multiplication {index}"),
                |lc| lc + left,
                |lc| lc + right,
                |lc| lc + next,
            );
            last = next;
        }
        let output = cs.alloc_input(|| "output", || assigned(product))?;
        cs.enforce(
            || "output is the product",
            |lc| lc + last,
            |lc| lc + CS::one(),
            |lc| lc + output,
        );
        Ok(())
    }
}
