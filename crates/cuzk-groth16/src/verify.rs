//! No proof may leave, and none may be believed, before it satisfies the pairing equation.
//!
//! Groth 2016, section 3.2: e(A, B) = e(α, β) · e(Σ xᵢ·icᵢ, γ) · e(C, δ), evaluated as a product of Miller loops with
//! one final exponentiation. A batch multiplies the equations with random factors, so that a false one survives with
//! probability 2⁻¹²⁸ at most (Bellare, Garay, Rabin 1998, small exponents test).

use blstrs::{Bls12, G1Affine, G1Projective, G2Prepared, MillerLoopResult, Scalar};
use ff::Field;
use group::{Curve, Group};
use pairing::{MillerLoopResult as _, MultiMillerLoop};
use rand_core::{OsRng, RngCore};
use rayon::prelude::*;
use thiserror::Error;

use crate::proof::Proof;
use crate::verifying_key::PreparedVerifyingKey;

/// Bits of the group order.
const SCALAR_BITS: usize = 255;

/// Why a proof, or a batch of proofs, is not accepted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The statement does not belong to the key's circuit.
    #[error("proof {proof}: {found} public inputs, expected {expected}")]
    NumInputs {
        /// Position of the proof, 0 for a single one.
        proof: usize,
        /// Public inputs of the circuit, ONE not counted.
        expected: usize,
        /// Public inputs given.
        found: usize,
    },
    /// The pairing equation does not hold.
    #[error("{}", verdict(failing, *count))]
    Invalid {
        /// Positions of the proofs that fail, ascending.
        failing: Vec<usize>,
        /// Proofs given.
        count: usize,
    },
    /// An empty batch proves nothing, so asking for it is a mistake.
    #[error("no proof to verify")]
    NoProofs,
    /// The operating system has no randomness for the batch's factors.
    #[error("no randomness from the operating system: {0}")]
    Randomness(rand_core::Error),
}

fn verdict(failing: &[usize], count: usize) -> String {
    match (failing, count) {
        (_, 1) => "the proof does not verify".to_owned(),
        ([one], _) => format!("proof {one} of {count} does not verify (counted from 0)"),
        _ => format!(
            "{} of {count} proofs do not verify: {failing:?} (counted from 0)",
            failing.len()
        ),
    }
}

/// Verifies one proof; `public_inputs` are given without ONE.
///
/// # Errors
/// [`VerifyError::NumInputs`] or [`VerifyError::Invalid`].
pub fn verify(
    key: &PreparedVerifyingKey,
    public_inputs: &[Scalar],
    proof: &Proof,
) -> Result<(), VerifyError> {
    check_num_inputs(key, 0, public_inputs)?;
    if equation_holds(key, public_inputs, proof) {
        return Ok(());
    }
    Err(VerifyError::Invalid {
        failing: vec![0],
        count: 1,
    })
}

/// Verifies proofs of one circuit together, each with its public inputs (without ONE), on the current rayon pool.
///
/// If the batch fails, each proof is verified alone to name those that fail.
///
/// # Errors
/// [`VerifyError`]; [`VerifyError::Invalid`] lists the positions of the bad proofs.
pub fn verify_batch<I>(
    key: &PreparedVerifyingKey,
    statements: &[(I, Proof)],
) -> Result<(), VerifyError>
where
    I: AsRef<[Scalar]> + Sync,
{
    for (index, (inputs, _)) in statements.iter().enumerate() {
        check_num_inputs(key, index, inputs.as_ref())?;
    }
    match statements {
        [] => Err(VerifyError::NoProofs),
        [(inputs, proof)] => verify(key, inputs.as_ref(), proof),
        _ => {
            let factors = random_factors(statements.len())?;
            if batch_holds(key, statements, &factors) {
                return Ok(());
            }
            name_failing(key, statements)
        }
    }
}

fn check_num_inputs(
    key: &PreparedVerifyingKey,
    proof: usize,
    inputs: &[Scalar],
) -> Result<(), VerifyError> {
    let expected = key.num_public_inputs();
    if inputs.len() == expected {
        return Ok(());
    }
    Err(VerifyError::NumInputs {
        proof,
        expected,
        found: inputs.len(),
    })
}

fn equation_holds(key: &PreparedVerifyingKey, inputs: &[Scalar], proof: &Proof) -> bool {
    let inputs_point = weighted_inputs(&key.ic, &Scalar::ONE, inputs);
    let b = G2Prepared::from(proof.b);
    let product = Bls12::multi_miller_loop(&[
        (&proof.a, &b),
        (&inputs_point.to_affine(), &key.neg_gamma),
        (&proof.c, &key.neg_delta),
    ]);
    product.final_exponentiation() == key.alpha_beta
}

/// Π e(zⱼ·Aⱼ, Bⱼ) · e(Σ zⱼ·inputsⱼ, −γ) · e(Σ zⱼ·Cⱼ, −δ) = e(α, β)^Σzⱼ.
fn batch_holds<I>(key: &PreparedVerifyingKey, statements: &[(I, Proof)], factors: &[Scalar]) -> bool
where
    I: AsRef<[Scalar]> + Sync,
{
    let sum: Scalar = factors.iter().sum();
    let mut inputs = vec![Scalar::ZERO; key.num_public_inputs()];
    for ((own, _), factor) in statements.iter().zip(factors) {
        for (total, input) in inputs.iter_mut().zip(own.as_ref()) {
            *total += factor * input;
        }
    }
    let inputs_point = weighted_inputs(&key.ic, &sum, &inputs);
    let c: G1Projective = statements
        .par_iter()
        .zip(factors)
        .map(|((_, proof), factor)| proof.c * factor)
        .sum();
    let mut product = statements
        .par_iter()
        .zip(factors)
        .map(|((_, proof), factor)| {
            let a = (proof.a * factor).to_affine();
            Bls12::multi_miller_loop(&[(&a, &G2Prepared::from(proof.b))])
        })
        .reduce(MillerLoopResult::default, |left, right| left + right);
    product += Bls12::multi_miller_loop(&[
        (&inputs_point.to_affine(), &key.neg_gamma),
        (&c.to_affine(), &key.neg_delta),
    ]);
    product.final_exponentiation() == key.alpha_beta * sum
}

fn name_failing<I>(key: &PreparedVerifyingKey, statements: &[(I, Proof)]) -> Result<(), VerifyError>
where
    I: AsRef<[Scalar]> + Sync,
{
    let failing: Vec<usize> = statements
        .par_iter()
        .enumerate()
        .filter(|(_, (inputs, proof))| !equation_holds(key, inputs.as_ref(), proof))
        .map(|(index, _)| index)
        .collect();
    if failing.is_empty() {
        return Ok(());
    }
    Err(VerifyError::Invalid {
        failing,
        count: statements.len(),
    })
}

/// `one`·ic₀ + Σ inputsᵢ·icᵢ₊₁.
fn weighted_inputs(ic: &[G1Affine], one: &Scalar, inputs: &[Scalar]) -> G1Projective {
    match ic.split_first() {
        Some((first, rest)) => first * one + sum_of_multiples(rest, inputs),
        None => G1Projective::identity(),
    }
}

/// Σ scalarᵢ·pointᵢ by Pippenger's method on the current rayon pool, each window a task.
///
/// Small next to the prover's multiplications: as many points as a circuit has public inputs.
fn sum_of_multiples(points: &[G1Affine], scalars: &[Scalar]) -> G1Projective {
    let window_bits = window_bits_for(points.len());
    let digits: Vec<[u8; 32]> = scalars.iter().map(Scalar::to_bytes_le).collect();
    let windows: Vec<G1Projective> = (0..SCALAR_BITS.div_ceil(window_bits))
        .into_par_iter()
        .map(|window| sum_of_window(points, &digits, window * window_bits, window_bits))
        .collect();
    windows
        .iter()
        .rev()
        .fold(G1Projective::identity(), |sum, window| {
            (0..window_bits).fold(sum, |sum, _| sum.double()) + window
        })
}

/// About the logarithm of the number of points, so that filling buckets and adding them up cost the same.
const fn window_bits_for(num_points: usize) -> usize {
    let bits = num_points.next_power_of_two().trailing_zeros() as usize;
    if bits < 4 {
        2
    } else if bits < 16 {
        bits - 2
    } else {
        13
    }
}

fn sum_of_window(
    points: &[G1Affine],
    scalars: &[[u8; 32]],
    first_bit: usize,
    num_bits: usize,
) -> G1Projective {
    let mut buckets = vec![G1Projective::identity(); (1 << num_bits) - 1];
    for (point, scalar) in points.iter().zip(scalars) {
        let digit = bits_of(scalar, first_bit, num_bits);
        if digit != 0 {
            buckets[digit - 1] += point;
        }
    }
    let mut running = G1Projective::identity();
    buckets
        .iter()
        .rev()
        .fold(G1Projective::identity(), |sum, bucket| {
            running += bucket;
            sum + running
        })
}

/// Up to 16 bits of a little-endian number; those beyond its end are zero.
fn bits_of(number: &[u8; 32], first_bit: usize, num_bits: usize) -> usize {
    let byte = |index: usize| usize::from(number.get(index).copied().unwrap_or(0));
    let first = first_bit / 8;
    let three = byte(first) | byte(first + 1) << 8 | byte(first + 2) << 16;
    three >> (first_bit % 8) & ((1 << num_bits) - 1)
}

/// Factors of 128 bits, none zero.
fn random_factors(count: usize) -> Result<Vec<Scalar>, VerifyError> {
    (0..count)
        .map(|_| {
            let mut bytes = [0; 16];
            loop {
                OsRng
                    .try_fill_bytes(&mut bytes)
                    .map_err(VerifyError::Randomness)?;
                let value = u128::from_le_bytes(bytes);
                if value != 0 {
                    return Ok(scalar_of(value));
                }
            }
        })
        .collect()
}

fn scalar_of(value: u128) -> Scalar {
    let high = Scalar::from((value >> 64) as u64);
    let two_to_64 = Scalar::from(u64::MAX) + Scalar::ONE;
    high * two_to_64 + Scalar::from(value as u64)
}

#[cfg(test)]
mod tests;
