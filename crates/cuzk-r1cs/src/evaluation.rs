//! Evaluating every row while the circuit is synthesized.
//!
//! This is what bellman-style provers do for each proof. It needs no recorded matrix, and it is
//! the oracle for every faster way to a, b and c.

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use ff::Field;
use rayon::prelude::*;

use crate::{Densities, Density, Fr, Shape, Witness};

/// The three row vectors `A·z`, `B·z`, `C·z` of a witness `z`, Montgomery form.
///
/// Each has [`Shape::num_rows`] entries: the constraints in order, then one row per input with
/// the input's value in `a` and zero in `b` and `c`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluations {
    /// Values of the left-hand sides.
    pub a: Vec<Fr>,
    /// Values of the right-hand sides.
    pub b: Vec<Fr>,
    /// Values of the products that a satisfied circuit has.
    pub c: Vec<Fr>,
}

impl Evaluations {
    fn with_capacity(num_rows: usize) -> Self {
        Self {
            a: Vec::with_capacity(num_rows),
            b: Vec::with_capacity(num_rows),
            c: Vec::with_capacity(num_rows),
        }
    }

    fn append(&mut self, other: &Self) {
        self.a.extend_from_slice(&other.a);
        self.b.extend_from_slice(&other.b);
        self.c.extend_from_slice(&other.c);
    }

    /// Appends the rows `x_i * 0 = 0`.
    pub(crate) fn push_input_rows(&mut self, inputs: &[Fr]) {
        let num_rows = self.a.len() + inputs.len();
        self.a.extend_from_slice(inputs);
        self.b.resize(num_rows, Fr::ZERO);
        self.c.resize(num_rows, Fr::ZERO);
    }

    /// Index of the first row with `a * b != c`, by the threads of the current pool.
    pub fn first_unsatisfied(&self) -> Option<usize> {
        self.a
            .par_iter()
            .zip(&self.b)
            .zip(&self.c)
            .position_first(|((a, b), c)| a * b != *c)
    }
}

/// All that one pass over a circuit yields to a prover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectEvaluation {
    /// Counts of variables and constraints.
    pub shape: Shape,
    /// Which variables occur in A and B.
    pub densities: Densities,
    /// Values of the variables.
    pub witness: Witness,
    /// Values of the rows.
    pub evaluations: Evaluations,
}

/// Synthesizes the circuit once and evaluates every row on the way.
///
/// # Errors
/// What the circuit's own synthesis returns, for instance a missing assignment.
pub fn evaluate<C: Circuit<Fr>>(circuit: C) -> Result<DirectEvaluation, SynthesisError> {
    evaluate_into(circuit, Evaluating::new())
}

/// As [`evaluate`], with vectors sized for `shape` from the start, so that they never move.
///
/// # Errors
/// As [`evaluate`]; a `shape` that is not the circuit's costs time, never correctness.
pub fn evaluate_with_hint<C: Circuit<Fr>>(
    circuit: C,
    shape: Shape,
) -> Result<DirectEvaluation, SynthesisError> {
    let system = Evaluating {
        densities: Densities::default(),
        witness: Witness::with_capacity(shape),
        evaluations: Evaluations::with_capacity(shape.num_rows()),
    };
    evaluate_into(circuit, system)
}

fn evaluate_into<C: Circuit<Fr>>(
    circuit: C,
    mut system: Evaluating,
) -> Result<DirectEvaluation, SynthesisError> {
    system.alloc_input(|| "one", || Ok(Fr::ONE))?;
    circuit.synthesize(&mut system)?;
    Ok(finished(system))
}

/// All that a system has seen, with the input rows.
pub(crate) fn finished(system: Evaluating) -> DirectEvaluation {
    let Evaluating {
        densities,
        witness,
        mut evaluations,
    } = system;
    let shape = Shape {
        num_inputs: witness.inputs.len(),
        num_aux: witness.aux.len(),
        num_constraints: evaluations.a.len(),
    };
    evaluations.push_input_rows(&witness.inputs);
    DirectEvaluation {
        shape,
        densities,
        witness,
        evaluations,
    }
}

/// A constraint system that evaluates each constraint as it comes.
pub(crate) struct Evaluating {
    densities: Densities,
    witness: Witness,
    evaluations: Evaluations,
}

impl Evaluating {
    /// A system that has ONE and nothing else.
    pub(crate) fn begin() -> Result<Self, SynthesisError> {
        let mut system = Self::new();
        system.alloc_input(|| "one", || Ok(Fr::ONE))?;
        Ok(system)
    }
}

impl ConstraintSystem<Fr> for Evaluating {
    type Root = Self;

    fn new() -> Self {
        Self {
            densities: Densities::default(),
            witness: Witness::default(),
            evaluations: Evaluations::default(),
        }
    }

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let variable = self.witness.push_aux(value()?);
        self.densities.push_aux();
        Ok(variable)
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let variable = self.witness.push_input(value()?);
        self.densities.push_input();
        Ok(variable)
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        let a = a(LinearCombination::zero());
        let b = b(LinearCombination::zero());
        let c = c(LinearCombination::zero());
        let Densities {
            a_aux,
            b_input,
            b_aux,
        } = &mut self.densities;
        self.evaluations
            .a
            .push(evaluate_row(&a, &self.witness, None, Some(a_aux)));
        self.evaluations
            .b
            .push(evaluate_row(&b, &self.witness, Some(b_input), Some(b_aux)));
        self.evaluations
            .c
            .push(evaluate_row(&c, &self.witness, None, None));
    }

    crate::system::unnamed_root!();

    fn is_extensible() -> bool {
        true
    }

    fn extend(&mut self, other: &Self) {
        self.densities.append(&other.densities);
        self.witness.append(&other.witness);
        self.evaluations.append(&other.evaluations);
    }
}

/// Value of one linear combination; marks the variables that occur in it.
fn evaluate_row(
    row: &LinearCombination<Fr>,
    witness: &Witness,
    mut inputs: Option<&mut Density>,
    mut aux: Option<&mut Density>,
) -> Fr {
    let mut sum = Fr::ZERO;
    for (&index, &coefficient) in row.iter_inputs() {
        if add_term(&mut sum, witness.inputs[index], coefficient)
            && let Some(inputs) = &mut inputs
        {
            inputs.set(index);
        }
    }
    for (&index, &coefficient) in row.iter_aux() {
        if add_term(&mut sum, witness.aux[index], coefficient)
            && let Some(aux) = &mut aux
        {
            aux.set(index);
        }
    }
    sum
}

/// Adds `coefficient * value` without multiplying where a factor is 0 or 1, which nearly all
/// values of a hash-heavy circuit are. Tells whether the coefficient counts as present.
pub(crate) fn add_term(sum: &mut Fr, value: Fr, coefficient: Fr) -> bool {
    // Plain comparisons: the `Field` methods compare in constant time, which costs more than the addition.
    if coefficient == Fr::ZERO {
        return false;
    }
    if value == Fr::ZERO {
    } else if value == Fr::ONE {
        *sum += coefficient;
    } else if coefficient == Fr::ONE {
        *sum += value;
    } else {
        *sum += value * coefficient;
    }
    true
}
