//! Row values from a packed witness, template by template.
//!
//! Evaluating a matrix row by row reads 722 million non-zeros for a 32 GiB replication, and building the rows anew, as
//! bellman-style provers do, costs more still. Here each run of a template's rows is a program that is made once
//! ([`TemplateEvaluator::new`]) and run for each of its instances: the instance's variables are gathered from the bits and
//! wide values of the witness, and the program reads them from there.

mod frame;
mod program;
mod side;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use ff::Field;
use rayon::prelude::*;

use crate::compiled::CompiledCircuit;
use crate::compiled::evaluation::frame::Frame;
use crate::compiled::evaluation::program::{RunProgram, named_by_runs};
use crate::compiled::template::Extent;
use crate::row_digest::{RowDigest, RowFold, RowWeights};
use crate::{Column, Evaluations, Fr, PackedWitness, Shape, VariableKinds};

/// Programs for the rows of a circuit, and where each is run.
#[derive(Debug)]
pub struct TemplateEvaluator {
    shape: Shape,
    kinds: Arc<VariableKinds>,
    programs: Vec<RunProgram>,
    /// Every run of every instance, by row; together they are all rows.
    places: Vec<RunPlace>,
    /// External variables of the instances.
    externals: Vec<Column>,
}

/// A run of rows of an instance.
#[derive(Clone, Debug)]
struct RunPlace {
    program: u32,
    first_row: u32,
    first: Extent,
    externals: Range<u32>,
}

/// Why a witness cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluateError {
    /// Other variables are bits in the witness than in the circuit.
    #[error(
        "a witness of another circuit: of {found} private variables {found_wide} are wide, expected {expected_wide} of {expected}"
    )]
    OtherKinds {
        /// The circuit's private variables.
        expected: usize,
        /// How many of them are wide.
        expected_wide: usize,
        /// The witness's private variables.
        found: usize,
        /// How many of them are wide.
        found_wide: usize,
    },
    /// Another number of public variables.
    #[error("a witness of {found} public variables, expected {expected}")]
    NumInputs {
        /// The circuit's, with ONE.
        expected: usize,
        /// The witness's, with ONE.
        found: usize,
    },
}

/// Consecutive rows, in whole runs.
struct Block<'a> {
    rows: Range<usize>,
    places: &'a [RunPlace],
}

impl TemplateEvaluator {
    /// Rows of a block, the unit of parallel work, at least.
    const BLOCK_ROWS: usize = 1 << 15;

    /// Makes the programs of a circuit: once per circuit, for any number of witnesses.
    pub fn new(circuit: &CompiledCircuit) -> Self {
        let names = named_by_runs(circuit.templates());
        let mut programs = Vec::new();
        let mut by_kinds: HashMap<(usize, usize, Vec<u64>), u32> = HashMap::new();
        let mut places = Vec::new();
        let mut all_externals = Vec::new();
        circuit.for_each_instance(&mut |instance| {
            let start = all_externals.len() as u32;
            all_externals.extend_from_slice(instance.externals);
            let template = &circuit.templates()[instance.template];
            for (index, run) in template.runs().enumerate() {
                let named = &names[instance.template][index];
                let kinds = named.kinds(instance.first, instance.externals, circuit.kinds());
                let entry = by_kinds.entry((instance.template, index, kinds));
                let program = match entry {
                    Entry::Occupied(entry) => *entry.get(),
                    Entry::Vacant(entry) => {
                        let kinds = &entry.key().2;
                        programs.push(RunProgram::new(circuit, (&instance, &run), named, kinds));
                        *entry.insert(programs.len() as u32 - 1)
                    }
                };
                places.push(RunPlace {
                    program,
                    first_row: instance.first.num_rows + run.first_row,
                    first: instance.first,
                    externals: start..all_externals.len() as u32,
                });
            }
        });
        places.sort_by_key(|place: &RunPlace| place.first_row);
        Self {
            shape: circuit.shape(),
            kinds: Arc::clone(circuit.kinds()),
            programs,
            places,
            externals: all_externals,
        }
    }

    /// The row values of a witness, those of the input rows included.
    ///
    /// # Errors
    /// When the witness is of another circuit.
    pub fn evaluate(&self, witness: &PackedWitness) -> Result<Evaluations, EvaluateError> {
        let mut evaluations = Evaluations::default();
        self.evaluate_into(witness, &mut evaluations)?;
        Ok(evaluations)
    }

    /// As [`TemplateEvaluator::evaluate`], into vectors whose memory is used again.
    ///
    /// # Errors
    /// When the witness is of another circuit; the vectors are as they were.
    pub fn evaluate_into(
        &self,
        witness: &PackedWitness,
        evaluations: &mut Evaluations,
    ) -> Result<(), EvaluateError> {
        self.expect_fitting(witness)?;
        let num_rows = self.shape.num_constraints;
        let Evaluations { a, b, c } = evaluations;
        for values in [&mut *a, &mut *b, &mut *c] {
            values.truncate(num_rows);
            values.reserve_exact(self.shape.num_rows() - values.len());
            // New memory is touched here for the first time, which takes longer than the evaluation.
            values.par_extend(rayon::iter::repeat_n(Fr::ZERO, num_rows - values.len()));
        }
        let mut rest = [a, b, c].map(Vec::as_mut_slice);
        let blocks: Vec<_> = self
            .blocks()
            .into_iter()
            .map(|block| {
                let values = rest.each_mut().map(|rest| {
                    let (values, behind) = std::mem::take(rest).split_at_mut(block.rows.len());
                    *rest = behind;
                    values
                });
                (block, values)
            })
            .collect();
        blocks
            .into_par_iter()
            .for_each_init(Frame::default, |frame, (block, values)| {
                self.evaluate_block(block.places, witness, frame, values);
            });
        evaluations.push_input_rows(witness.inputs());
        Ok(())
    }

    /// Evaluates the first rows in blocks and calls `visit` with the first row and the values of a, b, c of each block, on any
    /// thread and in any order; what memory holds is a block for each thread.
    ///
    /// Blocks that begin below `num_rows` are evaluated. Input rows are not among them.
    ///
    /// # Errors
    /// When the witness is of another circuit.
    pub fn evaluate_blocks(
        &self,
        witness: &PackedWitness,
        num_rows: usize,
        visit: &(dyn Fn(usize, [&[Fr]; 3]) + Sync),
    ) -> Result<(), EvaluateError> {
        self.expect_fitting(witness)?;
        let mut blocks = self.blocks();
        blocks.truncate(blocks.partition_point(|block| block.rows.start < num_rows));
        let scratch = || (Frame::default(), [const { Vec::new() }; 3]);
        blocks
            .into_par_iter()
            .for_each_init(scratch, |(frame, values), block| {
                for values in values.iter_mut() {
                    values.resize(block.rows.len(), Fr::ZERO);
                }
                let targets = values.each_mut().map(Vec::as_mut_slice);
                self.evaluate_block(block.places, witness, frame, targets);
                visit(block.rows.start, values.each_ref().map(Vec::as_slice));
            });
        Ok(())
    }

    /// The digest of all constraints' rows, in the memory of a block for each thread; `point` is drawn at random by the caller.
    ///
    /// # Errors
    /// When the witness is of another circuit.
    pub fn row_digest(
        &self,
        witness: &PackedWitness,
        point: Fr,
    ) -> Result<RowDigest, EvaluateError> {
        let weights = RowWeights::new(point);
        let total = Mutex::new(RowDigest::default());
        self.evaluate_blocks(witness, self.shape.num_constraints, &|first, [a, b, c]| {
            let mut fold = RowFold::new(&weights);
            for (index, ((&a, &b), &c)) in a.iter().zip(b).zip(c).enumerate() {
                fold.add(first + index, [a, b, c]);
            }
            let share = fold.finish();
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            total.add(share);
        })?;
        Ok(total.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn expect_fitting(&self, witness: &PackedWitness) -> Result<(), EvaluateError> {
        let found = witness.kinds();
        if !Arc::ptr_eq(&self.kinds, found) && self.kinds != *found {
            return Err(EvaluateError::OtherKinds {
                expected: self.kinds.num_aux(),
                expected_wide: self.kinds.num_wide(),
                found: found.num_aux(),
                found_wide: found.num_wide(),
            });
        }
        let (expected, found) = (self.shape.num_inputs, witness.inputs().len());
        if expected == found {
            Ok(())
        } else {
            Err(EvaluateError::NumInputs { expected, found })
        }
    }

    /// All rows in blocks.
    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        let mut places = self.places.as_slice();
        let mut start = 0;
        while !places.is_empty() {
            let count = places
                .partition_point(|place| (place.first_row as usize) < start + Self::BLOCK_ROWS);
            let (block, rest) = places.split_at(count);
            let end = match rest.first() {
                Some(next) => next.first_row as usize,
                None => self.shape.num_constraints,
            };
            blocks.push(Block {
                rows: start..end,
                places: block,
            });
            places = rest;
            start = end;
        }
        blocks
    }

    fn evaluate_block(
        &self,
        places: &[RunPlace],
        witness: &PackedWitness,
        frame: &mut Frame,
        [a, b, c]: [&mut [Fr]; 3],
    ) {
        let mut first = 0;
        for place in places {
            let program = &self.programs[place.program as usize];
            let externals = place.externals.start as usize..place.externals.end as usize;
            let instance = (place.first, &self.externals[externals]);
            program.layout.fill(frame, instance, witness);
            let rows = first..first + program.num_rows();
            first = rows.end;
            program.run(
                frame,
                [&mut a[rows.clone()], &mut b[rows.clone()], &mut c[rows]],
            );
        }
    }
}

impl CompiledCircuit {
    /// The row values of a witness, row by row from the expansion: the plain twin of [`TemplateEvaluator`].
    ///
    /// # Panics
    /// When the witness has fewer variables than the circuit.
    pub fn evaluate_row_by_row(&self, witness: &crate::Witness) -> Evaluations {
        let mut evaluations = Evaluations::default();
        self.for_each_row(&mut |_, sides| {
            let [a, b, c] = sides.map(|side| {
                side.iter().fold(Fr::ZERO, |sum, entry| {
                    let coefficient = self.coefficients()[entry.coefficient_index as usize];
                    sum + coefficient * entry.column.value(witness)
                })
            });
            evaluations.a.push(a);
            evaluations.b.push(b);
            evaluations.c.push(c);
        });
        evaluations.push_input_rows(&witness.inputs);
        evaluations
    }
}
