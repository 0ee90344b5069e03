//! Circuits of millions of variables, and their rows as the oracle of the kinds.

use bellpepper_core::Circuit;
use cuzk_r1cs::{RecordedCircuit, VariableKinds};

use super::circuits::{POREP, SNAP, WINNING, equals_upstreams, statement, window};
use super::*;
use crate::synthetic::SectorData;
use crate::{CircuitId, CircuitVisitor, SectorSize, WitnessLayout, with_blank_circuit};

struct KindsOfRows;

impl CircuitVisitor for KindsOfRows {
    type Output = VariableKinds;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> VariableKinds {
        let recorded = RecordedCircuit::record(circuit).expect("recording needs no values");
        VariableKinds::of_circuit(&recorded)
    }
}

/// The layout of a circuit takes for bits exactly what the circuit's rows force to be bits.
fn kinds_follow_from_the_rows(circuit: &str) {
    let circuit: CircuitId = circuit.parse().expect("a circuit");
    let layout = WitnessLayout::new(circuit);
    let expected = with_blank_circuit(circuit, KindsOfRows);
    let found = layout.kinds();
    assert_eq!(found.num_aux(), expected.num_aux(), "{circuit}");
    let differing = (0..found.num_aux()).find(|&i| found.is_wide(i) != expected.is_wide(i));
    assert_eq!(differing, None, "{circuit}: variable of another kind");
    assert!(**found == expected, "{circuit}");
}

#[test]
fn the_kinds_of_small_circuits_follow_from_their_rows() {
    for circuit in ["winning-2k", "wpost-2k", "snap-2k", "porep-2k"] {
        kinds_follow_from_the_rows(circuit);
    }
}

#[test]
#[ignore = "half a minute and 2 GiB: recordings of 10 million rows"]
fn the_kinds_of_8_mib_circuits_follow_from_their_rows() {
    for circuit in ["winning-8m", "wpost-8m", "porep-8m", "snap-8m"] {
        kinds_follow_from_the_rows(circuit);
    }
}

#[test]
fn every_kind_at_8_mib_has_upstreams_witness() {
    for kind in [WINNING, window(1), POREP] {
        equals_upstreams(&statement(kind, SectorSize::Mib8, SectorData::Random), 0);
    }
    // Partition 2 is neither the first nor the last of four.
    equals_upstreams(&statement(SNAP, SectorSize::Mib8, SectorData::Random), 2);
}

#[test]
#[ignore = "a minute: 130 million variables"]
fn porep_at_32_gib_has_upstreams_witness() {
    equals_upstreams(&statement(POREP, SectorSize::Gib32, SectorData::Random), 3);
}

#[test]
#[ignore = "a minute: 81 million variables"]
fn snap_at_32_gib_has_upstreams_witness() {
    equals_upstreams(&statement(SNAP, SectorSize::Gib32, SectorData::Random), 5);
}

#[test]
#[ignore = "seconds: 375,000 wide variables"]
fn winning_post_at_32_and_64_gib_has_upstreams_witness() {
    for size in [SectorSize::Gib32, SectorSize::Gib64] {
        equals_upstreams(&statement(WINNING, size, SectorData::Random), 0);
    }
}

#[test]
#[ignore = "minutes and 4 GiB: 127 million wide variables"]
fn window_post_at_32_gib_of_a_few_sectors_has_upstreams_witness() {
    equals_upstreams(
        &statement(window(3), SectorSize::Gib32, SectorData::Random),
        0,
    );
}
