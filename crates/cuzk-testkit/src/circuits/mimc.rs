//! A keyed permutation of full-size values: nearly every variable is wide.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError, Variable};
use cuzk_r1cs::Fr;
use ff::Field;

use super::{ExpectedShape, assigned, full_size};

/// Proves knowledge of the two halves that a Feistel network with cubes maps to a public value.
///
/// Follows "MiMC: Efficient Encryption and Cryptographic Hashing with Minimal Multiplicative Complexity", section 2.1
/// (`LongsightF322p3`), with round constants of its own.
#[derive(Clone, Debug)]
pub struct Mimc {
    num_rounds: usize,
    halves: Option<(Fr, Fr)>,
}

impl Mimc {
    /// The network over the given number of rounds, at least one.
    ///
    /// # Panics
    /// Panics when there is no round.
    pub fn new(num_rounds: usize, left: Fr, right: Fr) -> Self {
        assert!(num_rounds > 0, "a network of no rounds has no output");
        Self {
            num_rounds,
            halves: Some((left, right)),
        }
    }

    pub(super) fn blank(&self) -> Self {
        Self {
            num_rounds: self.num_rounds,
            halves: None,
        }
    }

    pub(super) fn public_inputs(&self) -> Vec<Fr> {
        self.output().into_iter().collect()
    }

    pub(super) fn expected_shape(&self) -> ExpectedShape {
        let rounds = self.num_rounds;
        // The last round's output is the input.
        ExpectedShape {
            num_inputs: 2,
            num_aux: 2 + 2 * rounds,
            num_constraints: 2 * rounds + 1,
        }
    }

    fn output(&self) -> Option<Fr> {
        let (mut left, mut right) = self.halves?;
        for round in 0..self.num_rounds {
            let sum = left + round_constant(round);
            (left, right) = (right + sum.square() * sum, left);
        }
        Some(left)
    }
}

fn round_constant(round: usize) -> Fr {
    full_size(1000 + round as u64)
}

/// A variable and its value, where there is one.
#[derive(Clone, Copy)]
struct Half {
    variable: Variable,
    value: Option<Fr>,
}

fn allocate<CS: ConstraintSystem<Fr>>(
    cs: &mut CS,
    name: &str,
    value: Option<Fr>,
) -> Result<Half, SynthesisError> {
    let variable = cs.alloc(|| name, || assigned(value))?;
    Ok(Half { variable, value })
}

/// (left + k)³ + right, in two constraints.
fn round<CS: ConstraintSystem<Fr>>(
    cs: &mut CS,
    left: Half,
    right: Half,
    constant: Fr,
) -> Result<Half, SynthesisError> {
    let sum = left.value.map(|value| value + constant);
    let square = allocate(cs, "square", sum.map(|sum| sum.square()))?;
    cs.enforce(
        || "square",
        |lc| lc + left.variable + (constant, CS::one()),
        |lc| lc + left.variable + (constant, CS::one()),
        |lc| lc + square.variable,
    );
    let values = sum.zip(square.value).zip(right.value);
    let next = allocate(
        cs,
        "next",
        values.map(|((sum, square), right)| sum * square + right),
    )?;
    cs.enforce(
        || "cube",
        |lc| lc + square.variable,
        |lc| lc + left.variable + (constant, CS::one()),
        |lc| lc + next.variable - right.variable,
    );
    Ok(next)
}

impl Circuit<Fr> for Mimc {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let output = self.output();
        let mut left = allocate(cs, "left", self.halves.map(|(left, _)| left))?;
        let mut right = allocate(cs, "right", self.halves.map(|(_, right)| right))?;
        for index in 0..self.num_rounds {
            let mut cs = cs.namespace(|| format!("round {index}"));
            (left, right) = (round(&mut cs, left, right, round_constant(index))?, left);
        }
        let input = cs.alloc_input(|| "output", || assigned(output))?;
        cs.enforce(
            || "output is the last round's",
            |lc| lc + left.variable,
            |lc| lc + CS::one(),
            |lc| lc + input,
        );
        Ok(())
    }
}
