//! Upstream is the judge: its verification, its circuits and its public inputs.

mod large;
mod porep;
mod post;
mod snap;

use bellpepper_core::Circuit;
use blstrs::Scalar as Fr;
use cuzk_r1cs::{Witness, check_satisfied, synthesize_witness};

use super::*;
use crate::{CircuitVisitor, Statement};

fn spec(kind: SyntheticKind, sector_size: SectorSize, data: SectorData) -> SyntheticSpec {
    SyntheticSpec {
        kind,
        sector_size,
        seed: 1,
        data,
    }
}

fn statement(spec: SyntheticSpec) -> Statement {
    let request = spec.request().expect("a synthetic sector");
    request.decode().expect("a well-formed request")
}

struct CheckSatisfied;

impl CircuitVisitor for CheckSatisfied {
    type Output = ();

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) {
        check_satisfied(circuit, &|_| ()).expect("all constraints hold");
    }
}

struct MakeWitness;

impl CircuitVisitor for MakeWitness {
    type Output = Witness;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Witness {
        synthesize_witness(circuit).expect("the circuit has values")
    }
}

/// All constraints of a partition hold.
fn is_satisfied(statement: &Statement, partition: usize) {
    statement
        .with_circuit(partition, CheckSatisfied)
        .expect("upstream makes the circuit");
}

/// The circuit of a partition has the inputs that the verifier computes.
fn has_public_inputs(statement: &Statement, partition: usize) {
    let witness = statement
        .with_circuit(partition, MakeWitness)
        .expect("upstream makes the circuit");
    let expected = statement
        .public_inputs(partition)
        .expect("there is such a partition");
    assert_eq!(&witness.inputs[1..], expected);
}

const BOTH: [SectorData; 2] = [SectorData::Zero, SectorData::Random];

const EVERY_KIND: [SyntheticKind; 4] = [
    SyntheticKind::PoRep(SealVariant::V1_1),
    SyntheticKind::SnapDeals,
    SyntheticKind::WindowPoSt { num_sectors: 3 },
    SyntheticKind::WinningPoSt,
];

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    for kind in EVERY_KIND {
        let request = |seed| {
            let spec = SyntheticSpec {
                seed,
                ..spec(kind, SectorSize::Kib2, SectorData::Random)
            };
            spec.request().expect("a synthetic sector")
        };
        assert!(request(1) == request(1), "{kind:?}");
        assert!(request(1) != request(2), "{kind:?}");
    }
}

#[test]
fn the_number_of_threads_does_not_enter_the_bytes() {
    for kind in EVERY_KIND {
        let spec = spec(kind, SectorSize::Kib2, SectorData::Random);
        let alone = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .expect("a thread")
            .install(|| spec.request().expect("a synthetic sector"));
        assert!(
            alone == spec.request().expect("a synthetic sector"),
            "{kind:?}"
        );
    }
}

#[test]
fn proofs_whose_challenges_need_the_replica_are_refused_with_the_reason() {
    for variant in [
        SealVariant::SyntheticPoRep,
        SealVariant::NonInteractivePoRep,
    ] {
        let kind = SyntheticKind::PoRep(variant);
        let error = spec(kind, SectorSize::Gib32, SectorData::Zero)
            .request()
            .expect_err("no shortcut");
        let message = error.to_string();
        assert!(message.contains("without sealing"), "{message}");
        assert!(message.contains("Feat_"), "{message}");
    }
}

#[test]
fn no_sector_and_too_many_sectors_are_refused() {
    for num_sectors in [0, MAX_SECTORS + 1, usize::MAX] {
        let kind = SyntheticKind::WindowPoSt { num_sectors };
        let result = spec(kind, SectorSize::Kib2, SectorData::Zero).request();
        assert!(
            matches!(result, Err(SyntheticError::NumSectors { found, .. }) if found == num_sectors),
            "{num_sectors}"
        );
    }
}

#[test]
fn the_circuit_id_has_the_family_and_the_size() {
    let names = EVERY_KIND.map(|kind| {
        let spec = spec(kind, SectorSize::Gib64, SectorData::Zero);
        spec.circuit_id().to_string()
    });
    assert_eq!(names, ["porep-64g", "snap-64g", "wpost-64g", "winning-64g"]);
}
