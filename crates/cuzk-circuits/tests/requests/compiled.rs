//! The real circuits, compiled: every row, density and kind against a recording, and real witnesses packed by the kinds and
//! evaluated by templates.

use std::sync::Arc;

use bellpepper_core::Circuit;
use cuzk_circuits::synthetic::{SectorData, SyntheticKind, SyntheticSpec};
use cuzk_circuits::{
    CircuitId, CircuitVisitor, ProofRequest, SealVariant, SectorSize, WitnessLayout,
    with_blank_circuit,
};
use cuzk_r1cs::{
    CircuitLabel, CompiledCircuit, Entry, Fr, PackedWitness, RecordedCircuit, SynthesizedRows,
    TemplateEvaluator, VariableKinds, Witness, synthesize_witness,
};

use crate::fixture::fixture;

struct Compile;

impl CircuitVisitor for Compile {
    type Output = CompiledCircuit;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> CompiledCircuit {
        CompiledCircuit::compile(circuit, &|_| ()).expect("a blank circuit needs no values")
    }
}

struct Record;

impl CircuitVisitor for Record {
    type Output = RecordedCircuit;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> RecordedCircuit {
        RecordedCircuit::record(circuit).expect("a blank circuit needs no values")
    }
}

struct MakeWitness;

impl CircuitVisitor for MakeWitness {
    type Output = Witness;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Witness {
        synthesize_witness(circuit).expect("the circuit has values")
    }
}

/// The compiled circuit has the rows of a recording.
fn is_as_recorded(id: CircuitId, compiled: &CompiledCircuit, recorded: &RecordedCircuit) {
    assert_eq!(compiled.shape(), recorded.shape, "{id}");
    assert_eq!(compiled.densities(), &recorded.densities, "{id}");
    assert_eq!(compiled.coefficients(), recorded.coefficients, "{id}");
    assert_eq!(
        **compiled.kinds(),
        VariableKinds::of_circuit(recorded),
        "{id}"
    );
    assert_eq!(compiled.digest(), recorded.digest(), "{id}");
    let mut num_rows = 0;
    compiled.for_each_row(&mut |row, sides| {
        let expected: [&[Entry]; 3] =
            [&recorded.a, &recorded.b, &recorded.c].map(|matrix| matrix.row(row));
        assert!(sides == expected, "{id} row {row}");
        num_rows += 1;
    });
    assert_eq!(num_rows, recorded.shape.num_constraints, "{id}");
}

/// A file of less than `max_bytes` holds it.
fn is_kept_by_a_file(compiled: &CompiledCircuit, max_bytes: usize) {
    let label = CircuitLabel::default();
    let bytes = compiled.to_file_bytes(&label);
    assert!(bytes.len() < max_bytes, "{} bytes", bytes.len());
    let (again, _) = CompiledCircuit::from_file_bytes(&bytes).expect("a file just written");
    assert!(&again == compiled, "the file holds another circuit");
}

/// Each of a request's partitions has a witness with the circuit's kinds, of which less than a part in `share` is wide.
///
/// `see` is shown each witness, plain and packed.
fn packs(
    compiled: &CompiledCircuit,
    request: &ProofRequest,
    share: usize,
    see: impl Fn(&Witness, &PackedWitness),
) {
    let statement = request.decode().expect("a well-formed request");
    assert!(compiled.kinds().num_wide() < compiled.kinds().num_aux() / share);
    let kinds = Arc::clone(compiled.kinds());
    for partition in 0..statement.num_partitions() {
        let witness = statement
            .with_circuit(partition, MakeWitness)
            .expect("a partition");
        let packed = PackedWitness::pack(&kinds, &witness).expect("bits where rows force bits");
        assert!(packed.expand() == witness, "another witness");
        see(&witness, &packed);
    }
}

fn holds(id: &str, request: &ProofRequest, max_bytes: usize, share: usize) {
    let id = id.parse().expect("a circuit id");
    let compiled = with_blank_circuit(id, Compile);
    let recorded = with_blank_circuit(id, Record);
    is_as_recorded(id, &compiled, &recorded);
    is_kept_by_a_file(&compiled, max_bytes);
    let evaluator = TemplateEvaluator::new(&compiled);
    packs(&compiled, request, share, |witness, packed| {
        let evaluations = evaluator
            .evaluate(packed)
            .expect("a witness of the circuit");
        assert!(
            evaluations == recorded.evaluate(witness),
            "{id}: other values"
        );
        assert_eq!(evaluations.first_unsatisfied(), None, "{id}");
    });
}

#[test]
fn winning_post_compiles_to_its_rows_and_kinds() {
    let request = ProofRequest::WinningPoSt(fixture().winning.clone());
    holds("winning-2k", &request, 80_000, 1);
}

#[test]
fn window_post_compiles_to_its_rows_and_kinds() {
    let request = ProofRequest::WindowPoSt(fixture().window.clone());
    holds("wpost-2k", &request, 80_000, 1);
}

struct BuildRows<'a>(&'a PackedWitness, Fr);

impl CircuitVisitor for BuildRows<'_> {
    type Output = SynthesizedRows;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> SynthesizedRows {
        let Self(packed, point) = self;
        packed
            .synthesized_rows(circuit, point)
            .expect("the circuit has values")
    }
}

/// All rows of a partition about a synthetic sector have by templates, from an emitted witness, the values that upstream's
/// synthesis gives them, and a · b = c in each. No side keeps its rows.
fn evaluates_to_its_rows(kind: SyntheticKind, sector_size: SectorSize, partition: usize) {
    let spec = SyntheticSpec {
        kind,
        sector_size,
        seed: 1,
        data: SectorData::Random,
    };
    let id = spec.circuit_id();
    let request = spec.request().expect("a synthetic sector");
    let statement = request.decode().expect("a well-formed request");
    let compiled = with_blank_circuit(id, Compile);
    let layout = WitnessLayout::of_compiled(id, &compiled).expect("the same kinds");
    let packed = statement
        .packed_witness(partition, &layout)
        .expect("a well-formed statement");
    let evaluator = TemplateEvaluator::new(&compiled);
    // Nobody chooses rows with this point in view.
    let point = Fr::from(0x5eed_cafe_f00d_1234) * Fr::from(0x1234_5678_9abc_def1);
    let digest = evaluator
        .row_digest(&packed, point)
        .expect("a witness of the circuit");
    let rows = statement
        .with_circuit(partition, BuildRows(&packed, point))
        .expect("there is such a partition");
    assert_eq!(rows.difference, None, "{id}");
    assert_eq!(rows.num_rows, compiled.shape().num_constraints, "{id}");
    assert_eq!(rows.digest, digest, "{id}");
    evaluator
        .evaluate_blocks(&packed, rows.num_rows, &|first, [a, b, c]| {
            let violated = (0..a.len()).find(|&row| a[row] * b[row] != c[row]);
            assert_eq!(violated, None, "{id}: of the rows from {first} on");
        })
        .expect("a witness of the circuit");
}

/// These record or build millions of rows.
mod heavy {
    use super::*;

    #[test]
    fn every_kind_at_8_mib_evaluates_to_its_rows() {
        let replication = SyntheticKind::PoRep(SealVariant::V1_1);
        let window = SyntheticKind::WindowPoSt { num_sectors: 1 };
        for kind in [SyntheticKind::WinningPoSt, window, replication] {
            evaluates_to_its_rows(kind, SectorSize::Mib8, 0);
        }
        evaluates_to_its_rows(SyntheticKind::SnapDeals, SectorSize::Mib8, 1);
    }

    #[test]
    #[ignore = "minutes: recordings of 14 million rows, 3 GiB"]
    fn every_kind_at_8_mib_compiles_to_its_rows() {
        for id in ["winning-8m", "wpost-8m", "porep-8m", "snap-8m"] {
            let id = id.parse().expect("a circuit id");
            let recorded = with_blank_circuit(id, Record);
            is_as_recorded(id, &with_blank_circuit(id, Compile), &recorded);
        }
    }

    #[test]
    fn replication_compiles_to_its_rows_and_kinds() {
        let request = ProofRequest::PoRep(fixture().porep.clone());
        holds("porep-2k", &request, 3_000_000, 60);
    }

    #[test]
    fn sector_updates_compile_to_their_rows_and_kinds() {
        let request = ProofRequest::SnapDeals(fixture().snap.clone());
        holds("snap-2k", &request, 1_000_000, 60);
    }
}

/// Sizes of the main network, from synthetic sectors: minutes, and 5 GB where a plain witness is made.
mod large {
    use super::*;

    fn holds(kind: SyntheticKind, share: usize) {
        let spec = SyntheticSpec {
            kind,
            sector_size: SectorSize::Gib32,
            seed: 1,
            data: SectorData::Random,
        };
        let compiled = with_blank_circuit(spec.circuit_id(), Compile);
        assert_eq!(compiled.expanded_digest(&|_| ()), compiled.digest());
        is_kept_by_a_file(&compiled, 20 << 20);
        let request = spec.request().expect("a synthetic sector");
        packs(&compiled, &request, share, |_, _| ());
    }

    #[test]
    #[ignore = "minutes: 130 million rows, compiled and built"]
    fn a_partition_of_32_gib_replication_evaluates_to_its_rows() {
        let kind = SyntheticKind::PoRep(SealVariant::V1_1);
        evaluates_to_its_rows(kind, SectorSize::Gib32, 3);
    }

    #[test]
    #[ignore = "minutes: 81 million rows, compiled and built"]
    fn a_partition_of_a_32_gib_update_evaluates_to_its_rows() {
        evaluates_to_its_rows(SyntheticKind::SnapDeals, SectorSize::Gib32, 5);
    }

    #[test]
    #[ignore = "seconds: of the same size as the ones that take minutes"]
    fn winning_post_of_32_gib_evaluates_to_its_rows() {
        evaluates_to_its_rows(SyntheticKind::WinningPoSt, SectorSize::Gib32, 0);
    }

    #[test]
    #[ignore = "half an hour and 5 GiB: 125 million rows of nine terms, compiled and built"]
    fn a_partition_of_32_gib_window_post_evaluates_to_its_rows() {
        let kind = SyntheticKind::WindowPoSt { num_sectors: 3 };
        evaluates_to_its_rows(kind, SectorSize::Gib32, 0);
    }

    #[test]
    #[ignore = "half an hour on two cores"]
    fn replication_of_32_gib_compiles() {
        holds(SyntheticKind::PoRep(SealVariant::V1_1), 60);
    }

    #[test]
    #[ignore = "twenty minutes on two cores"]
    fn sector_updates_of_32_gib_compile() {
        holds(SyntheticKind::SnapDeals, 60);
    }

    #[test]
    #[ignore = "ten minutes on two cores"]
    fn window_post_of_32_gib_compiles() {
        holds(SyntheticKind::WindowPoSt { num_sectors: 2349 }, 1);
    }

    #[test]
    #[ignore = "of the same size as the ones that take minutes"]
    fn winning_post_of_32_gib_compiles() {
        holds(SyntheticKind::WinningPoSt, 1);
    }
}
