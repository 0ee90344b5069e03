//! Every point of a key is a generator times a scalar that follows from the circuit and the exponents.
//!
//! With u, v, w the polynomials of a variable in A, B, C (Groth 2016, section 3.2): a holds u(τ), b holds v(τ), ic and
//! l hold (β·u(τ) + α·v(τ) + w(τ)) over γ and δ, h holds τ^i·(τ^n − 1)/δ. As in bellperson, each input has one more
//! row that holds it in A alone, h stops at n − 2, and a and b leave out variables whose polynomial is zero.

use std::fmt;

use blstrs::{G1Affine, G2Affine, Scalar};
use cuzk_r1cs::CompiledCircuit;
use ff::{Field, PrimeField};
use group::Curve;
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

use super::domain::{lagrange_at, vanishing_at};
use super::polynomials::{Values, polynomials_at};
use super::{SetupError, SetupProgress, SetupStep, ToxicWaste};
use crate::key::{QueryCounts, Section};
use crate::verifying_key::VerifyingKey;

/// Parts of the evaluation that progress counts: Lagrange's basis, the polynomials, the combination.
const NUM_PARTS: u64 = 3;

/// The scalars behind the points of a key; as secret as the exponents that they come from.
pub struct KeyScalars {
    counts: QueryCounts,
    num_inputs: usize,
    /// u(τ), v(τ), and the scalar of ic or l, of all variables, inputs first.
    values: Vec<Values>,
    /// Variables whose points a holds.
    a_variables: Vec<u32>,
    /// Variables whose points b holds.
    b_variables: Vec<u32>,
    tau: Scalar,
    /// (τ^n − 1)/δ.
    h_factor: Scalar,
    verifying_key: VerifyingKey,
}

impl fmt::Debug for KeyScalars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyScalars")
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl KeyScalars {
    /// Evaluates the circuit's polynomials at τ on the current rayon pool.
    ///
    /// Memory: about 100 bytes for each variable and, until the end, 32 for each row.
    ///
    /// # Errors
    /// [`SetupError::TooManyRows`], [`SetupError::TooManyPoints`], [`SetupError::Waste`] if τ lies in the domain,
    /// [`SetupError::UnconstrainedVariable`], [`SetupError::VanishesAtTau`].
    pub fn evaluate(
        circuit: &CompiledCircuit,
        waste: &ToxicWaste,
        progress: &(dyn Fn(SetupProgress) + Sync),
    ) -> Result<Self, SetupError> {
        let (shape, densities) = (circuit.shape(), circuit.densities());
        let counts = QueryCounts::of_circuit(&shape, densities);
        check_sizes(circuit, &counts)?;
        let log_domain = shape.log_domain();
        waste.check_domain(log_domain)?;

        let part_done = |done| {
            progress(SetupProgress {
                step: SetupStep::Polynomials,
                done,
                total: NUM_PARTS,
            });
        };
        let basis = lagrange_at(waste.tau, log_domain, shape.num_rows());
        part_done(1);
        let mut values = polynomials_at(circuit, &basis);
        drop(basis);
        part_done(2);
        let inputs = shape.num_inputs;
        combine(waste, inputs, &mut values);
        let scalars = Self {
            counts,
            num_inputs: inputs,
            verifying_key: verifying_key(waste, &values[..inputs]),
            values,
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
        part_done(3);
        Ok(scalars)
    }

    /// Lengths of the key's vectors.
    pub const fn counts(&self) -> QueryCounts {
        self.counts
    }

    /// The points of the header, and ic.
    pub const fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying_key
    }

    /// The first scalar of h, and the factor from each to the next.
    pub const fn h_progression(&self) -> [Scalar; 2] {
        [self.h_factor, self.tau]
    }

    /// Writes the scalars of a vector from position `first` on, as many as `out` takes. Single points have none.
    ///
    /// # Panics
    /// When the vector ends before `out` does.
    pub fn write(&self, section: Section, first: usize, out: &mut [Scalar]) {
        let range = first..first + out.len();
        match section {
            Section::Ic => each(out, &self.values[range], |values| values[2]),
            Section::L => {
                let range = range.start + self.num_inputs..range.end + self.num_inputs;
                each(out, &self.values[range], |values| values[2]);
            }
            Section::H => {
                let mut power = self.h_factor * self.tau.pow_vartime([first as u64]);
                for scalar in out {
                    *scalar = power;
                    power *= self.tau;
                }
            }
            Section::A => self.select(0, &self.a_variables[range], out),
            Section::BG1 | Section::BG2 => self.select(1, &self.b_variables[range], out),
            // The single points of the header are no vectors.
            _ => {}
        }
    }

    fn select(&self, side: usize, variables: &[u32], out: &mut [Scalar]) {
        each(out, variables, |variable| {
            self.values[*variable as usize][side]
        });
    }

    /// No vector of a key may hold infinity: provers count on a point for every variable that they find in a row.
    fn check_no_infinity(&self) -> Result<(), SetupError> {
        let (ic, l) = self.values.split_at(self.num_inputs);
        let is_zero = |values: &Values| values[2] == Scalar::ZERO;
        if let Some(variable) = l.par_iter().position_first(is_zero) {
            return Err(SetupError::UnconstrainedVariable { variable });
        }
        if let Some(index) = ic.iter().position(is_zero) {
            let section = Section::Ic;
            return Err(SetupError::VanishesAtTau { section, index });
        }
        for (section, side, variables) in [
            (Section::A, 0, &self.a_variables),
            (Section::BG1, 1, &self.b_variables),
        ] {
            let zero = |variable: &u32| self.values[*variable as usize][side] == Scalar::ZERO;
            if let Some(index) = variables.par_iter().position_first(zero) {
                return Err(SetupError::VanishesAtTau { section, index });
            }
        }
        Ok(())
    }
}

fn each<T>(out: &mut [Scalar], from: &[T], scalar: impl Fn(&T) -> Scalar) {
    for (out, from) in out.iter_mut().zip(from) {
        *out = scalar(from);
    }
}

fn check_sizes(circuit: &CompiledCircuit, counts: &QueryCounts) -> Result<(), SetupError> {
    let shape = circuit.shape();
    let (rows, max_log_domain) = (shape.num_rows(), Scalar::S);
    if shape.log_domain() > max_log_domain {
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

/// (β·u + α·v + w) over γ for inputs and over δ for the others, in the place of w.
fn combine(waste: &ToxicWaste, num_inputs: usize, values: &mut [Values]) {
    let (inputs, aux) = values.split_at_mut(num_inputs);
    for (values, divisor) in [(inputs, waste.gamma), (aux, waste.delta)] {
        let [one, beta, alpha] =
            [Scalar::ONE, waste.beta, waste.alpha].map(|factor| factor * inverse(divisor));
        values.par_iter_mut().for_each(|[u, v, w]| {
            *w = one * *w + beta * *u + alpha * *v;
        });
    }
}

fn verifying_key(waste: &ToxicWaste, inputs: &[Values]) -> VerifyingKey {
    let g1 = |scalar: Scalar| (G1Affine::generator() * scalar).to_affine();
    let g2 = |scalar: Scalar| (G2Affine::generator() * scalar).to_affine();
    VerifyingKey {
        alpha_g1: g1(waste.alpha),
        beta_g1: g1(waste.beta),
        beta_g2: g2(waste.beta),
        gamma_g2: g2(waste.gamma),
        delta_g1: g1(waste.delta),
        delta_g2: g2(waste.delta),
        ic: inputs.par_iter().map(|values| g1(values[2])).collect(),
    }
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
