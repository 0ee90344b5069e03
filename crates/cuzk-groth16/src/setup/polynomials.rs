//! The polynomials of all variables at τ, from a circuit's templates.
//!
//! Each non-zero adds its coefficient times the basis value of its row to its variable. An instance of a template owns
//! its rows and the variables that it allocates, so instances add at the same time, each to its own slice. What one adds
//! to variables of its surroundings, it keeps in a short list that the surrounding instance adds when its children are
//! done.

use blstrs::Scalar;
use cuzk_r1cs::{Child, CompiledCircuit, Referent, Template, VariableRef};
use ff::Field;
use rayon::prelude::*;

/// u(τ), v(τ), w(τ): the polynomials of a variable in A, B, C.
pub(super) type Values = [Scalar; 3];

const ZERO: Values = [Scalar::ZERO; 3];

/// Instances of fewer rows are not worth another thread.
const MIN_PARALLEL_ROWS: u32 = 1 << 12;

/// The values of all variables, inputs first, from the basis polynomials of the rows at τ.
///
/// The rows that Groth16 adds for inputs are those of `basis` behind the constraints.
pub(super) fn polynomials_at(circuit: &CompiledCircuit, basis: &[Scalar]) -> Vec<Values> {
    let shape = circuit.shape();
    let num_variables = shape.num_inputs + shape.num_aux;
    // Touched in parallel: the pages of a large circuit take as long to get as the values.
    let mut values: Vec<Values> = (0..num_variables).into_par_iter().map(|_| ZERO).collect();
    let (inputs, aux) = values.split_at_mut(shape.num_inputs);
    let (one, inputs) = inputs.split_at_mut(1);
    let templates = circuit.templates();
    let transposition = Transposition {
        templates,
        factors: circuit.coefficients().iter().map(Factor::of).collect(),
    };
    let mut whole = Place {
        template: &templates[templates.len() - 1],
        basis: &basis[..shape.num_constraints],
        aux,
        inputs,
        surroundings: vec![ZERO],
    };
    transposition.add(&mut whole);
    one[0] = whole.surroundings[0];
    for (value, row) in values.iter_mut().zip(&basis[shape.num_constraints..]) {
        value[0] += row;
    }
    values
}

/// An instance, with the parts of rows and variables that are its own.
struct Place<'a> {
    template: &'a Template,
    basis: &'a [Scalar],
    aux: &'a mut [Values],
    inputs: &'a mut [Values],
    /// ONE, then the external variables by slot.
    surroundings: Vec<Values>,
}

impl Place<'_> {
    fn variable(&mut self, variable: VariableRef) -> &mut Values {
        match variable.referent() {
            Referent::One => &mut self.surroundings[0],
            Referent::External(slot) => &mut self.surroundings[1 + slot as usize],
            Referent::Input(offset) => &mut self.inputs[offset as usize],
            Referent::Aux(offset) => &mut self.aux[offset as usize],
        }
    }
}

struct Transposition<'a> {
    templates: &'a [Template],
    factors: Vec<Factor>,
}

impl Transposition<'_> {
    /// Adds all rows of an instance, its children's included.
    fn add(&self, place: &mut Place<'_>) {
        let template = place.template;
        let mut children = self.children(place);
        if template.extent().num_rows < MIN_PARALLEL_ROWS {
            for child in &mut children {
                self.add(child);
            }
        } else {
            children.par_iter_mut().for_each(|child| self.add(child));
        }
        let sums: Vec<Vec<Values>> = children
            .into_iter()
            .map(|child| child.surroundings)
            .collect();
        for (index, sums) in sums.iter().enumerate() {
            add_to(&mut place.surroundings[0], &sums[0]);
            for (variable, sum) in template.externals_of(index).iter().zip(&sums[1..]) {
                add_to(place.variable(*variable), sum);
            }
        }
        self.add_own_rows(place);
    }

    /// The children of an instance. They stand in circuit order, so their parts are cut off one after the other.
    fn children<'p>(&'p self, place: &'p mut Place<'_>) -> Vec<Place<'p>> {
        let mut aux = Parts::of(place.aux);
        let mut inputs = Parts::of(place.inputs);
        let child = |child: &Child| {
            let template = &self.templates[child.template as usize];
            let extent = template.extent();
            let first_row = child.first.num_rows as usize;
            Place {
                template,
                basis: &place.basis[first_row..first_row + extent.num_rows as usize],
                aux: aux.take(child.first.num_aux, extent.num_aux),
                inputs: inputs.take(child.first.num_inputs, extent.num_inputs),
                surroundings: vec![ZERO; 1 + template.num_externals()],
            }
        };
        place.template.children().iter().map(child).collect()
    }

    fn add_own_rows(&self, place: &mut Place<'_>) {
        let template = place.template;
        for run in template.runs() {
            let basis = &place.basis[run.first_row as usize..][..run.num_rows];
            for (row, value) in (run.first_own_row..).zip(basis) {
                for (side, terms) in template.own_row(row).into_iter().enumerate() {
                    for term in terms {
                        let sum = &mut place.variable(term.variable)[side];
                        match &self.factors[term.coefficient_index as usize] {
                            Factor::One => *sum += value,
                            Factor::MinusOne => *sum -= value,
                            Factor::Other(coefficient) => *sum += coefficient * value,
                        }
                    }
                }
            }
        }
    }
}

/// A slice from which parts are taken in rising order.
struct Parts<'a> {
    rest: &'a mut [Values],
    taken: u32,
}

impl<'a> Parts<'a> {
    fn of(values: &'a mut [Values]) -> Self {
        Self {
            rest: values,
            taken: 0,
        }
    }

    /// The `len` values from position `first` of the whole slice on.
    fn take(&mut self, first: u32, len: u32) -> &'a mut [Values] {
        let (_, rest) = std::mem::take(&mut self.rest).split_at_mut((first - self.taken) as usize);
        let (part, rest) = rest.split_at_mut(len as usize);
        self.rest = rest;
        self.taken = first + len;
        part
    }
}

fn add_to(sum: &mut Values, values: &Values) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += value;
    }
}

/// A coefficient, with the two that need no multiplication and make up two thirds of a matrix set apart.
enum Factor {
    One,
    MinusOne,
    Other(Scalar),
}

impl Factor {
    fn of(coefficient: &Scalar) -> Self {
        if *coefficient == Scalar::ONE {
            Self::One
        } else if *coefficient == -Scalar::ONE {
            Self::MinusOne
        } else {
            Self::Other(*coefficient)
        }
    }
}

#[cfg(test)]
mod tests {
    use bellpepper_core::{Circuit, ConstraintSystem, Index, SynthesisError, Variable};

    use super::*;

    /// Blocks within blocks that see inputs, each other's variables and ONE, and allocate inputs of their own.
    struct Nested {
        num_blocks: usize,
        rows_of_hash: usize,
    }

    impl Nested {
        /// A chain of products that multiplies with `key` in each row and adds to its last value at the end.
        fn hash<CS: ConstraintSystem<Scalar>>(
            &self,
            cs: &mut CS,
            key: Variable,
            first: Variable,
        ) -> Result<Variable, SynthesisError> {
            let mut last = first;
            for row in 0..self.rows_of_hash as u64 {
                let next = cs.alloc(|| "next", || Ok(Scalar::ZERO))?;
                cs.enforce(
                    || "product",
                    |zero| zero + (Scalar::from(row + 2), last) - key,
                    |zero| zero + key + CS::one(),
                    |zero| zero + next - (Scalar::from(3 * row), first),
                );
                last = next;
            }
            let public = cs.alloc_input(|| "public", || Ok(Scalar::ZERO))?;
            cs.enforce(
                || "equal",
                |zero| zero + last,
                |zero| zero + CS::one(),
                |zero| zero + public,
            );
            Ok(last)
        }
    }

    impl Circuit<Scalar> for Nested {
        fn synthesize<CS: ConstraintSystem<Scalar>>(
            self,
            cs: &mut CS,
        ) -> Result<(), SynthesisError> {
            let key = cs.alloc_input(|| "key", || Ok(Scalar::ZERO))?;
            let mut last = cs.alloc(|| "first", || Ok(Scalar::ZERO))?;
            for block in 0..self.num_blocks {
                let mut cs = cs.namespace(|| format!("block {block}"));
                for hash in 0..3 {
                    let mut cs = cs.namespace(|| format!("hash {hash}"));
                    let next = self.hash(&mut cs, key, last)?;
                    drop(cs);
                    last = next;
                }
                for row in 0..70 {
                    cs.enforce(
                        || format!("row {row}"),
                        |zero| zero + last + CS::one(),
                        |zero| zero - key,
                        |zero| zero - (Scalar::from(7), CS::one()),
                    );
                }
            }
            Ok(())
        }
    }

    #[test]
    fn templates_add_up_to_what_their_rows_do() {
        for (num_blocks, rows_of_hash) in [(1, 3), (5, 70), (4, 700)] {
            let circuit = Nested {
                num_blocks,
                rows_of_hash,
            };
            let compiled = CompiledCircuit::compile(circuit, &|_| ()).expect("it compiles");
            let shape = compiled.shape();
            let is_nested = compiled
                .templates()
                .iter()
                .any(|template| template.num_externals() > 0 && !template.children().is_empty());
            assert_eq!(is_nested, rows_of_hash >= 64, "what is tested");
            let basis: Vec<Scalar> = (0..shape.num_rows() as u64)
                .map(|row| Scalar::from(row + 11).square())
                .collect();

            let mut expected = vec![ZERO; shape.num_inputs + shape.num_aux];
            compiled.for_each_row(&mut |row, sides| {
                for (side, entries) in sides.into_iter().enumerate() {
                    for entry in entries {
                        let variable = match entry.column.index() {
                            Index::Input(index) => index,
                            Index::Aux(index) => shape.num_inputs + index,
                        };
                        let coefficient = compiled.coefficients()[entry.coefficient_index as usize];
                        expected[variable][side] += coefficient * basis[row];
                    }
                }
            });
            for input in 0..shape.num_inputs {
                expected[input][0] += basis[shape.num_constraints + input];
            }
            assert_eq!(polynomials_at(&compiled, &basis), expected);
        }
    }
}
