//! A circuit of another project, with the key of its public ceremony and an independent verifier.

mod adapter;
mod statements;

use cuzk_r1cs::{RecordedCircuit, check_satisfied};

use adapter::FromBellman;
use statements::{OutputStatement, SpendStatement};

#[test]
fn the_recorded_circuits_have_their_published_sizes() {
    let output =
        RecordedCircuit::record(FromBellman(OutputStatement::blank())).expect("it records");
    assert_eq!(
        (output.shape.num_constraints, output.shape.num_inputs),
        (7827, 6)
    );
    let spend = RecordedCircuit::record(FromBellman(SpendStatement::blank())).expect("it records");
    assert_eq!(
        (spend.shape.num_constraints, spend.shape.num_inputs),
        (98_777, 8)
    );
}

#[test]
fn the_adapted_circuits_are_satisfied() {
    check_satisfied(FromBellman(OutputStatement::new(1).circuit), &|_| ()).expect("a valid output");
    check_satisfied(FromBellman(SpendStatement::new(1).circuit), &|_| ()).expect("a valid spend");
}
