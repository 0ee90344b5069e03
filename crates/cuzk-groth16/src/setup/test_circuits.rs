//! Small circuits with every shape that a key depends on: unused inputs, zero coefficients, one-sided variables.

use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A satisfied circuit of random linear combinations, the same for the same seed.
#[derive(Clone, Debug)]
pub(crate) struct RandomCircuit {
    pub(crate) seed: u64,
    pub(crate) num_public: usize,
    pub(crate) num_products: usize,
}

impl RandomCircuit {
    /// The public inputs, without ONE.
    pub(crate) fn public_inputs(&self) -> Vec<Scalar> {
        let mut rng = self.rng();
        (0..self.num_public)
            .map(|_| Scalar::random(&mut rng))
            .collect()
    }

    fn rng(&self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.seed)
    }
}

/// A coefficient of one of the kinds that occur: ±1, powers of two, small, full, and explicit zero.
fn coefficient(rng: &mut ChaCha8Rng) -> Scalar {
    match rng.next_u32() % 8 {
        0 | 1 => Scalar::ONE,
        2 => -Scalar::ONE,
        3 => Scalar::from(1 << (rng.next_u32() % 60)),
        4 => Scalar::from(u64::from(rng.next_u32() % 200)),
        5 => Scalar::ZERO,
        _ => Scalar::random(rng),
    }
}

impl Circuit<Scalar> for RandomCircuit {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut rng = self.rng();
        let mut variables = vec![(Variable::new_unchecked(Index::Input(0)), Scalar::ONE)];
        for index in 0..self.num_public {
            let value = Scalar::random(&mut rng);
            let input = cs.alloc_input(|| format!("input {index}"), || Ok(value))?;
            variables.push((input, value));
        }
        for index in 0..self.num_products {
            let mut combination = || {
                let terms = 1 + rng.next_u32() % 4;
                let mut sum = Scalar::ZERO;
                let mut combination = LinearCombination::zero();
                for _ in 0..terms {
                    let (variable, value) = variables[rng.next_u32() as usize % variables.len()];
                    let coefficient = coefficient(&mut rng);
                    sum += coefficient * value;
                    combination = combination + (coefficient, variable);
                }
                (combination, sum)
            };
            let (a, a_value) = combination();
            let (b, b_value) = combination();
            let product = a_value * b_value;
            let variable = cs.alloc(|| format!("product {index}"), || Ok(product))?;
            cs.enforce(
                || format!("row {index}"),
                |_| a,
                |_| b,
                |zero| zero + variable,
            );
            variables.push((variable, product));
        }
        Ok(())
    }
}

/// No variable but ONE and no constraint: the smallest circuit, with a domain of one row.
#[derive(Clone, Debug)]
pub(crate) struct Empty;

impl Circuit<Scalar> for Empty {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, _: &mut CS) -> Result<(), SynthesisError> {
        Ok(())
    }
}

/// One variable that no constraint mentions, after one that a constraint does.
#[derive(Clone, Debug)]
pub(crate) struct Unconstrained;

impl Circuit<Scalar> for Unconstrained {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let used = cs.alloc(|| "used", || Ok(Scalar::ONE))?;
        cs.alloc(|| "free", || Ok(Scalar::ONE))?;
        cs.enforce(
            || "row",
            |zero| zero + used,
            |zero| zero + CS::one(),
            |zero| zero + used,
        );
        Ok(())
    }
}

/// A variable that occurs in A with coefficient zero only, so A's query must leave it out.
#[derive(Clone, Debug)]
pub(crate) struct ZeroCoefficient;

impl Circuit<Scalar> for ZeroCoefficient {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = cs.alloc(|| "x", || Ok(Scalar::from(3)))?;
        let y = cs.alloc(|| "y", || Ok(Scalar::from(9)))?;
        cs.enforce(
            || "square",
            |zero| zero + x + (Scalar::ZERO, y),
            |zero| zero + x,
            |zero| zero + y,
        );
        Ok(())
    }
}

/// Values are missing, as they are when a key is made: closures return an error when they are called.
#[derive(Clone, Debug)]
pub(crate) struct Blank;

impl Circuit<Scalar> for Blank {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let missing = || Err(SynthesisError::AssignmentMissing);
        let x = cs.alloc_input(|| "x", missing)?;
        let y = cs.alloc(|| "y", missing)?;
        cs.enforce(
            || "cube",
            |zero| zero + x,
            |zero| zero + x + y,
            |zero| zero + y,
        );
        Ok(())
    }
}
