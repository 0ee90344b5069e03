//! What a circuit is like, without holding it.
//!
//! A 32 GiB circuit has 130 million rows and 722 million non-zeros; its plain matrices do not fit
//! a small machine. The summary counts and hashes them while they stream by.

use bellpepper_core::{
    Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable,
};
use ff::Field;

use crate::dictionary::Dictionary;
use crate::digest::MatrixHasher;
use crate::matrix::{Entry, entries_of};
use crate::{Densities, Fr, MatrixDigest, Shape};

/// Counts and digest of a circuit's matrices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitSummary {
    /// Counts of variables and constraints.
    pub shape: Shape,
    /// Entries of A, B, C with a coefficient other than zero in all rows: A also has one per input row.
    pub non_zeros: [u64; 3],
    /// Which variables occur in A and B.
    pub densities: Densities,
    /// Distinct coefficients in all three matrices.
    pub num_coefficients: usize,
    /// Longest row of A, B, C.
    pub longest_rows: [usize; 3],
    /// Digest of the expanded matrices.
    pub digest: MatrixDigest,
}

/// Streams a circuit by; memory is two bits per variable and the coefficient dictionary.
///
/// `progress` is called with the number of rows seen, about every million rows. Assignments are
/// never asked for, so a blank circuit will do. Circuits that could be synthesized in parallel
/// are synthesized in order, because the digest follows the row order.
///
/// # Errors
/// What the circuit's own synthesis returns.
pub fn summarize<C: Circuit<Fr>>(
    circuit: C,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<CircuitSummary, SynthesisError> {
    let mut system = Summarizing {
        num_inputs: 0,
        num_aux: 0,
        num_constraints: 0,
        non_zeros: [0; 3],
        longest_rows: [0; 3],
        densities: Densities::default(),
        dictionary: Dictionary::default(),
        hasher: MatrixHasher::new(),
        rows: [const { Vec::new() }; 3],
        progress,
    };
    system.alloc_input(|| "one", || Ok(Fr::ONE))?;
    circuit.synthesize(&mut system)?;
    let shape = Shape {
        num_inputs: system.num_inputs,
        num_aux: system.num_aux,
        num_constraints: system.num_constraints,
    };
    progress(shape.num_constraints as u64);
    let [a, b, c] = system.non_zeros;
    Ok(CircuitSummary {
        shape,
        non_zeros: [a + shape.num_inputs as u64, b, c],
        densities: system.densities,
        num_coefficients: system.dictionary.coefficients().len(),
        longest_rows: system.longest_rows,
        digest: system
            .hasher
            .finish(system.dictionary.coefficients(), shape),
    })
}

/// A constraint system that counts and hashes rows and forgets them.
struct Summarizing<'a> {
    num_inputs: usize,
    num_aux: usize,
    num_constraints: usize,
    non_zeros: [u64; 3],
    longest_rows: [usize; 3],
    densities: Densities,
    dictionary: Dictionary,
    hasher: MatrixHasher,
    /// The current row of A, B, C; kept for its capacity.
    rows: [Vec<Entry>; 3],
    progress: &'a (dyn Fn(u64) + Sync),
}

impl Summarizing<'_> {
    const ROWS_BETWEEN_REPORTS: usize = 1 << 20;

    fn take_row(&mut self, matrix: usize, row: &LinearCombination<Fr>) {
        let entries = &mut self.rows[matrix];
        entries.clear();
        entries.extend(entries_of(row, &mut self.dictionary));
        self.hasher.row(entries);
        self.non_zeros[matrix] += entries.len() as u64;
        self.longest_rows[matrix] = self.longest_rows[matrix].max(entries.len());
    }
}

impl ConstraintSystem<Fr> for Summarizing<'_> {
    type Root = Self;

    crate::system::counted_variables!();

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        self.take_row(0, &a(LinearCombination::zero()));
        self.take_row(1, &b(LinearCombination::zero()));
        self.take_row(2, &c(LinearCombination::zero()));
        self.densities.mark(&self.rows[0], &self.rows[1]);
        self.num_constraints += 1;
        if self
            .num_constraints
            .is_multiple_of(Self::ROWS_BETWEEN_REPORTS)
        {
            (self.progress)(self.num_constraints as u64);
        }
    }

    crate::system::unnamed_root!();
}
