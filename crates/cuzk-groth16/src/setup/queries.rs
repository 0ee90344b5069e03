//! Every point of a key is a generator times a scalar that follows from the circuit and the exponents.
//!
//! With u, v, w the polynomials of a variable in A, B, C (Groth 2016, section 3.2): a holds u(τ), b holds v(τ), ic and
//! l hold (β·u(τ) + α·v(τ) + w(τ)) over γ and δ, h holds τ^i·(τ^n − 1)/δ. As in bellperson, each input has one more
//! row that holds it in A alone, h stops at n − 2, and a and b leave out variables whose polynomial is zero.

use std::ops::Range;

use bellpepper_core::Index;
use blstrs::Scalar;
use cuzk_r1cs::{Matrix, RecordedCircuit};
use ff::{Field, PrimeField};
use rayon::prelude::*;

use super::domain::{lagrange_at, vanishing_at};
use super::{SetupError, SetupProgress, SetupStep, ToxicWaste};
use crate::key::{QueryCounts, Section};

/// Parts of the evaluation that progress counts: Lagrange's basis, three matrices, the combination.
const NUM_PARTS: u64 = 5;

/// The scalars behind the points of a key; as secret as the exponents that they come from.
pub(super) struct QueryScalars {
    counts: QueryCounts,
    num_inputs: usize,
    /// u(τ) of all variables, inputs first.
    a: Vec<Scalar>,
    /// v(τ) of all variables, inputs first.
    b: Vec<Scalar>,
    /// The scalars of ic, then those of l.
    combined: Vec<Scalar>,
    /// Variables whose points a holds.
    a_variables: Vec<u32>,
    /// Variables whose points b holds.
    b_variables: Vec<u32>,
    tau: Scalar,
    /// (τ^n − 1)/δ.
    h_factor: Scalar,
}

impl QueryScalars {
    /// Evaluates the circuit's polynomials at τ.
    ///
    /// # Errors
    /// [`SetupError::TooManyRows`], [`SetupError::TooManyPoints`], [`SetupError::Waste`] if τ lies in the domain,
    /// [`SetupError::UnconstrainedVariable`], [`SetupError::VanishesAtTau`].
    pub(super) fn evaluate(
        circuit: &RecordedCircuit,
        waste: &ToxicWaste,
        progress: &(dyn Fn(SetupProgress) + Sync),
    ) -> Result<Self, SetupError> {
        let shape = &circuit.shape;
        let counts = QueryCounts::of_circuit(shape, &circuit.densities);
        check_sizes(circuit, &counts)?;
        let log_domain = shape.log_domain();
        waste.check_domain(log_domain)?;

        let parts = PartCounter::new(progress);
        let basis = lagrange_at(waste.tau, log_domain, shape.num_rows());
        parts.one_done();
        let evaluate = |matrix: &Matrix| {
            let values = transposed_product(matrix, circuit, &basis);
            parts.one_done();
            values
        };
        let (mut a, (b, c)) = rayon::join(
            || evaluate(&circuit.a),
            || rayon::join(|| evaluate(&circuit.b), || evaluate(&circuit.c)),
        );
        for (value, row) in a.iter_mut().zip(&basis[shape.num_constraints..]) {
            *value += row;
        }
        drop(basis);
        let combined = combine(waste, shape.num_inputs, &a, &b, c);
        let inputs = shape.num_inputs;
        let densities = &circuit.densities;
        let scalars = Self {
            counts,
            num_inputs: inputs,
            a,
            b,
            combined,
            a_variables: variables(0..inputs, densities.a_aux.iter_ones(), inputs),
            b_variables: variables(
                densities.b_input.iter_ones(),
                densities.b_aux.iter_ones(),
                inputs,
            ),
            tau: waste.tau,
            h_factor: vanishing_at(waste.tau, log_domain) * inverse(waste.delta),
        };
        scalars.check_no_infinity()?;
        parts.one_done();
        Ok(scalars)
    }

    pub(super) const fn counts(&self) -> QueryCounts {
        self.counts
    }

    /// Appends the scalars of positions `range` of a vector.
    pub(super) fn scalars_into(
        &self,
        section: Section,
        range: Range<usize>,
        scalars: &mut Vec<Scalar>,
    ) {
        match section {
            Section::Ic => scalars.extend_from_slice(&self.combined[range]),
            Section::L => {
                let range = range.start + self.num_inputs..range.end + self.num_inputs;
                scalars.extend_from_slice(&self.combined[range]);
            }
            Section::H => {
                let first = self.h_factor * self.tau.pow_vartime([range.start as u64]);
                scalars.extend(
                    std::iter::successors(Some(first), |power| Some(power * self.tau))
                        .take(range.len()),
                );
            }
            Section::A => select(&self.a, &self.a_variables[range], scalars),
            Section::BG1 | Section::BG2 => select(&self.b, &self.b_variables[range], scalars),
            // The single points of the header are no vectors.
            _ => {}
        }
    }

    /// No vector of a key may hold infinity: provers count on a point for every variable that they find in a row.
    fn check_no_infinity(&self) -> Result<(), SetupError> {
        let (ic, l) = self.combined.split_at(self.num_inputs);
        if let Some(variable) = l
            .par_iter()
            .position_first(|scalar| *scalar == Scalar::ZERO)
        {
            return Err(SetupError::UnconstrainedVariable { variable });
        }
        if let Some(index) = ic.iter().position(|scalar| *scalar == Scalar::ZERO) {
            let section = Section::Ic;
            return Err(SetupError::VanishesAtTau { section, index });
        }
        for (section, values, variables) in [
            (Section::A, &self.a, &self.a_variables),
            (Section::BG1, &self.b, &self.b_variables),
        ] {
            let zero = |variable: &u32| values[*variable as usize] == Scalar::ZERO;
            if let Some(index) = variables.par_iter().position_first(zero) {
                return Err(SetupError::VanishesAtTau { section, index });
            }
        }
        Ok(())
    }
}

fn check_sizes(circuit: &RecordedCircuit, counts: &QueryCounts) -> Result<(), SetupError> {
    let (rows, max_log_domain) = (circuit.shape.num_rows(), Scalar::S);
    if circuit.shape.log_domain() > max_log_domain {
        return Err(SetupError::TooManyRows {
            rows,
            max_log_domain,
        });
    }
    for section in Section::VECTORS {
        let count = counts.of(section);
        if u32::try_from(count).is_err() {
            return Err(SetupError::TooManyPoints { section, count });
        }
    }
    Ok(())
}

/// The values of all variables' polynomials: Σ over rows of the coefficient times the row's basis value.
fn transposed_product(matrix: &Matrix, circuit: &RecordedCircuit, basis: &[Scalar]) -> Vec<Scalar> {
    let shape = &circuit.shape;
    let factors: Vec<Factor> = circuit.coefficients.iter().map(Factor::of).collect();
    let mut values = vec![Scalar::ZERO; shape.num_inputs + shape.num_aux];
    for (row, value) in matrix.rows().zip(basis) {
        for entry in row {
            let variable = match entry.column.index() {
                Index::Input(index) => index,
                Index::Aux(index) => shape.num_inputs + index,
            };
            match &factors[entry.coefficient_index as usize] {
                Factor::One => values[variable] += value,
                Factor::MinusOne => values[variable] -= value,
                Factor::Other(coefficient) => values[variable] += coefficient * value,
            }
        }
    }
    values
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

/// (β·a + α·b + c) over γ for inputs and over δ for the others, in the place of c.
fn combine(
    waste: &ToxicWaste,
    num_inputs: usize,
    a: &[Scalar],
    b: &[Scalar],
    c: Vec<Scalar>,
) -> Vec<Scalar> {
    let (for_inputs, for_aux) = (inverse(waste.gamma), inverse(waste.delta));
    let mut combined = c;
    combined
        .par_iter_mut()
        .zip(a)
        .zip(b)
        .enumerate()
        .for_each(|(index, ((value, a), b))| {
            let divisor = if index < num_inputs {
                for_inputs
            } else {
                for_aux
            };
            *value = (*value + waste.beta * a + waste.alpha * b) * divisor;
        });
    combined
}

fn inverse(scalar: Scalar) -> Scalar {
    Option::from(scalar.invert()).expect("toxic waste holds no zero")
}

fn variables(
    inputs: impl Iterator<Item = usize>,
    aux: impl Iterator<Item = usize>,
    num_inputs: usize,
) -> Vec<u32> {
    // The lengths of l and ic fit 32 bits each, and the domain that bounds their sum has at most 2^32 rows.
    inputs
        .chain(aux.map(|index| num_inputs + index))
        .map(|index| index as u32)
        .collect()
}

fn select(values: &[Scalar], variables: &[u32], scalars: &mut Vec<Scalar>) {
    scalars.extend(variables.iter().map(|variable| values[*variable as usize]));
}

/// Counts the parts of the evaluation for the caller's progress.
struct PartCounter<'a> {
    progress: &'a (dyn Fn(SetupProgress) + Sync),
    done: std::sync::atomic::AtomicU64,
}

impl<'a> PartCounter<'a> {
    fn new(progress: &'a (dyn Fn(SetupProgress) + Sync)) -> Self {
        let done = std::sync::atomic::AtomicU64::new(0);
        Self { progress, done }
    }

    fn one_done(&self) {
        (self.progress)(SetupProgress {
            step: SetupStep::Polynomials,
            done: self.done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1,
            total: NUM_PARTS,
        });
    }
}
