//! The packed witness of every request is upstream's, whether the request is true or not.

use bellpepper_core::Circuit;
use cuzk_circuits::{CircuitVisitor, ProofRequest, Statement, WitnessLayout};
use cuzk_r1cs::{Fr, PackedWitness, WitnessDifference};

use crate::fixture::fixture;

struct FirstDifference<'a>(&'a PackedWitness);

impl CircuitVisitor for FirstDifference<'_> {
    type Output = Option<WitnessDifference>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Option<WitnessDifference> {
        self.0
            .first_difference(circuit)
            .expect("the circuit has values")
    }
}

/// Every partition of a statement has the variables that upstream synthesizes.
pub(crate) fn expect_upstreams_witness(what: &str, statement: &Statement) {
    let layout = WitnessLayout::new(statement.circuit_id());
    for partition in 0..statement.num_partitions() {
        let packed = statement
            .packed_witness(partition, &layout)
            .expect("a decoded statement has the circuit's form");
        let difference = statement
            .with_circuit(partition, FirstDifference(&packed))
            .expect("there is such a partition");
        assert_eq!(difference, None, "{what}, partition {partition}");
    }
}

#[test]
fn sealed_sectors_have_upstreams_witness() {
    let fixture = fixture();
    for (what, request) in [
        ("porep", ProofRequest::PoRep(fixture.porep.clone())),
        (
            "synthetic porep",
            ProofRequest::PoRep(fixture.synthetic_porep.clone()),
        ),
        ("snap", ProofRequest::SnapDeals(fixture.snap.clone())),
        (
            "winning",
            ProofRequest::WinningPoSt(fixture.winning.clone()),
        ),
        ("window", ProofRequest::WindowPoSt(fixture.window.clone())),
        (
            "window of version 1",
            ProofRequest::WindowPoSt(fixture.window_v1.clone()),
        ),
    ] {
        let statement = request.decode().expect("a well-formed request");
        expect_upstreams_witness(what, &statement);
    }
}
