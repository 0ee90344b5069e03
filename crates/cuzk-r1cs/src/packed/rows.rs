//! The rows of a large circuit as they are built, without keeping them or the values of its variables.
//!
//! Evaluating a row while the circuit is synthesized needs the values of earlier variables, 4 GiB as field elements. A packed
//! witness has them already, and is compared with the circuit's own values as they come.

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use ff::Field;

use super::comparison::{Comparing, WitnessDifference};
use crate::evaluation::add_term;
use crate::row_digest::{RowFold, RowWeights};
use crate::{Fr, PackedWitness, RowDigest};

/// What a synthesis with all values and all rows shows about a packed witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SynthesizedRows {
    /// The values of the constraints' rows, each evaluated term by term.
    pub digest: RowDigest,
    /// How many there are.
    pub num_rows: usize,
    /// The first variable that has another value in the circuit. The digest is of no use if there is one.
    pub difference: Option<WitnessDifference>,
}

impl PackedWitness {
    /// Synthesizes the circuit, compares its variables, and evaluates every row at the values of this witness; `point` is
    /// drawn at random by the caller. Parts are synthesized one after the other.
    ///
    /// # Errors
    /// What the circuit's own synthesis returns.
    pub fn synthesized_rows<C: Circuit<Fr>>(
        &self,
        circuit: C,
        point: Fr,
    ) -> Result<SynthesizedRows, SynthesisError> {
        let weights = RowWeights::new(point);
        let mut system = ComparingRows {
            variables: Comparing::begin(self),
            packed: self,
            num_rows: 0,
            fold: RowFold::new(&weights),
        };
        circuit.synthesize(&mut system)?;
        Ok(SynthesizedRows {
            digest: system.fold.finish(),
            num_rows: system.num_rows,
            difference: system.variables.finish(),
        })
    }

    /// The value of a private variable; zero beyond the last.
    fn aux_value(&self, index: usize) -> Fr {
        if index >= self.kinds().num_aux() {
            Fr::ZERO
        } else if self.kinds().is_wide(index) {
            self.wide()[self.kinds().wide_rank(index)]
        } else if self.plane()[index / 64] >> (index % 64) & 1 == 1 {
            Fr::ONE
        } else {
            Fr::ZERO
        }
    }

    fn row_value(&self, row: &LinearCombination<Fr>) -> Fr {
        let mut sum = Fr::ZERO;
        for (&index, &coefficient) in row.iter_inputs() {
            let value = self.inputs().get(index).copied().unwrap_or(Fr::ZERO);
            add_term(&mut sum, value, coefficient);
        }
        for (&index, &coefficient) in row.iter_aux() {
            add_term(&mut sum, self.aux_value(index), coefficient);
        }
        sum
    }
}

/// A constraint system that compares variables and evaluates rows, and keeps neither.
struct ComparingRows<'a> {
    variables: Comparing<'a>,
    packed: &'a PackedWitness,
    num_rows: usize,
    fold: RowFold<'a>,
}

impl ConstraintSystem<Fr> for ComparingRows<'_> {
    type Root = Self;

    crate::system::delegated_variables!(variables);

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        let sides = [
            a(LinearCombination::zero()),
            b(LinearCombination::zero()),
            c(LinearCombination::zero()),
        ];
        let values = sides.map(|side| self.packed.row_value(&side));
        self.fold.add(self.num_rows, values);
        self.num_rows += 1;
    }

    crate::system::unnamed_root!();
}
