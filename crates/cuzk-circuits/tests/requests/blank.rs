//! Circuits without values.

use bellpepper_core::Circuit;
use cuzk_circuits::{CircuitId, CircuitVisitor, ProofRequest, with_blank_circuit};
use cuzk_r1cs::{CircuitSummary, Fr, RecordedCircuit, summarize};

use crate::fixture::fixture;

struct Drop;

impl CircuitVisitor for Drop {
    type Output = ();

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) {
        drop(circuit);
    }
}

struct Summarize;

impl CircuitVisitor for Summarize {
    type Output = CircuitSummary;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> CircuitSummary {
        summarize(circuit, &|_| ()).expect("a blank circuit needs no values")
    }
}

struct Record;

impl CircuitVisitor for Record {
    type Output = RecordedCircuit;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> RecordedCircuit {
        RecordedCircuit::record(circuit).expect("recording needs no values")
    }
}

#[test]
fn every_circuit_can_be_made_without_values() {
    for id in CircuitId::all() {
        with_blank_circuit(id, Drop);
    }
}

#[test]
fn sizes_are_those_that_were_measured() {
    /// Larger circuits take minutes; `cuzk circuit inspect` counts them.
    const LARGEST: usize = 5_000_000;
    let mut num_checked = 0;
    for info in CircuitId::all().map(CircuitId::info) {
        let Some(num_constraints) = info.num_constraints.filter(|count| *count < LARGEST) else {
            continue;
        };
        let shape = with_blank_circuit(info.id, Summarize).shape;
        assert_eq!(shape.num_constraints, num_constraints, "{}", info.id);
        assert_eq!(Some(shape.num_aux), info.num_aux, "{}", info.id);
        assert_eq!(shape.num_inputs, info.num_inputs, "{}", info.id);
        num_checked += 1;
    }
    assert_eq!(num_checked, 9);
}

#[test]
fn a_blank_circuit_has_the_matrices_of_one_with_values() {
    for (id, request) in [
        (
            "winning-2k",
            ProofRequest::WinningPoSt(fixture().winning.clone()),
        ),
        (
            "wpost-2k",
            ProofRequest::WindowPoSt(fixture().window.clone()),
        ),
    ] {
        let blank = with_blank_circuit(id.parse().expect("a circuit"), Record);
        let statement = request.decode().expect("a request as clients send it");
        for partition in 0..statement.num_partitions() {
            let filled = statement
                .with_circuit(partition, Record)
                .expect("a partition");
            assert_eq!(blank.digest(), filled.digest(), "{id}");
        }
    }
}
