//! Random circuits that repeat blocks inside blocks.

use bellpepper_core::boolean::AllocatedBit;
use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use ff::Field;
use proptest::prelude::*;

use crate::Fr;
use crate::compiled::CompiledCircuit;
use crate::compiled::stack::CutRule;

/// What a block does, one after the other.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A private variable with a value of its own.
    Aux(u8),
    /// A private bit with its row.
    Bit(bool),
    /// A public variable.
    Input(u8),
    /// A row of three sums.
    Row([Vec<Term>; 3]),
    /// A namespace, as often as the number says.
    Block(Vec<Self>, u8),
}

/// A coefficient and a variable, counted back from the last one, so that blocks can be equal; ONE is far back.
pub(crate) type Term = (i8, u8);

/// A circuit that takes steps.
#[derive(Clone, Debug)]
pub(crate) struct Nested(pub(crate) Vec<Step>);

impl Nested {
    fn run<CS: ConstraintSystem<Fr>>(
        steps: &[Step],
        variables: &mut Vec<Variable>,
        cs: &mut CS,
    ) -> Result<(), SynthesisError> {
        for step in steps {
            match step {
                Step::Aux(value) => {
                    let value = Fr::from(u64::from(*value)).square() - Fr::ONE;
                    variables.push(cs.alloc(|| "aux", || Ok(value))?);
                }
                Step::Bit(value) => {
                    let bit = AllocatedBit::alloc(cs.namespace(|| "bit"), Some(*value))?;
                    variables.push(bit.get_variable());
                }
                Step::Input(value) => {
                    let value = Fr::from(u64::from(*value));
                    variables.push(cs.alloc_input(|| "input", || Ok(value))?);
                }
                Step::Row(sides) => {
                    let sum = |terms: &Vec<Term>| {
                        terms
                            .iter()
                            .fold(LinearCombination::zero(), |sum, &(coefficient, back)| {
                                let index = variables.len().saturating_sub(1 + back as usize);
                                sum + (small(coefficient), variables[index])
                            })
                    };
                    let [a, b, c] = sides.each_ref().map(sum);
                    cs.enforce(|| "row", |_| a, |_| b, |_| c);
                }
                Step::Block(steps, count) => {
                    for _ in 0..*count {
                        Self::run(steps, variables, &mut cs.namespace(|| "block"))?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn small(value: i8) -> Fr {
    let magnitude = Fr::from(u64::from(value.unsigned_abs()));
    if value < 0 { -magnitude } else { magnitude }
}

impl Circuit<Fr> for Nested {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        Self::run(&self.0, &mut vec![CS::one()], cs)
    }
}

pub(crate) fn nested() -> impl Strategy<Value = Nested> {
    let back = prop_oneof![4 => 0_u8..6, 1 => 0_u8..40];
    let coefficient = prop_oneof![4 => -1_i8..2, 1 => any::<i8>()];
    let terms = proptest::collection::vec((coefficient, back), 0..5);
    let leaf = prop_oneof![
        2 => any::<u8>().prop_map(Step::Aux),
        2 => any::<bool>().prop_map(Step::Bit),
        1 => any::<u8>().prop_map(Step::Input),
        6 => proptest::array::uniform3(terms).prop_map(Step::Row),
    ];
    let step = leaf.prop_recursive(4, 48, 6, |step| {
        (proptest::collection::vec(step, 0..6), 0_u8..5)
            .prop_map(|(steps, count)| Step::Block(steps, count))
    });
    proptest::collection::vec(step, 0..8).prop_map(Nested)
}

/// Rules that cut everywhere, by size, by surroundings, and as real circuits are cut.
pub(crate) fn rules() -> impl Strategy<Value = CutRule> {
    let rule = |min_rows, externals_per_1024_rows| CutRule {
        min_rows,
        externals_per_1024_rows,
    };
    prop_oneof![
        Just(rule(0, 1 << 20)),
        Just(rule(2, 1 << 20)),
        Just(rule(1, 2048)),
        Just(CutRule::default()),
    ]
}

pub(crate) fn compiled(rule: CutRule, circuit: &Nested) -> CompiledCircuit {
    CompiledCircuit::compile_by(rule, circuit.clone(), &|_| ()).expect("no value is asked for")
}
