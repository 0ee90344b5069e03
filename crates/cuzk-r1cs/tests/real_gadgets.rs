//! The constraint systems against real gadgets, with bellperson's own as the oracle.

use bellpepper::gadgets::sha256::sha256;
use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use bellperson::util_cs::witness_cs::WitnessCS;
use cuzk_r1cs::{
    DirectEvaluation, Evaluations, Fr, RecordedCircuit, SatisfactionError, Shape, check_satisfied,
    evaluate, evaluate_with_hint, summarize, synthesize_witness,
};
use ff::Field;

/// SHA-256 of `bytes`, each message bit private, each digest bit public.
#[derive(Clone)]
struct Sha256 {
    bytes: Vec<u8>,
}

impl Circuit<Fr> for Sha256 {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let bits = (0..self.bytes.len() * 8)
            .map(|bit| {
                let value = self.bytes[bit / 8] >> (7 - bit % 8) & 1 == 1;
                AllocatedBit::alloc(cs.namespace(|| format!("bit {bit}")), Some(value))
                    .map(Boolean::from)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let digest = sha256(cs.namespace(|| "sha256"), &bits)?;
        for (index, bit) in digest.iter().enumerate() {
            let input = cs.alloc_input(
                || format!("digest {index}"),
                || {
                    bit.get_value()
                        .map(|bit| Fr::from(u64::from(bit)))
                        .ok_or(SynthesisError::AssignmentMissing)
                },
            )?;
            cs.enforce(
                || format!("digest bit {index}"),
                |_| bit.lc(CS::one(), Fr::ONE),
                |lc| lc + CS::one(),
                |lc| lc + input,
            );
        }
        Ok(())
    }
}

/// `count` independent parts, each with an input, a square, a row with a zero coefficient and a
/// constant; synthesized in parallel where the constraint system can be extended.
#[derive(Clone)]
struct Parts {
    count: u64,
    group_size: u64,
    square_of_last: Option<u64>,
}

impl Parts {
    fn new(count: u64) -> Self {
        Self {
            count,
            group_size: 3,
            square_of_last: None,
        }
    }

    fn part<CS: ConstraintSystem<Fr>>(&self, cs: &mut CS, part: u64) -> Result<(), SynthesisError> {
        let value = Fr::from(part + 2);
        let square = match self.square_of_last {
            Some(wrong) if part + 1 == self.count => Fr::from(wrong),
            _ => value.square(),
        };
        let root = cs.alloc(|| "root", || Ok(value))?;
        let unused = cs.alloc(|| "unused", || Ok(Fr::from(part)))?;
        let input = cs.alloc_input(|| "square", || Ok(square))?;
        cs.enforce(
            || "squares",
            |lc| lc + root,
            |lc| lc + root,
            |lc| lc + input,
        );
        let coefficient = Fr::from(1000 + part);
        cs.enforce(
            || "scaled",
            |lc| lc + (coefficient, root) + (Fr::ZERO, unused),
            |lc| lc + CS::one() + (Fr::ZERO, unused),
            |lc| lc + (coefficient, root),
        );
        Ok(())
    }
}

impl Circuit<Fr> for Parts {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        if !CS::is_extensible() {
            return (0..self.count).try_for_each(|part| {
                self.part(&mut cs.namespace(|| format!("part {part}")), part)
            });
        }
        let parts: Vec<u64> = (0..self.count).collect();
        for group in parts.chunks(self.group_size as usize) {
            let mut system = CS::new();
            system.alloc_input(|| "temporary one", || Ok(Fr::ONE))?;
            for &part in group {
                self.part(&mut system.namespace(|| "part"), part)?;
            }
            cs.extend(&system);
        }
        Ok(())
    }
}

/// Runs a circuit through a constraint system that hides extensibility.
struct InOrder<C>(C);

impl<C: Circuit<Fr>> Circuit<Fr> for InOrder<C> {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        // A namespace never reports itself as extensible.
        self.0.synthesize(&mut cs.namespace(|| "in order"))
    }
}

fn recorded_equals_direct<C: Circuit<Fr> + Clone>(circuit: &C) -> DirectEvaluation {
    let direct = evaluate(circuit.clone()).expect("the circuit has values");
    let recorded = RecordedCircuit::record(circuit.clone()).expect("the circuit can be recorded");
    assert_eq!(recorded.shape, direct.shape);
    assert_eq!(recorded.densities, direct.densities);
    assert_eq!(recorded.evaluate(&direct.witness), direct.evaluations);
    assert_eq!(
        recorded.first_unsatisfied(&direct.witness),
        direct.evaluations.first_unsatisfied()
    );
    assert_eq!(
        synthesize_witness(circuit.clone()).expect("the circuit has values"),
        direct.witness
    );
    let hinted = evaluate_with_hint(circuit.clone(), direct.shape).expect("the circuit has values");
    assert_eq!(hinted, direct);
    let summary = summarize(circuit.clone(), &|_| ()).expect("the circuit can be summarized");
    assert_eq!(summary.shape, direct.shape);
    assert_eq!(summary.densities, direct.densities);
    assert_eq!(summary.digest, recorded.digest());
    let [a, b, c] =
        [&recorded.a, &recorded.b, &recorded.c].map(|matrix| matrix.num_non_zeros() as u64);
    assert_eq!(
        summary.non_zeros,
        [a + direct.shape.num_inputs as u64, b, c]
    );
    assert_eq!(
        summary.longest_rows,
        [&recorded.a, &recorded.b, &recorded.c].map(|matrix| matrix
            .rows()
            .map(<[_]>::len)
            .max()
            .unwrap_or(0))
    );
    direct
}

#[test]
fn a_sha256_circuit_is_the_same_by_every_road() {
    let direct = recorded_equals_direct(&Sha256 {
        bytes: (0..200).collect(),
    });
    assert_eq!(direct.evaluations.first_unsatisfied(), None);
    assert_eq!(direct.shape.num_inputs, 257);
    assert_eq!(direct.evaluations.a.len(), direct.shape.num_rows());
}

#[test]
fn the_witness_is_bellpersons() {
    let circuit = Sha256 {
        bytes: b"abc".to_vec(),
    };
    let mut oracle = WitnessCS::<Fr>::new();
    circuit
        .clone()
        .synthesize(&mut oracle)
        .expect("the circuit has values");
    let ours = synthesize_witness(circuit).expect("the circuit has values");
    assert_eq!(ours.inputs, oracle.scalar_inputs());
    assert_eq!(ours.aux, oracle.scalar_aux());
}

#[test]
fn parallel_parts_equal_parts_in_order() {
    for count in [1, 2, 3, 7] {
        let parts = Parts::new(count);
        let parallel = recorded_equals_direct(&parts);
        assert_eq!(
            parallel,
            evaluate(InOrder(parts.clone())).expect("the parts have values")
        );
        let recorded = RecordedCircuit::record(parts.clone()).expect("the parts can be recorded");
        let in_order = RecordedCircuit::record(InOrder(parts)).expect("the parts can be recorded");
        assert_eq!(recorded.digest(), in_order.digest());
        assert_eq!(
            (&recorded.a, &recorded.b, &recorded.c),
            (&in_order.a, &in_order.b, &in_order.c)
        );
        assert_eq!(recorded.coefficients, in_order.coefficients);
    }
}

#[test]
fn a_zero_coefficient_is_no_occurrence() {
    let direct = evaluate(Parts::new(2)).expect("the parts have values");
    assert_eq!(
        direct.densities.a_aux.iter_ones().collect::<Vec<_>>(),
        [0, 2]
    );
    assert_eq!(
        direct.densities.b_aux.iter_ones().collect::<Vec<_>>(),
        [0, 2]
    );
    assert_eq!(
        direct.densities.b_input.iter_ones().collect::<Vec<_>>(),
        [0]
    );
}

/// One row `(coefficient * x) * 1 = x`.
struct OneRow(u64, usize);

impl Circuit<Fr> for OneRow {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let variables = [
            cs.alloc(|| "x", || Ok(Fr::ONE))?,
            cs.alloc(|| "y", || Ok(Fr::ONE))?,
        ];
        let term = (Fr::from(self.0), variables[self.1]);
        cs.enforce(
            || "row",
            |lc| lc + term,
            |lc| lc + CS::one(),
            |lc| lc + variables[0],
        );
        Ok(())
    }
}

#[test]
fn other_coefficients_and_other_columns_change_the_digest() {
    let digest = |count| {
        summarize(Parts::new(count), &|_| ())
            .expect("the parts can be summarized")
            .digest
    };
    assert_ne!(digest(2), digest(3));
    let digest = |coefficient, variable| {
        summarize(OneRow(coefficient, variable), &|_| ())
            .expect("one row can be summarized")
            .digest
            .to_string()
    };
    assert_ne!(digest(5, 0), digest(6, 0));
    assert_ne!(digest(5, 0), digest(5, 1));
    assert_eq!(digest(5, 0).len(), 64);
}

#[test]
fn the_first_unsatisfied_row_is_named_with_its_path() {
    let wrong = Parts {
        square_of_last: Some(7),
        ..Parts::new(4)
    };
    let error = check_satisfied(wrong.clone(), &|_| ()).expect_err("7 is not the square of 5");
    let SatisfactionError::Unsatisfied(found) = &error else {
        panic!("{error}")
    };
    assert_eq!((found.row, found.path.as_str()), (6, "part 3/squares"));
    assert_eq!((found.a, found.c), (Fr::from(5), Fr::from(7)));
    assert!(error.to_string().contains("part 3/squares"), "{error}");
    assert_eq!(
        evaluate(wrong)
            .expect("the parts have values")
            .evaluations
            .first_unsatisfied(),
        Some(6)
    );
    assert_eq!(
        check_satisfied(Parts::new(4), &|_| ()).expect("all squares are right"),
        8
    );
}

#[test]
fn a_blank_circuit_can_be_recorded_but_not_evaluated() {
    /// A square without values.
    #[derive(Clone)]
    struct Blank;
    impl Circuit<Fr> for Blank {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let root: Variable = cs.alloc(|| "root", || Err(SynthesisError::AssignmentMissing))?;
            cs.enforce(
                || "square",
                |lc| lc + root,
                |lc| lc + root,
                |_| LinearCombination::zero(),
            );
            Ok(())
        }
    }
    let shape = RecordedCircuit::record(Blank)
        .expect("no value is needed")
        .shape;
    assert_eq!(
        shape,
        Shape {
            num_inputs: 1,
            num_aux: 1,
            num_constraints: 1
        }
    );
    assert!(matches!(
        evaluate(Blank),
        Err(SynthesisError::AssignmentMissing)
    ));
    assert!(matches!(
        synthesize_witness(Blank),
        Err(SynthesisError::AssignmentMissing)
    ));
    assert!(matches!(
        check_satisfied(Blank, &|_| ()),
        Err(SatisfactionError::Synthesis(_))
    ));
}

#[test]
fn a_circuit_without_constraints_has_only_input_rows() {
    /// Nothing at all.
    #[derive(Clone)]
    struct Empty;
    impl Circuit<Fr> for Empty {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, _: &mut CS) -> Result<(), SynthesisError> {
            Ok(())
        }
    }
    let direct = recorded_equals_direct(&Empty);
    assert_eq!(
        direct.evaluations,
        Evaluations {
            a: vec![Fr::ONE],
            b: vec![Fr::ZERO],
            c: vec![Fr::ZERO]
        }
    );
}
