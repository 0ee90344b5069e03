//! Variables that occur in one matrix only, and coefficients that are zero: what densities are about.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use cuzk_r1cs::Fr;
use ff::Field;

use super::{ExpectedShape, assigned, full_size};

/// Rows left · right = product, where no variable occurs in two matrices; a zero coefficient names the neighbours.
///
/// The left variables are dense in A only, the right ones in B only, the products in neither.
#[derive(Clone, Debug)]
pub struct OneSided {
    num_rows: usize,
    scale: Option<Fr>,
}

impl OneSided {
    /// The given number of rows, whose values grow with `scale`.
    pub fn new(num_rows: usize, scale: Fr) -> Self {
        Self {
            num_rows,
            scale: Some(scale),
        }
    }

    pub(super) fn blank(&self) -> Self {
        Self {
            num_rows: self.num_rows,
            scale: None,
        }
    }

    pub(super) fn public_inputs(&self) -> Vec<Fr> {
        self.scale.into_iter().collect()
    }

    pub(super) fn expected_shape(&self) -> ExpectedShape {
        let rows = self.num_rows;
        ExpectedShape {
            num_inputs: 2,
            num_aux: 3 * rows,
            num_constraints: rows,
        }
    }
}

impl Circuit<Fr> for OneSided {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let scale = self.scale;
        let input = cs.alloc_input(|| "scale", || assigned(scale))?;
        for index in 0..self.num_rows {
            let step = full_size(index as u64);
            let left = cs.alloc(|| format!("left {index}"), || Ok(assigned(scale)? * step))?;
            let right = cs.alloc(|| format!("right {index}"), || Ok(assigned(scale)? + step))?;
            let product = cs.alloc(
                || format!("product {index}"),
                || assigned(scale).map(|scale| (scale * step + scale) * (scale + step)),
            )?;
            cs.enforce(
                || format!("row {index}"),
                |lc| lc + left + input + (Fr::ZERO, right) + (Fr::ZERO, product),
                |lc| lc + right + (Fr::ZERO, left),
                |lc| lc + product + (Fr::ZERO, input),
            );
        }
        Ok(())
    }
}
