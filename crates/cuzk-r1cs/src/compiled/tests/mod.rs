//! Compiled circuits against recorded ones.

pub(crate) mod nested;

use proptest::prelude::*;

use crate::compiled::stack::CutRule;
use crate::compiled::{CompiledCircuit, Extent, Placements};
use crate::{Entry, RecordedCircuit, VariableKinds, summarize};
use nested::{Nested, Step, compiled, nested, rules};

const EVERYWHERE: CutRule = CutRule {
    min_rows: 1,
    externals_per_1024_rows: 1 << 20,
};

fn recorded(circuit: &Nested) -> RecordedCircuit {
    RecordedCircuit::record(circuit.clone()).expect("no value is asked for")
}

/// All that a compiled circuit says is what the recorded one says.
fn assert_equal(compiled: &CompiledCircuit, circuit: &Nested) {
    let recorded = recorded(circuit);
    let mut next = 0;
    compiled.for_each_row(&mut |row, sides| {
        assert_eq!(row, next);
        let expected: [&[Entry]; 3] =
            [&recorded.a, &recorded.b, &recorded.c].map(|matrix| matrix.row(row));
        assert_eq!(sides, expected, "row {row}");
        next += 1;
    });
    assert_eq!(next, recorded.shape.num_constraints);
    assert_eq!(compiled.coefficients(), recorded.coefficients);
    assert_eq!(**compiled.kinds(), VariableKinds::of_circuit(&recorded));
    assert_eq!(compiled.expanded_digest(&|_| ()), compiled.digest());
    let summary = summarize(circuit.clone(), &|_| ()).expect("no value is asked for");
    assert_eq!(compiled.summary(), summary);
    assert_eq!(compiled.shape(), summary.shape);
    assert_eq!(&compiled.implied_densities(), &summary.densities);
}

fn row(sides: [&[(i8, u8)]; 3]) -> Step {
    Step::Row(sides.map(<[(i8, u8)]>::to_vec))
}

#[test]
fn an_empty_circuit_is_one_template_without_rows() {
    let circuit = Nested(Vec::new());
    let compiled = compiled(CutRule::default(), &circuit);
    assert_equal(&compiled, &circuit);
    assert_eq!(compiled.templates().len(), 1);
    let placements = compiled.placements();
    assert_eq!(placements[0].firsts(), [Extent::default()]);
}

#[test]
fn equal_blocks_share_a_template_and_unequal_ones_do_not() {
    let block = |coefficient| {
        let sides: [&[(i8, u8)]; 3] = [&[(coefficient, 0)], &[(1, 1)], &[(1, 2)]];
        Step::Block(vec![Step::Aux(1), row(sides), row(sides)], 3)
    };
    let circuit = Nested(vec![
        Step::Aux(5),
        Step::Aux(6),
        Step::Block(vec![block(1), block(2), block(1)], 2),
    ]);
    let compiled = compiled(EVERYWHERE, &circuit);
    assert_equal(&compiled, &circuit);
    // Two kinds of inner blocks, the outer block, and the whole circuit.
    assert_eq!(compiled.templates().len(), 4);
    let instances: Vec<usize> = compiled.placements().iter().map(Placements::len).collect();
    assert_eq!(instances, [12, 6, 2, 1]);
    let outer = &compiled.templates()[2];
    assert_eq!(outer.extent().num_rows, 18);
    assert_eq!((outer.num_own_rows(), outer.children().len()), (0, 9));
}

#[test]
fn rows_between_instances_keep_their_places() {
    let sides: [&[(i8, u8)]; 3] = [&[(1, 0)], &[(3, 0)], &[]];
    let block = Step::Block(vec![Step::Aux(1), row(sides)], 1);
    let circuit = Nested(vec![
        Step::Aux(1),
        row(sides),
        block.clone(),
        row(sides),
        row(sides),
        block.clone(),
        block,
        row(sides),
    ]);
    let compiled = compiled(EVERYWHERE, &circuit);
    assert_equal(&compiled, &circuit);
    let whole = compiled.templates().last().expect("the whole circuit");
    let runs: Vec<_> = whole
        .runs()
        .map(|run| (run.first_own_row, run.num_rows, run.first_row))
        .collect();
    assert_eq!(runs, [(0, 1, 0), (1, 2, 2), (3, 1, 6)]);
    let firsts: Vec<u32> = compiled.placements()[0]
        .firsts()
        .iter()
        .map(|first| first.num_rows)
        .collect();
    assert_eq!(firsts, [1, 4, 5]);
}

#[test]
fn a_block_that_sees_mostly_its_surroundings_is_no_template() {
    let sides: [&[(i8, u8)]; 3] = [&[(1, 0)], &[(1, 1)], &[(1, 2)]];
    let circuit = Nested(vec![
        Step::Aux(1),
        Step::Aux(2),
        Step::Aux(3),
        Step::Block(vec![row(sides), row(sides)], 4),
    ]);
    let rule = CutRule {
        min_rows: 1,
        externals_per_1024_rows: 1024,
    };
    assert_eq!(compiled(rule, &circuit).templates().len(), 1);
    assert_eq!(compiled(EVERYWHERE, &circuit).templates().len(), 2);
}

proptest! {
    #[test]
    fn a_compiled_circuit_expands_to_the_recorded_one(circuit in nested(), rule in rules()) {
        assert_equal(&compiled(rule, &circuit), &circuit);
    }

    #[test]
    fn instances_cover_every_row_and_variable_once(circuit in nested(), rule in rules()) {
        let compiled = compiled(rule, &circuit);
        let shape = compiled.shape();
        let mut rows = vec![0; shape.num_constraints];
        let mut visited = vec![0; compiled.templates().len()];
        compiled.for_each_instance(&mut |instance| {
            let template = &compiled.templates()[instance.template];
            for run in template.runs() {
                let first = (instance.first.num_rows + run.first_row) as usize;
                rows[first..first + run.num_rows].iter_mut().for_each(|count| *count += 1);
            }
            visited[instance.template] += 1;
        });
        prop_assert!(rows.iter().all(|&count| count == 1), "{:?}", rows);
        let placements = compiled.placements();
        for (template, placements) in compiled.templates().iter().zip(&placements) {
            prop_assert!(!placements.is_empty());
            prop_assert_eq!(placements.externals().len(), placements.len() * template.num_externals());
        }
        prop_assert_eq!(visited, placements.iter().map(Placements::len).collect::<Vec<_>>());
    }
}
