//! Filecoin's smallest circuit has twenty thousand constraints; a failing test wants one that fits on a page.
//!
//! Each circuit here is one idea with a shape known by formula. Together they cover what the arithmetic treats apart:
//! bits, repeated values, minus one, variables that occur in one matrix only, no aux variables, no constraints at all.

mod booleans;
mod chain;
mod inputs_only;
mod mimc;
mod one_sided;
mod repeated;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use cuzk_r1cs::Fr;
use ff::Field;

pub use booleans::Booleans;
pub use chain::MultiplicationChain;
pub use inputs_only::InputsOnly;
pub use mimc::Mimc;
pub use one_sided::OneSided;
pub use repeated::Repeated;

/// The counts of a circuit, as its own formula gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedShape {
    /// Public inputs, the constant ONE included.
    pub num_inputs: usize,
    /// Private variables.
    pub num_aux: usize,
    /// Constraints, without the rows that Groth16 adds for inputs.
    pub num_constraints: usize,
}

/// One of the small circuits with its values, or without them.
#[derive(Clone, Debug)]
pub enum SmallCircuit {
    /// A product of many factors.
    Chain(MultiplicationChain),
    /// A number and its bits.
    Booleans(Booleans),
    /// A keyed permutation of full-size values.
    Mimc(Mimc),
    /// Inputs and nothing else.
    InputsOnly(InputsOnly),
    /// Variables that occur in one matrix only.
    OneSided(OneSided),
    /// One value in every variable.
    Repeated(Repeated),
}

impl SmallCircuit {
    /// Every circuit worth running a device on, satisfied, with a name for messages. Edge cases come first.
    pub fn all() -> Vec<(&'static str, Self)> {
        let bits =
            |length: usize, is_one: fn(usize) -> bool| Booleans::new((0..length).map(is_one));
        vec![
            (
                "no constraints",
                Self::InputsOnly(InputsOnly::unconstrained()),
            ),
            (
                "inputs only",
                Self::InputsOnly(InputsOnly::product(Fr::from(3), Fr::from(5))),
            ),
            ("one bit", Self::Booleans(bits(1, |_| true))),
            ("all bits zero", Self::Booleans(bits(61, |_| false))),
            ("all bits one", Self::Booleans(bits(253, |_| true))),
            (
                "mixed bits",
                Self::Booleans(bits(200, |index| index % 3 == 0)),
            ),
            (
                "one factor",
                Self::Chain(MultiplicationChain::new([Fr::from(7)])),
            ),
            (
                "a zero factor",
                Self::Chain(MultiplicationChain::new([Fr::from(7), Fr::ZERO])),
            ),
            (
                "small factors",
                Self::Chain(MultiplicationChain::new((1..100).map(Fr::from))),
            ),
            (
                "variables in one matrix only",
                Self::OneSided(OneSided::new(37, Fr::from(11))),
            ),
            (
                "every value minus one",
                Self::Repeated(Repeated::new(70, -Fr::ONE)),
            ),
            (
                "every value two",
                Self::Repeated(Repeated::new(70, Fr::from(2))),
            ),
            (
                "every value full-size",
                Self::Repeated(Repeated::new(70, full_size(1))),
            ),
            (
                "mimc",
                Self::Mimc(Mimc::new(110, full_size(2), full_size(3))),
            ),
            // A constraint per factor, one for the output, and two rows for inputs: 2^10 rows, and one more.
            (
                "a full domain",
                Self::Chain(MultiplicationChain::new((1..=1021).map(full_size))),
            ),
            (
                "a row beyond",
                Self::Chain(MultiplicationChain::new((1..=1022).map(full_size))),
            ),
        ]
    }

    /// The same circuit without values, for recording and key generation.
    #[must_use]
    pub fn blank(&self) -> Self {
        match self {
            Self::Chain(circuit) => Self::Chain(circuit.blank()),
            Self::Booleans(circuit) => Self::Booleans(circuit.blank()),
            Self::Mimc(circuit) => Self::Mimc(circuit.blank()),
            Self::InputsOnly(circuit) => Self::InputsOnly(circuit.blank()),
            Self::OneSided(circuit) => Self::OneSided(circuit.blank()),
            Self::Repeated(circuit) => Self::Repeated(circuit.blank()),
        }
    }

    /// The public inputs without ONE; empty for a blank circuit.
    pub fn public_inputs(&self) -> Vec<Fr> {
        match self {
            Self::Chain(circuit) => circuit.public_inputs(),
            Self::Booleans(circuit) => circuit.public_inputs(),
            Self::Mimc(circuit) => circuit.public_inputs(),
            Self::InputsOnly(circuit) => circuit.public_inputs(),
            Self::OneSided(circuit) => circuit.public_inputs(),
            Self::Repeated(circuit) => circuit.public_inputs(),
        }
    }

    /// What a recording of the circuit must count.
    pub fn expected_shape(&self) -> ExpectedShape {
        match self {
            Self::Chain(circuit) => circuit.expected_shape(),
            Self::Booleans(circuit) => circuit.expected_shape(),
            Self::Mimc(circuit) => circuit.expected_shape(),
            Self::InputsOnly(circuit) => circuit.expected_shape(),
            Self::OneSided(circuit) => circuit.expected_shape(),
            Self::Repeated(circuit) => circuit.expected_shape(),
        }
    }
}

impl Circuit<Fr> for SmallCircuit {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        match self {
            Self::Chain(circuit) => circuit.synthesize(cs),
            Self::Booleans(circuit) => circuit.synthesize(cs),
            Self::Mimc(circuit) => circuit.synthesize(cs),
            Self::InputsOnly(circuit) => circuit.synthesize(cs),
            Self::OneSided(circuit) => circuit.synthesize(cs),
            Self::Repeated(circuit) => circuit.synthesize(cs),
        }
    }
}

/// A scalar with no short form, the same on every run.
pub fn full_size(seed: u64) -> Fr {
    // Eight squarings carry an odd 64-bit number well beyond the modulus.
    let mut value = Fr::from(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..8 {
        value = value.square() + Fr::from(7);
    }
    value
}

/// A value that is there, or the error that a blank circuit gives for it.
fn assigned<T: Copy>(value: Option<T>) -> Result<T, SynthesisError> {
    value.ok_or(SynthesisError::AssignmentMissing)
}

#[cfg(test)]
mod tests {
    use cuzk_r1cs::{RecordedCircuit, Shape, check_satisfied, synthesize_witness};

    use super::*;

    #[test]
    fn every_circuit_is_satisfied_by_its_own_values() {
        for (name, circuit) in SmallCircuit::all() {
            if let Err(error) = check_satisfied(circuit, &|_| ()) {
                panic!("{name}: {error}");
            }
        }
    }

    #[test]
    fn every_shape_is_known_by_formula() {
        for (name, circuit) in SmallCircuit::all() {
            let recorded =
                RecordedCircuit::record(circuit.blank()).expect("it records without values");
            let expected = circuit.expected_shape();
            let Shape {
                num_inputs,
                num_aux,
                num_constraints,
            } = recorded.shape;
            let found = ExpectedShape {
                num_inputs,
                num_aux,
                num_constraints,
            };
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn public_inputs_are_those_of_the_witness() {
        for (name, circuit) in SmallCircuit::all() {
            let expected = circuit.public_inputs();
            let witness = synthesize_witness(circuit).expect("it has values");
            assert_eq!(witness.inputs[0], Fr::ONE, "{name}");
            assert_eq!(witness.inputs[1..], expected, "{name}");
        }
    }

    #[test]
    fn a_blank_circuit_has_no_witness() {
        for (name, circuit) in SmallCircuit::all() {
            synthesize_witness(circuit.blank()).expect_err(name);
        }
    }
}
