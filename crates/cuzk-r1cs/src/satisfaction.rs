//! Why a witness does not satisfy a circuit: the row, its name, and the values that clash.

use std::fmt;

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use ff::Field;

use crate::{Fr, Witness};

/// Why a circuit with values is not satisfied.
#[derive(Debug, thiserror::Error)]
pub enum SatisfactionError {
    /// A constraint does not hold.
    #[error("constraint system not satisfied: {0}")]
    Unsatisfied(Box<UnsatisfiedRow>),
    /// The circuit could not be synthesized at all.
    #[error("circuit cannot be synthesized: {0}")]
    Synthesis(#[from] SynthesisError),
}

/// A constraint that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsatisfiedRow {
    /// Zero-based index in circuit order.
    pub row: usize,
    /// Its namespace and name, joined by slashes.
    pub path: String,
    /// Value of its left-hand side.
    pub a: Fr,
    /// Value of its right-hand side.
    pub b: Fr,
    /// Value that the product should have.
    pub c: Fr,
}

impl fmt::Display for UnsatisfiedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, path, a, b, c } = self;
        write!(
            f,
            "row {row} ({path}) has a = {a}, b = {b} and a * b != c = {c}"
        )
    }
}

/// Synthesizes a circuit with its values and names the first constraint that does not hold.
///
/// Returns the number of constraints checked. `progress` is called with the number of rows
/// seen, about every million rows.
///
/// # Errors
/// [`SatisfactionError::Unsatisfied`] for the first such row in circuit order.
pub fn check_satisfied<C: Circuit<Fr>>(
    circuit: C,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<usize, SatisfactionError> {
    let mut system = Checking {
        witness: Witness::default(),
        path: Vec::new(),
        num_constraints: 0,
        first_unsatisfied: None,
        progress,
    };
    system.witness.push_input(Fr::ONE);
    circuit.synthesize(&mut system)?;
    progress(system.num_constraints as u64);
    match system.first_unsatisfied {
        None => Ok(system.num_constraints),
        Some(row) => Err(SatisfactionError::Unsatisfied(row)),
    }
}

/// A constraint system that checks each row and remembers where it is.
struct Checking<'a> {
    witness: Witness,
    path: Vec<String>,
    num_constraints: usize,
    first_unsatisfied: Option<Box<UnsatisfiedRow>>,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl Checking<'_> {
    const ROWS_BETWEEN_REPORTS: usize = 1 << 20;
}

impl ConstraintSystem<Fr> for Checking<'_> {
    type Root = Self;

    crate::system::valued_variables!();

    fn enforce<A, AR, LA, LB, LC>(&mut self, name: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        if self.first_unsatisfied.is_none() {
            let value =
                |row: LinearCombination<Fr>| row.eval(&self.witness.inputs, &self.witness.aux);
            let a = value(a(LinearCombination::zero()));
            let b = value(b(LinearCombination::zero()));
            let c = value(c(LinearCombination::zero()));
            if a * b != c {
                let mut path = self.path.join("/");
                if !path.is_empty() {
                    path.push('/');
                }
                path.push_str(&name().into());
                self.first_unsatisfied = Some(Box::new(UnsatisfiedRow {
                    row: self.num_constraints,
                    path,
                    a,
                    b,
                    c,
                }));
            }
        }
        self.num_constraints += 1;
        if self
            .num_constraints
            .is_multiple_of(Self::ROWS_BETWEEN_REPORTS)
        {
            (self.progress)(self.num_constraints as u64);
        }
    }

    fn push_namespace<NR, N>(&mut self, name: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
        self.path.push(name().into());
    }

    fn pop_namespace(&mut self) {
        self.path.pop();
    }

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}
