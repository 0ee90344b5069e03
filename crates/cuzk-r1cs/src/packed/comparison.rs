//! Is a packed witness the one that a circuit synthesizes?
//!
//! Both as field elements would take 8 GiB for a large circuit, so the circuit's variables are compared as they come and none
//! is kept.

use bellpepper_core::{
    Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable,
};
use ff::Field;

use crate::{Fr, PackedWitness};

/// Where a packed witness and a circuit differ first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WitnessDifference {
    /// A public variable has another value.
    #[error("input {index} has another value than in the circuit")]
    Input {
        /// Its index; 0 is ONE.
        index: usize,
    },
    /// A private variable has another value.
    #[error("variable {index} has another value than in the circuit")]
    Aux {
        /// Its index.
        index: usize,
    },
    /// The circuit has more or fewer variables.
    #[error("{found} {what}, the circuit has {expected}")]
    Count {
        /// `inputs` or `variables`.
        what: &'static str,
        /// In the circuit.
        expected: usize,
        /// In the packed witness.
        found: usize,
    },
}

impl PackedWitness {
    /// Synthesizes the circuit for its variable values and finds the first that is not this witness's. Constraint closures are
    /// never called, and parts are synthesized one after the other.
    ///
    /// # Errors
    /// What the circuit's own synthesis returns.
    pub fn first_difference<C: Circuit<Fr>>(
        &self,
        circuit: C,
    ) -> Result<Option<WitnessDifference>, SynthesisError> {
        let mut system = Comparing::begin(self);
        circuit.synthesize(&mut system)?;
        Ok(system.finish())
    }
}

/// A constraint system that compares values and keeps none.
pub(super) struct Comparing<'a> {
    packed: &'a PackedWitness,
    /// Values of the wide variables to come.
    wide: std::slice::Iter<'a, Fr>,
    num_inputs: usize,
    num_aux: usize,
    difference: Option<WitnessDifference>,
}

impl<'a> Comparing<'a> {
    /// A system that has ONE and nothing else.
    pub(super) fn begin(packed: &'a PackedWitness) -> Self {
        let mut system = Self {
            packed,
            wide: packed.wide().iter(),
            num_inputs: 0,
            num_aux: 0,
            difference: None,
        };
        system.compare_input(Fr::ONE);
        system
    }

    /// The first difference, if there was one, or the first count that is another.
    pub(super) fn finish(self) -> Option<WitnessDifference> {
        let counts = [
            ("inputs", self.num_inputs, self.packed.inputs().len()),
            ("variables", self.num_aux, self.packed.kinds().num_aux()),
        ];
        let uneven = counts
            .into_iter()
            .find(|(_, expected, found)| expected != found)
            .map(|(what, expected, found)| WitnessDifference::Count {
                what,
                expected,
                found,
            });
        self.difference.or(uneven)
    }

    fn compare_input(&mut self, value: Fr) -> Variable {
        let index = self.num_inputs;
        self.num_inputs += 1;
        if self
            .packed
            .inputs()
            .get(index)
            .is_some_and(|&own| own != value)
        {
            self.difference
                .get_or_insert(WitnessDifference::Input { index });
        }
        Variable::new_unchecked(Index::Input(index))
    }

    fn compare_aux(&mut self, value: Fr) -> Variable {
        let index = self.num_aux;
        self.num_aux += 1;
        let (word, bit) = (index / 64, index % 64);
        let at = |plane: &[u64]| plane.get(word).is_some_and(|word| word >> bit & 1 == 1);
        let equal = if at(self.packed.kinds().wide_mask()) {
            self.wide.next() == Some(&value)
        } else {
            value
                == if at(self.packed.plane()) {
                    Fr::ONE
                } else {
                    Fr::ZERO
                }
        };
        if !equal && index < self.packed.kinds().num_aux() {
            self.difference
                .get_or_insert(WitnessDifference::Aux { index });
        }
        Variable::new_unchecked(Index::Aux(index))
    }
}

impl ConstraintSystem<Fr> for Comparing<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        Ok(self.compare_aux(value()?))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        Ok(self.compare_input(value()?))
    }

    crate::system::ignored_rows!();

    crate::system::unnamed_root!();
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::VariableKinds;

    /// Private variables and one input with these values.
    #[derive(Clone)]
    struct Values {
        aux: Vec<u64>,
        input: u64,
    }

    impl Circuit<Fr> for Values {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            for value in self.aux {
                cs.alloc(|| "aux", || Ok(Fr::from(value)))?;
            }
            cs.alloc_input(|| "input", || Ok(Fr::from(self.input)))?;
            Ok(())
        }
    }

    /// Two bits, 1 and 0, around a wide 7; the input is 5.
    fn packed() -> PackedWitness {
        let kinds = VariableKinds::from_wide_mask(3, vec![2]).expect("a mask of three variables");
        let inputs = vec![Fr::ONE, Fr::from(5)];
        PackedWitness::new(Arc::new(kinds), inputs, vec![1], vec![Fr::from(7)])
            .expect("the parts fit")
    }

    fn difference(aux: &[u64], input: u64) -> Option<WitnessDifference> {
        let circuit = Values {
            aux: aux.to_vec(),
            input,
        };
        packed()
            .first_difference(circuit)
            .expect("all values are known")
    }

    #[test]
    fn the_first_differing_variable_is_named() {
        assert_eq!(difference(&[1, 7, 0], 5), None);
        for (aux, index) in [
            ([0, 7, 0], 0),
            ([1, 8, 0], 1),
            ([1, 7, 1], 2),
            ([1, 7, 2], 2),
            ([2, 8, 0], 0),
        ] {
            let expected = Some(WitnessDifference::Aux { index });
            assert_eq!(difference(&aux, 5), expected, "{aux:?}");
        }
        let expected = Some(WitnessDifference::Input { index: 1 });
        assert_eq!(difference(&[1, 7, 0], 6), expected);
    }

    #[test]
    fn another_number_of_variables_is_a_difference() {
        for aux in [&[1, 7][..], &[1, 7, 0, 0], &[]] {
            let expected = WitnessDifference::Count {
                what: "variables",
                expected: aux.len(),
                found: 3,
            };
            assert_eq!(difference(aux, 5), Some(expected));
        }
    }
}
