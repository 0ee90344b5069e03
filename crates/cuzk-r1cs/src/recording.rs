//! A circuit as data: its three matrices, recorded from one synthesis without values.

use bellpepper_core::{
    Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable,
};
use ff::Field;
use rayon::prelude::*;

use crate::dictionary::Dictionary;
use crate::digest::MatrixHasher;
use crate::evaluation::add_term;
use crate::matrix::{Entry, Matrix};
use crate::{Densities, Evaluations, Fr, MatrixDigest, Shape, Witness};

/// The matrices of a circuit, with what follows from them.
///
/// Rows are the circuit's own constraints; the input rows (see [`Shape::num_rows`]) are implicit.
/// Entries with a zero coefficient are left out. Eight bytes per non-zero: meant for circuits up
/// to some ten million rows.
#[derive(Clone, Debug)]
pub struct RecordedCircuit {
    /// Counts of variables and constraints.
    pub shape: Shape,
    /// Which variables occur in A and B.
    pub densities: Densities,
    /// Left-hand sides.
    pub a: Matrix,
    /// Right-hand sides.
    pub b: Matrix,
    /// Products.
    pub c: Matrix,
    /// The distinct coefficients, Montgomery form.
    pub coefficients: Vec<Fr>,
}

impl RecordedCircuit {
    /// Records a circuit; assignments are never asked for, so a blank circuit will do.
    ///
    /// # Errors
    /// What the circuit's own synthesis returns.
    pub fn record<C: Circuit<Fr>>(circuit: C) -> Result<Self, SynthesisError> {
        let mut system = Recording::new();
        system.alloc_input(|| "one", || Ok(Fr::ONE))?;
        circuit.synthesize(&mut system)?;
        let Recording {
            num_inputs,
            num_aux,
            densities,
            a,
            b,
            c,
            dictionary,
        } = system;
        Ok(Self {
            shape: Shape {
                num_inputs,
                num_aux,
                num_constraints: a.num_rows(),
            },
            densities,
            a,
            b,
            c,
            coefficients: dictionary.into_coefficients(),
        })
    }

    /// The rows' values, row by row from the matrices: the plain twin of faster evaluations.
    ///
    /// # Panics
    /// When the witness has fewer variables than the circuit.
    pub fn evaluate(&self, witness: &Witness) -> Evaluations {
        let rows = |matrix: &Matrix| -> Vec<Fr> {
            (0..matrix.num_rows())
                .into_par_iter()
                .map(|row| self.evaluate_row(matrix.row(row), witness))
                .collect()
        };
        let mut evaluations = Evaluations {
            a: rows(&self.a),
            b: rows(&self.b),
            c: rows(&self.c),
        };
        evaluations.push_input_rows(&witness.inputs);
        evaluations
    }

    fn evaluate_row(&self, row: &[Entry], witness: &Witness) -> Fr {
        let mut sum = Fr::ZERO;
        for entry in row {
            add_term(
                &mut sum,
                entry.column.value(witness),
                self.coefficients[entry.coefficient_index as usize],
            );
        }
        sum
    }

    /// Index of the first constraint that the witness does not satisfy.
    ///
    /// # Panics
    /// When the witness has fewer variables than the circuit.
    pub fn first_unsatisfied(&self, witness: &Witness) -> Option<usize> {
        (0..self.shape.num_constraints)
            .into_par_iter()
            .find_first(|&row| {
                let [a, b, c] = [&self.a, &self.b, &self.c]
                    .map(|matrix| self.evaluate_row(matrix.row(row), witness));
                a * b != c
            })
    }

    /// Digest of the expanded matrices, equal to that of a fresh [`crate::summarize`].
    pub fn digest(&self) -> MatrixDigest {
        const UNSEEN: u32 = u32::MAX;
        let mut numbers = vec![UNSEEN; self.coefficients.len()];
        let mut in_order = Vec::with_capacity(self.coefficients.len());
        let mut hasher = MatrixHasher::new();
        let mut renumbered = Vec::new();
        for row in 0..self.shape.num_constraints {
            for matrix in [&self.a, &self.b, &self.c] {
                renumbered.clear();
                for entry in matrix.row(row) {
                    let index = entry.coefficient_index as usize;
                    if numbers[index] == UNSEEN {
                        numbers[index] = in_order.len() as u32;
                        in_order.push(self.coefficients[index]);
                    }
                    renumbered.push(Entry {
                        coefficient_index: numbers[index],
                        ..*entry
                    });
                }
                hasher.row(&renumbered);
            }
        }
        hasher.finish(&in_order, self.shape)
    }
}

/// A constraint system that keeps the rows and asks for no value.
struct Recording {
    num_inputs: usize,
    num_aux: usize,
    densities: Densities,
    a: Matrix,
    b: Matrix,
    c: Matrix,
    dictionary: Dictionary,
}

impl ConstraintSystem<Fr> for Recording {
    type Root = Self;

    fn new() -> Self {
        Self {
            num_inputs: 0,
            num_aux: 0,
            densities: Densities::default(),
            a: Matrix::new(),
            b: Matrix::new(),
            c: Matrix::new(),
            dictionary: Dictionary::default(),
        }
    }

    crate::system::counted_variables!();

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        self.a
            .push_row(&a(LinearCombination::zero()), &mut self.dictionary);
        self.b
            .push_row(&b(LinearCombination::zero()), &mut self.dictionary);
        self.c
            .push_row(&c(LinearCombination::zero()), &mut self.dictionary);
        let row = self.a.num_rows() - 1;
        self.densities.mark(self.a.row(row), self.b.row(row));
    }

    crate::system::unnamed_root!();

    fn is_extensible() -> bool {
        true
    }

    fn extend(&mut self, other: &Self) {
        let coefficients: Vec<u32> = other
            .dictionary
            .coefficients()
            .iter()
            .map(|&coefficient| self.dictionary.index_of(coefficient))
            .collect();
        for (matrix, rows) in [
            (&mut self.a, &other.a),
            (&mut self.b, &other.b),
            (&mut self.c, &other.c),
        ] {
            matrix.append(rows, self.num_inputs, self.num_aux, &coefficients);
        }
        self.densities.append(&other.densities);
        self.num_inputs += other.num_inputs - 1;
        self.num_aux += other.num_aux;
    }
}
