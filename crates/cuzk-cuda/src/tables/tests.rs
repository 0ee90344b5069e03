//! The tables against the circuit that they were made from.

use cuzk_r1cs::{CompiledCircuit, Fr, PackedWitness};
use cuzk_testkit::conformance::Case;
use ff::Field;

use super::{QueryTables, RowTables};

/// What the kernels do, one row after the other.
fn evaluate(
    tables: &RowTables,
    circuit: &CompiledCircuit,
    witness: &PackedWitness,
) -> Vec<[Fr; 3]> {
    let mut rows = vec![[Fr::ZERO; 3]; circuit.shape().num_constraints];
    let value = |code: u32, [_, bits, wide, inputs]: [u32; 4]| {
        let number = code & ((1 << 29) - 1);
        match code >> 29 {
            0 => Fr::ONE,
            1 => witness.inputs()[(inputs + number) as usize],
            2 => {
                let index = (bits + number) as usize;
                Fr::from(witness.plane()[index / 64] >> (index % 64) & 1)
            }
            3 => witness.wide()[(wide + number) as usize],
            kind => panic!("kind {kind} names no variable"),
        }
    };
    for template in &tables.templates {
        for instance in 0..template.num_instances {
            let at = tables.placements[template.first_placement + instance];
            let first = template.first_external + instance * template.num_externals;
            let externals = &tables.externals[first..][..template.num_externals];
            let mut begin = template.first_term;
            for own in 0..template.num_rows {
                let row = at[0] + tables.places[template.first_row + own];
                let first_side = 3 * (template.first_row + own);
                let ends = &tables.side_ends[first_side..first_side + 3];
                for (value_of_side, &end) in rows[row as usize].iter_mut().zip(ends) {
                    let terms = &tables.terms[begin as usize..end as usize];
                    let sum = terms.iter().map(|&term| {
                        let (code, coefficient) = (term as u32, (term >> 32) as usize);
                        let value = match code >> 29 {
                            4 => value(externals[(code & ((1 << 29) - 1)) as usize], [0; 4]),
                            _ => value(code, at),
                        };
                        value * circuit.coefficients()[coefficient]
                    });
                    *value_of_side = sum.sum();
                    begin = end;
                }
            }
        }
    }
    rows
}

fn packed(case: &Case) -> PackedWitness {
    PackedWitness::pack(case.circuit.kinds(), &case.witness).expect("booleans are 0 or 1")
}

#[test]
fn rows_of_the_tables_have_the_values_of_the_circuits_rows() {
    for case in Case::all() {
        let tables = RowTables::new(&case.circuit).expect("a small circuit");
        let expected = case.circuit.evaluate_row_by_row(&case.witness);
        let found = evaluate(&tables, &case.circuit, &packed(&case));
        for (row, found) in found.iter().enumerate() {
            let expected = [expected.a[row], expected.b[row], expected.c[row]];
            assert_eq!(*found, expected, "{} row {row}", case.name);
        }
    }
}

/// Every value times its base's number, by the tables; equal only if each variable meets its own base.
fn weighted(tables: &QueryTables, witness: &PackedWitness) -> Fr {
    let values: Vec<Fr> = [witness.inputs(), witness.wide()].concat();
    let terms = tables.wide.scalars.iter().zip(&tables.wide.bases);
    let wide: Fr = terms
        .map(|(&scalar, &base)| values[scalar as usize] * Fr::from(u64::from(base) + 1))
        .sum();
    let num_aux = witness.kinds().num_aux();
    let bits = (0..num_aux).filter(|index| witness.plane()[index / 64] >> (index % 64) & 1 == 1);
    let bits = bits.filter_map(|index| {
        if tables.selection.is_empty() {
            return Some(index as u64);
        }
        let entry = tables.selection[index / 32];
        let (mask, before, bit) = (entry as u32, entry >> 32, index as u32 % 32);
        let below = mask & ((1 << bit) - 1);
        (mask >> bit & 1 == 1)
            .then(|| u64::from(tables.first_aux) + before + u64::from(below.count_ones()))
    });
    wide + bits.map(|base| Fr::from(base + 1)).sum::<Fr>()
}

#[test]
fn every_variable_of_a_query_meets_its_own_base() {
    for case in Case::all() {
        let (densities, witness) = (case.circuit.densities(), &case.witness);
        let weigh = |values: Vec<Fr>| -> Fr {
            let numbered = values.into_iter().zip(1_u64..);
            numbered
                .map(|(value, number)| value * Fr::from(number))
                .sum()
        };
        let of_a = densities.a_aux.iter_ones().map(|index| witness.aux[index]);
        let b_inputs = densities
            .b_input
            .iter_ones()
            .map(|index| witness.inputs[index]);
        let of_b = densities.b_aux.iter_ones().map(|index| witness.aux[index]);
        let expected = [
            (QueryTables::of_l(&case.circuit), witness.aux.clone()),
            (
                QueryTables::of_a(&case.circuit),
                witness.inputs.iter().copied().chain(of_a).collect(),
            ),
            (
                QueryTables::of_b(&case.circuit),
                b_inputs.chain(of_b).collect(),
            ),
        ];
        let packed = packed(&case);
        for (tables, values) in expected {
            assert_eq!(weighted(&tables, &packed), weigh(values), "{}", case.name);
        }
    }
}

#[test]
fn parts_cover_every_variable_and_base_once_and_keep_their_size() {
    for case in Case::all() {
        let queries = [
            QueryTables::of_l(&case.circuit),
            QueryTables::of_a(&case.circuit),
            QueryTables::of_b(&case.circuit),
        ];
        for query in queries {
            let whole = query.parts(usize::MAX);
            assert_eq!(whole.len(), 1, "{}", case.name);
            for max_bases in [1, 40, 100] {
                let parts = query.parts(max_bases);
                let (mut position, mut base, mut wide) = (0, 0, 0);
                for part in &parts {
                    assert_eq!(part.positions.start % 32, 0);
                    let starts = (part.positions.start, part.bases.start, part.wide.start);
                    assert_eq!(starts, (position, base, wide), "{}", case.name);
                    (position, base, wide) = (part.positions.end, part.bases.end, part.wide.end);
                    let inside = &query.wide.bases[part.wide.clone()];
                    assert!(
                        inside
                            .iter()
                            .all(|&own| part.bases.contains(&(own as usize)))
                    );
                    let least = 32 + query.first_aux as usize;
                    assert!(part.bases.len() <= max_bases.max(least), "{}", case.name);
                }
                let ends = (position, base, wide);
                let all = &whole[0];
                assert_eq!(ends, (all.positions.end, all.bases.end, all.wide.end));
                assert_eq!(wide, query.wide.bases.len());
            }
        }
    }
}
