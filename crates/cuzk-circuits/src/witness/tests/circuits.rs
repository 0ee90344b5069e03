//! Whole circuits: the packed witness is that of upstream's synthesis, and so are the kinds.

use bellpepper_core::Circuit;
use cuzk_r1cs::{PackedWitness, WitnessDifference};

use super::*;
use crate::synthetic::{SectorData, SyntheticKind, SyntheticSpec};
use crate::{CircuitVisitor, SealVariant, SectorSize, Statement, WitnessError, WitnessLayout};

pub(super) const POREP: SyntheticKind = SyntheticKind::PoRep(SealVariant::V1_1);
pub(super) const SNAP: SyntheticKind = SyntheticKind::SnapDeals;
pub(super) const WINNING: SyntheticKind = SyntheticKind::WinningPoSt;

pub(super) fn window(num_sectors: usize) -> SyntheticKind {
    SyntheticKind::WindowPoSt { num_sectors }
}

pub(super) fn statement(
    kind: SyntheticKind,
    sector_size: SectorSize,
    data: SectorData,
) -> Statement {
    let spec = SyntheticSpec {
        kind,
        sector_size,
        seed: 1,
        data,
    };
    let request = spec.request().expect("a synthetic sector");
    request.decode().expect("a well-formed request")
}

struct FirstDifference<'a>(&'a PackedWitness);

impl CircuitVisitor for FirstDifference<'_> {
    type Output = Option<WitnessDifference>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Option<WitnessDifference> {
        self.0
            .first_difference(circuit)
            .expect("the circuit has values")
    }
}

/// The packed witness of a partition has the values of upstream's.
pub(super) fn equals_upstreams(statement: &Statement, partition: usize) {
    let layout = WitnessLayout::new(statement.circuit_id());
    let packed = statement
        .packed_witness(partition, &layout)
        .expect("a well-formed statement");
    let difference = statement
        .with_circuit(partition, FirstDifference(&packed))
        .expect("there is such a partition");
    assert_eq!(difference, None, "{statement:?} partition {partition}");
}

#[test]
fn porep_at_2_kib_of_any_data_has_upstreams_witness() {
    for data in [SectorData::Zero, SectorData::Random] {
        equals_upstreams(&statement(POREP, SectorSize::Kib2, data), 0);
    }
}

#[test]
fn snap_at_2_kib_of_any_data_has_upstreams_witness() {
    for data in [SectorData::Zero, SectorData::Random] {
        equals_upstreams(&statement(SNAP, SectorSize::Kib2, data), 0);
    }
}

#[test]
fn winning_post_at_2_kib_has_upstreams_witness() {
    equals_upstreams(&statement(WINNING, SectorSize::Kib2, SectorData::Random), 0);
}

#[test]
fn window_post_at_2_kib_with_full_and_padded_partitions_has_upstreams_witness() {
    let statement = statement(window(3), SectorSize::Kib2, SectorData::Random);
    assert_eq!(statement.num_partitions(), 2);
    equals_upstreams(&statement, 0);
    equals_upstreams(&statement, 1);
}

#[test]
fn the_number_of_threads_does_not_enter_the_witness() {
    for kind in [POREP, SNAP, WINNING, window(1)] {
        let statement = statement(kind, SectorSize::Kib2, SectorData::Random);
        let layout = WitnessLayout::new(statement.circuit_id());
        let on = |num_threads| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(num_threads)
                .build()
                .expect("threads")
                .install(|| statement.packed_witness(0, &layout))
                .expect("a well-formed statement")
        };
        assert!(on(1) == on(3), "{kind:?}");
    }
}

#[test]
fn another_circuits_layout_and_a_partition_beyond_the_last_are_refused() {
    let statement = statement(WINNING, SectorSize::Kib2, SectorData::Random);
    let layout = WitnessLayout::new("wpost-2k".parse().expect("a circuit"));
    let error = statement.packed_witness(0, &layout);
    assert!(matches!(error, Err(WitnessError::OtherCircuit { .. })));
    let layout = WitnessLayout::new(statement.circuit_id());
    let error = statement.packed_witness(1, &layout);
    assert!(matches!(
        error,
        Err(WitnessError::NoSuchPartition {
            partition: 1,
            num_partitions: 1,
            ..
        })
    ));
}

#[test]
fn a_layout_shares_the_kinds_of_its_compiled_circuit_and_of_no_other() {
    let [window, winning] = ["wpost-2k", "winning-2k"].map(|id| id.parse().expect("a circuit"));
    let compiled = crate::compile_circuit(window, &|_| ()).expect("it compiles");
    let layout = WitnessLayout::of_compiled(window, &compiled).expect("its own circuit");
    assert!(std::sync::Arc::ptr_eq(layout.kinds(), compiled.kinds()));
    let error = WitnessLayout::of_compiled(winning, &compiled);
    assert!(matches!(
        error,
        Err(WitnessError::OtherKinds { circuit }) if circuit == winning
    ));
}
