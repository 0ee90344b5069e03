//! Evaluating the first rows of a circuit directly, for measuring and comparing where all of them would not fit memory.

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};

use crate::evaluation::{Evaluating, finished};
use crate::{DirectEvaluation, Fr};

/// As [`crate::evaluate`], but rows from `num_rows` on are not evaluated.
///
/// All variables have their values; densities are those of the evaluated rows. `reached` is called once, when the last of these
/// rows was evaluated. Parts that could be synthesized in parallel are synthesized in order.
///
/// # Errors
/// What the circuit's own synthesis returns, for instance a missing assignment.
pub fn evaluate_first_rows<C: Circuit<Fr>>(
    circuit: C,
    num_rows: usize,
    reached: &mut (dyn FnMut() + Send),
) -> Result<DirectEvaluation, SynthesisError> {
    let mut system = Prefix {
        rows: Evaluating::begin()?,
        rows_left: num_rows,
        reached,
    };
    circuit.synthesize(&mut system)?;
    Ok(finished(system.rows))
}

/// A constraint system that evaluates some rows and then none.
struct Prefix<'a> {
    rows: Evaluating,
    rows_left: usize,
    reached: &'a mut (dyn FnMut() + Send),
}

impl ConstraintSystem<Fr> for Prefix<'_> {
    type Root = Self;

    crate::system::delegated_variables!(rows);

    fn enforce<A, AR, LA, LB, LC>(&mut self, name: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        if self.rows_left == 0 {
            return;
        }
        self.rows.enforce(name, a, b, c);
        self.rows_left -= 1;
        if self.rows_left == 0 {
            (self.reached)();
        }
    }

    crate::system::unnamed_root!();
}
