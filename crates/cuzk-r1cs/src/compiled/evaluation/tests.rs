//! Evaluations by templates against evaluations by rows.

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::compiled::tests::nested::{Nested, Step, compiled, nested, rules};
use crate::{RecordedCircuit, Witness, synthesize_witness};

/// A witness of any values that its circuit's kinds allow, and its packed form: where a row that does not hold forces a bit,
/// the bit tells whether the value was zero.
fn packed(circuit: &CompiledCircuit, mut witness: Witness) -> (Witness, PackedWitness) {
    for (index, value) in witness.aux.iter_mut().enumerate() {
        if !circuit.kinds().is_wide(index) && *value != Fr::ZERO {
            *value = Fr::ONE;
        }
    }
    let packed =
        PackedWitness::pack(circuit.kinds(), &witness).expect("bits where rows force bits");
    (witness, packed)
}

/// Bits, and rows that take them as numbers in both directions, side by side and at a distance of two.
fn numbers(bits: &[bool]) -> Nested {
    let mut steps: Vec<Step> = bits.iter().map(|&bit| Step::Bit(bit)).collect();
    let sum = |first: u8, stride: u8, reversed: bool, factor: i8| {
        let terms = (0..7).map(|place: u8| {
            let power = if reversed { 6 - place } else { place };
            (factor * (1 << power), first + stride * place)
        });
        terms.collect::<Vec<_>>()
    };
    for first in [0, 3, 30] {
        steps.push(Step::Row([
            sum(first, 1, false, 1),
            sum(first, 1, true, -1),
            [sum(first, 2, false, 1), sum(first + 1, 2, true, 1)].concat(),
        ]));
        steps.push(Step::Row([
            sum(first, 3, true, 1),
            vec![(1, first), (-3, first + 1), (2, 255)],
            vec![],
        ]));
    }
    Nested(vec![Step::Block(steps, 3)])
}

fn assert_equal(circuit: &CompiledCircuit, source: &Nested) {
    let values = synthesize_witness(source.clone()).expect("all values are there");
    let (witness, packed) = packed(circuit, values);
    let recorded = RecordedCircuit::record(source.clone()).expect("no value is asked for");
    let expected = recorded.evaluate(&witness);
    let evaluator = TemplateEvaluator::new(circuit);
    let evaluations = evaluator
        .evaluate(&packed)
        .expect("a witness of the circuit");
    assert_eq!(evaluations, expected);
    assert_eq!(circuit.evaluate_row_by_row(&witness), expected);
    // Vectors of any earlier content and length.
    for old in [Evaluations::default(), evaluations.clone()] {
        let mut old = Evaluations {
            a: old.a.iter().map(|value| value + Fr::ONE).collect(),
            b: vec![Fr::ONE; 7],
            ..old
        };
        evaluator
            .evaluate_into(&packed, &mut old)
            .expect("a witness of the circuit");
        assert_eq!(old, expected);
    }
}

#[test]
fn a_witness_of_another_circuit_is_refused() {
    let circuits = [
        Nested(vec![Step::Aux(1), Step::Bit(true)]),
        Nested(vec![Step::Bit(true), Step::Aux(1)]),
        Nested(vec![Step::Aux(1), Step::Bit(true), Step::Input(3)]),
    ];
    let [first, second, third] = circuits.map(|source| {
        let circuit = compiled(crate::compiled::stack::CutRule::default(), &source);
        let witness = synthesize_witness(source).expect("all values are there");
        (
            packed(&circuit, witness).1,
            TemplateEvaluator::new(&circuit),
        )
    });
    assert!(first.1.evaluate(&first.0).is_ok());
    assert_eq!(
        first.1.evaluate(&second.0),
        Err(EvaluateError::OtherKinds {
            expected: 2,
            expected_wide: 1,
            found: 2,
            found_wide: 1
        })
    );
    assert_eq!(
        first.1.evaluate(&third.0),
        Err(EvaluateError::NumInputs {
            expected: 1,
            found: 2
        })
    );
}

proptest! {
    #[test]
    fn templates_evaluate_to_what_rows_do(circuit in nested(), rule in rules()) {
        assert_equal(&compiled(rule, &circuit), &circuit);
    }

    #[test]
    fn blocks_are_the_rows_of_an_evaluation(circuit in nested(), rule in rules(), num_rows in 0_usize..60) {
        let compiled = compiled(rule, &circuit);
        let witness = synthesize_witness(circuit).expect("all values are there");
        let (_, packed) = packed(&compiled, witness);
        let evaluator = TemplateEvaluator::new(&compiled);
        let whole = evaluator.evaluate(&packed).expect("a witness of the circuit");
        let seen = Mutex::new(0);
        evaluator.evaluate_blocks(&packed, num_rows, &|first, values| {
            let expected = [&whole.a, &whole.b, &whole.c].map(|all| &all[first..first + values[0].len()]);
            assert_eq!(values, expected);
            *seen.lock().expect("no block panicked") += values[0].len();
        }).expect("a witness of the circuit");
        let seen = seen.into_inner().expect("no block panicked");
        prop_assert!(seen >= num_rows.min(compiled.shape().num_constraints));
    }

    #[test]
    fn the_digest_of_templates_is_that_of_rows_as_they_are_built(
        circuit in nested(), rule in rules(), point in any::<u64>(),
    ) {
        let compiled = compiled(rule, &circuit);
        let witness = synthesize_witness(circuit.clone()).expect("all values are there");
        let (changed, packed) = packed(&compiled, witness.clone());
        let point = Fr::from(point);
        let rows = packed.synthesized_rows(circuit, point).expect("all values are there");
        prop_assert_eq!(rows.difference.is_none(), changed == witness);
        prop_assert_eq!(rows.num_rows, compiled.shape().num_constraints);
        let evaluator = TemplateEvaluator::new(&compiled);
        let digest = evaluator.row_digest(&packed, point).expect("a witness of the circuit");
        prop_assert_eq!(digest, rows.digest);
        let all = compiled.evaluate_row_by_row(&changed);
        let polynomial = |values: &[Fr]| {
            let rows = values[..rows.num_rows].iter().rev();
            rows.fold(Fr::ZERO, |sum, value| sum * point + value)
        };
        prop_assert_eq!(digest.0, [&all.a, &all.b, &all.c].map(|values| polynomial(values)));
    }

    #[test]
    fn bits_are_read_as_numbers(bits in proptest::collection::vec(any::<bool>(), 60..90), rule in rules()) {
        let circuit = numbers(&bits);
        assert_equal(&compiled(rule, &circuit), &circuit);
    }
}
