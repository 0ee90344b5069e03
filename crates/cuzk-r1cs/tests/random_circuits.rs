//! Random small circuits: every way of running one against a naive reading of its list of rows,
//! and its counts against the query lengths of a key that bellperson makes for it.

use std::collections::{BTreeMap, BTreeSet};

use bellpepper_core::{
    Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable,
};
use bellperson::groth16::generate_random_parameters;
use bellperson::util_cs::witness_cs::WitnessCS;
use blstrs::Bls12;
use cuzk_r1cs::{
    Column, Evaluations, Fr, Matrix, RecordedCircuit, evaluate, evaluate_first_rows, summarize,
    synthesize_witness,
};
use ff::Field;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Terms in the order in which the circuit adds them; variables may repeat and cancel.
type Terms = Vec<(Index, Fr)>;

/// Variables with their values, and rows over them.
#[derive(Clone, Debug)]
struct Listed {
    /// Values of the inputs after ONE.
    inputs: Vec<Fr>,
    aux: Vec<Fr>,
    rows: Vec<[Terms; 3]>,
}

impl Listed {
    /// The value of a variable.
    fn value(&self, variable: Index) -> Fr {
        match variable {
            Index::Input(0) => Fr::ONE,
            Index::Input(index) => self.inputs[index - 1],
            Index::Aux(index) => self.aux[index],
        }
    }

    /// The non-zero coefficients of one side, by column.
    fn merged(terms: &Terms) -> BTreeMap<Column, Fr> {
        let mut merged = BTreeMap::new();
        for &(variable, coefficient) in terms {
            *merged.entry(column(variable)).or_insert(Fr::ZERO) += coefficient;
        }
        merged.retain(|_, coefficient| *coefficient != Fr::ZERO);
        merged
    }

    /// The columns with a non-zero coefficient on side `side` of any row.
    fn occurring(&self, side: usize) -> BTreeSet<Column> {
        self.rows
            .iter()
            .flat_map(|row| Self::merged(&row[side]).into_keys())
            .collect()
    }

    /// The values of side `side`, with `last` as the values of the input rows.
    fn values(&self, side: usize, last: &[Fr]) -> Vec<Fr> {
        let value = |terms: &Terms| -> Fr {
            terms
                .iter()
                .map(|&(variable, coefficient)| coefficient * self.value(variable))
                .sum()
        };
        self.rows
            .iter()
            .map(|row| value(&row[side]))
            .chain(last.iter().copied())
            .collect()
    }

    /// One more row per private variable, `0 * 0 = x`, so that a key generator finds each of them constrained.
    fn with_every_aux_in_c(mut self) -> Self {
        let rows =
            (0..self.aux.len()).map(|index| [vec![], vec![], vec![(Index::Aux(index), Fr::ONE)]]);
        self.rows.extend(rows);
        self
    }
}

fn column(variable: Index) -> Column {
    match variable {
        Index::Input(index) => Column::input(index),
        Index::Aux(index) => Column::aux(index),
    }
}

impl Circuit<Fr> for Listed {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let allocate =
            |values: &[Fr],
             mut alloc: Box<dyn FnMut(Fr) -> Result<Variable, SynthesisError> + '_>| {
                values
                    .iter()
                    .map(|&value| alloc(value))
                    .collect::<Result<Vec<_>, _>>()
            };
        let inputs = allocate(
            &self.inputs,
            Box::new(|value| cs.alloc_input(|| "input", || Ok(value))),
        )?;
        let aux = allocate(
            &self.aux,
            Box::new(|value| cs.alloc(|| "aux", || Ok(value))),
        )?;
        let variable = |index: Index| match index {
            Index::Input(0) => CS::one(),
            Index::Input(index) => inputs[index - 1],
            Index::Aux(index) => aux[index],
        };
        let sum = |lc: LinearCombination<Fr>, terms: &Terms| {
            terms.iter().fold(lc, |lc, &(index, coefficient)| {
                lc + (coefficient, variable(index))
            })
        };
        for [a, b, c] in &self.rows {
            cs.enforce(|| "row", |lc| sum(lc, a), |lc| sum(lc, b), |lc| sum(lc, c));
        }
        Ok(())
    }
}

/// Circuits one after the other, each in a system of its own where the constraint system can be extended.
#[derive(Clone, Debug)]
struct Parts(Vec<Listed>);

impl Circuit<Fr> for Parts {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        for part in self.0 {
            if CS::is_extensible() {
                let mut system = CS::new();
                system.alloc_input(|| "stand-in for one", || Ok(Fr::ONE))?;
                part.synthesize(&mut system)?;
                cs.extend(&system);
            } else {
                part.synthesize(cs)?;
            }
        }
        Ok(())
    }
}

/// Hides from a circuit that its constraint system can be extended.
#[derive(Clone, Debug)]
struct InOrder<C>(C);

impl<C: Circuit<Fr>> Circuit<Fr> for InOrder<C> {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        self.0.synthesize(&mut cs.namespace(|| "in order"))
    }
}

/// Field elements with many zeros, ones and opposites among them.
fn scalar() -> impl Strategy<Value = Fr> {
    prop_oneof![
        2 => Just(Fr::ZERO),
        3 => Just(Fr::ONE),
        3 => Just(-Fr::ONE),
        2 => (0_u64..3).prop_map(Fr::from),
        2 => any::<u64>().prop_map(|seed| Fr::random(ChaCha8Rng::seed_from_u64(seed))),
    ]
}

fn listed() -> impl Strategy<Value = Listed> {
    (0_usize..5, 0_usize..9).prop_flat_map(|(num_inputs, num_aux)| {
        let variable = (0..=num_inputs + num_aux).prop_map(move |index| {
            match index.checked_sub(num_inputs + 1) {
                None => Index::Input(index),
                Some(aux) => Index::Aux(aux),
            }
        });
        let terms = proptest::collection::vec((variable, scalar()), 0..7);
        let rows = proptest::collection::vec(proptest::array::uniform3(terms), 0..12);
        let values = |len: usize| proptest::collection::vec(scalar(), len);
        (values(num_inputs), values(num_aux), rows).prop_map(|(inputs, aux, rows)| Listed {
            inputs,
            aux,
            rows,
        })
    })
}

/// The rows of a recorded matrix as columns and coefficients.
fn written_out(matrix: &Matrix, coefficients: &[Fr]) -> Vec<Vec<(Column, Fr)>> {
    let entries = |row: &[cuzk_r1cs::Entry]| {
        row.iter()
            .map(|entry| (entry.column, coefficients[entry.coefficient_index as usize]))
            .collect()
    };
    matrix.rows().map(entries).collect()
}

fn ones(density: &cuzk_r1cs::Density, column: fn(usize) -> Column) -> BTreeSet<Column> {
    density.iter_ones().map(column).collect()
}

proptest! {
    #[test]
    fn direct_evaluation_agrees_with_the_list_of_rows(circuit in listed()) {
        let direct = evaluate(circuit.clone()).expect("all values are there");
        let inputs: Vec<Fr> = std::iter::once(Fr::ONE).chain(circuit.inputs.iter().copied()).collect();
        let zeros = vec![Fr::ZERO; inputs.len()];
        let expected = Evaluations {
            a: circuit.values(0, &inputs),
            b: circuit.values(1, &zeros),
            c: circuit.values(2, &zeros),
        };
        prop_assert_eq!(&direct.evaluations, &expected);
        prop_assert_eq!(&direct.witness.inputs, &inputs);
        prop_assert_eq!(&direct.witness.aux, &circuit.aux);
        prop_assert_eq!(direct.shape.num_constraints, circuit.rows.len());
        let (inputs_in_b, aux_in_b) = circuit.occurring(1).into_iter().partition(|column| matches!(column.index(), Index::Input(_)));
        let aux_in_a = circuit.occurring(0).into_iter().filter(|column| matches!(column.index(), Index::Aux(_))).collect::<BTreeSet<_>>();
        prop_assert_eq!(ones(&direct.densities.a_aux, Column::aux), aux_in_a);
        prop_assert_eq!(ones(&direct.densities.b_input, Column::input), inputs_in_b);
        prop_assert_eq!(ones(&direct.densities.b_aux, Column::aux), aux_in_b);
        prop_assert_eq!(direct.densities.a_aux.len(), direct.shape.num_aux);
        prop_assert_eq!(direct.densities.b_input.len(), direct.shape.num_inputs);
        prop_assert_eq!(direct.densities.b_aux.len(), direct.shape.num_aux);
    }

    #[test]
    fn recorded_rows_are_merged_sorted_and_free_of_zeros(circuit in listed()) {
        let recorded = RecordedCircuit::record(circuit.clone()).expect("no value is asked for");
        for (side, matrix) in [&recorded.a, &recorded.b, &recorded.c].into_iter().enumerate() {
            let expected: Vec<Vec<(Column, Fr)>> =
                circuit.rows.iter().map(|row| Listed::merged(&row[side]).into_iter().collect()).collect();
            prop_assert_eq!(written_out(matrix, &recorded.coefficients), expected);
        }
        let distinct: BTreeSet<Fr> = recorded.coefficients.iter().copied().collect();
        prop_assert_eq!(distinct.len(), recorded.coefficients.len());
    }

    #[test]
    fn all_ways_of_running_a_circuit_agree(parts in proptest::collection::vec(listed(), 1..4)) {
        let circuit = Parts(parts);
        let direct = evaluate(circuit.clone()).expect("all values are there");
        prop_assert_eq!(&direct, &evaluate(InOrder(circuit.clone())).expect("all values are there"));
        prop_assert_eq!(&direct.witness, &synthesize_witness(circuit.clone()).expect("all values are there"));
        let recorded = RecordedCircuit::record(circuit.clone()).expect("no value is asked for");
        let in_order = RecordedCircuit::record(InOrder(circuit.clone())).expect("no value is asked for");
        prop_assert_eq!(recorded.shape, direct.shape);
        prop_assert_eq!(&recorded.densities, &direct.densities);
        prop_assert_eq!(&recorded.evaluate(&direct.witness), &direct.evaluations);
        prop_assert_eq!(recorded.first_unsatisfied(&direct.witness), direct.evaluations.first_unsatisfied());
        prop_assert_eq!((&recorded.a, &recorded.b, &recorded.c), (&in_order.a, &in_order.b, &in_order.c));
        prop_assert_eq!((&recorded.coefficients, &recorded.densities), (&in_order.coefficients, &in_order.densities));
        let summary = summarize(circuit.clone(), &|_| ()).expect("no value is asked for");
        prop_assert_eq!(summary.shape, direct.shape);
        prop_assert_eq!(summary.digest, recorded.digest());
        prop_assert_eq!(summary.num_coefficients, recorded.coefficients.len());
        let mut oracle = WitnessCS::<Fr>::new();
        InOrder(circuit).synthesize(&mut oracle).expect("all values are there");
        prop_assert_eq!((direct.witness.inputs, direct.witness.aux), (oracle.scalar_inputs(), oracle.scalar_aux()));
    }
}

proptest! {
    #[test]
    fn first_rows_are_those_of_all_rows(parts in proptest::collection::vec(listed(), 1..3), num_rows in 0_usize..30) {
        let circuit = Parts(parts);
        let all = evaluate(circuit.clone()).expect("all values are there");
        let mut times_reached = 0;
        let first = evaluate_first_rows(circuit, num_rows, &mut || times_reached += 1).expect("all values are there");
        let count = num_rows.min(all.shape.num_constraints);
        prop_assert_eq!(first.shape.num_constraints, count);
        prop_assert_eq!(&first.witness, &all.witness);
        prop_assert_eq!(&first.evaluations.a[..count], &all.evaluations.a[..count]);
        prop_assert_eq!(&first.evaluations.b[..count], &all.evaluations.b[..count]);
        prop_assert_eq!(&first.evaluations.c[..count], &all.evaluations.c[..count]);
        prop_assert_eq!(times_reached, usize::from(num_rows > 0 && count == num_rows));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn counts_are_the_query_lengths_of_bellpersons_keys(circuit in listed(), seed: u64) {
        let circuit = circuit.with_every_aux_in_c();
        let direct = evaluate(circuit.clone()).expect("all values are there");
        let key = generate_random_parameters::<Bls12, _, _>(circuit, &mut ChaCha8Rng::seed_from_u64(seed))
            .expect("every variable is constrained");
        let in_b = direct.densities.b_input.count_ones() + direct.densities.b_aux.count_ones();
        prop_assert_eq!(key.vk.ic.len(), direct.shape.num_inputs);
        prop_assert_eq!(key.l.len(), direct.shape.num_aux);
        prop_assert_eq!(key.h.len(), direct.shape.domain_size() - 1);
        prop_assert_eq!(key.a.len(), direct.shape.num_inputs + direct.densities.a_aux.count_ones());
        prop_assert_eq!((key.b_g1.len(), key.b_g2.len()), (in_b, in_b));
    }
}
