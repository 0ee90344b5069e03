//! What a client sends becomes a satisfied circuit with upstream's public inputs.

use bellpepper_core::Circuit;
use cuzk_circuits::{
    CircuitVisitor, Family, PartitionRule, PoStProof, PoStRequest, PoStVariant, ProofRequest,
    SealVariant, Statement, prover_id,
};
use cuzk_r1cs::{Fr, SatisfactionError, check_satisfied, synthesize_witness};
use filecoin_proofs::parameters::window_post_public_params;
use filecoin_proofs::{SectorShape2KiB, as_safe_commitment, get_sector_update_inputs};
use filecoin_proofs_api::seal::get_seal_inputs;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::sector::SectorId;
use storage_proofs_post::fallback::{
    FallbackPoSt, FallbackPoStCircuit, FallbackPoStCompound, PublicInputs, PublicSector,
};

use crate::fixture::{MINER_ID, RANDOMNESS, c1_text, fixture, with_c1, with_c1_text};

/// Counts the constraints of a satisfied circuit.
pub(crate) struct Satisfied;

impl CircuitVisitor for Satisfied {
    type Output = Result<usize, SatisfactionError>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        check_satisfied(circuit, &|_| ())
    }
}

/// The public inputs that synthesis allocates, without ONE.
struct AllocatedInputs;

impl CircuitVisitor for AllocatedInputs {
    type Output = Vec<Fr>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Vec<Fr> {
        synthesize_witness(circuit)
            .expect("all values are there")
            .inputs
            .split_off(1)
    }
}

fn decode(request: &ProofRequest) -> Statement {
    let circuit_id = request.circuit_id().expect("a known registered proof");
    let statement = request.decode().expect("a request as clients send it");
    assert_eq!(statement.circuit_id(), circuit_id);
    statement
}

/// Every partition is satisfied, has the measured size, and allocates its public inputs.
fn expect_provable(statement: &Statement) {
    let info = statement.circuit_id().info();
    statement
        .check_vanilla()
        .expect("upstream made the vanilla proof");
    for partition in 0..statement.num_partitions() {
        let num_constraints = statement
            .with_circuit(partition, Satisfied)
            .expect("a partition")
            .expect("satisfied");
        assert_eq!(Some(num_constraints), info.num_constraints);
        let inputs = statement.public_inputs(partition).expect("a partition");
        assert_eq!(inputs.len() + 1, info.num_inputs);
        let allocated = statement
            .with_circuit(partition, AllocatedInputs)
            .expect("a partition");
        assert_eq!(allocated, inputs);
    }
}

fn window_statement(request: PoStRequest) -> Statement {
    decode(&ProofRequest::WindowPoSt(request))
}

#[test]
fn a_replication_is_provable_with_upstreams_inputs() {
    let fixture = fixture();
    let statement = decode(&ProofRequest::PoRep(fixture.porep.clone()));
    expect_provable(&statement);
    let sector = &fixture.sector;
    let expected = get_seal_inputs(
        sector.spec().seal_proof.upstream(),
        sector.comm_r(),
        sector.comm_d(),
        sector.prover_id(),
        SectorId::from(sector.spec().sector_number),
        sector.ticket(),
        sector.seed(),
    )
    .expect("upstream's inputs");
    assert_eq!(expected.len(), 1);
    assert_eq!(
        statement.public_inputs(0).expect("a partition"),
        expected[0]
    );
}

#[test]
fn a_synthetic_replication_is_provable() {
    let request = fixture().synthetic_porep.clone();
    let proof = cuzk_circuits::SealProof::from_number(request.registered_proof);
    assert_eq!(
        proof.map(|proof| proof.variant),
        Ok(SealVariant::SyntheticPoRep)
    );
    expect_provable(&decode(&ProofRequest::PoRep(request)));
}

#[test]
fn an_update_is_provable_with_upstreams_inputs() {
    let fixture = fixture();
    let statement = decode(&ProofRequest::SnapDeals(fixture.snap.clone()));
    expect_provable(&statement);
    let expected = get_sector_update_inputs::<SectorShape2KiB>(
        &fixture.sector.spec().seal_proof.upstream().as_v1_config(),
        fixture.updated.comm_r_old(),
        fixture.updated.comm_r_new(),
        fixture.updated.comm_d_new(),
    )
    .expect("upstream's inputs");
    assert_eq!(expected.len(), 1);
    assert_eq!(
        statement.public_inputs(0).expect("a partition"),
        expected[0]
    );
}

#[test]
fn an_update_may_leave_out_the_sector_size() {
    let mut request = fixture().snap.clone();
    request.sector_size = 0;
    let statement = decode(&ProofRequest::SnapDeals(request));
    assert_eq!(statement.circuit_id().to_string(), "snap-2k");
}

#[test]
fn a_winning_post_is_provable() {
    let statement = decode(&ProofRequest::WinningPoSt(fixture().winning.clone()));
    assert_eq!(statement.num_partitions(), 1);
    expect_provable(&statement);
}

#[test]
fn window_posts_of_both_versions_are_provable_with_upstreams_inputs() {
    let fixture = fixture();
    for request in [&fixture.window_v1, &fixture.window] {
        let statement = window_statement(request.clone());
        assert_eq!(statement.num_partitions(), 2);
        expect_provable(&statement);
        for (partition, expected) in upstream_window_inputs(request).into_iter().enumerate() {
            let inputs = statement.public_inputs(partition).expect("a partition");
            assert_eq!(inputs, expected, "partition {partition}");
        }
    }
}

/// The inputs of both partitions of a call about sectors 1, 2, 3.
fn upstream_window_inputs(request: &PoStRequest) -> Vec<Vec<Fr>> {
    type Tree = SectorShape2KiB;
    let proof = PoStProof::from_number(request.registered_proof).expect("registered");
    let config = proof.upstream().as_v1_config();
    let mut randomness = RANDOMNESS;
    randomness[31] &= 0x3f;
    let sectors = request
        .vanilla_proofs
        .iter()
        .map(|bytes| {
            let proof: filecoin_proofs::FallbackPoStSectorProof<Tree> =
                bincode::deserialize(bytes).expect("a vanilla proof");
            PublicSector {
                id: proof.sector_id,
                comm_r: proof.comm_r,
            }
        })
        .collect();
    let inputs = PublicInputs {
        randomness: as_safe_commitment(&randomness, "randomness").expect("masked"),
        prover_id: as_safe_commitment(&prover_id(MINER_ID), "prover_id").expect("small"),
        sectors,
        k: None,
    };
    let params = window_post_public_params::<Tree>(&config).expect("parameters");
    (0..2)
        .map(|partition| {
            <FallbackPoStCompound<Tree> as CompoundProof<
                FallbackPoSt<'_, Tree>,
                FallbackPoStCircuit<Tree>,
            >>::generate_public_inputs(&inputs, &params, Some(partition))
            .expect("inputs")
        })
        .collect()
}

#[test]
fn a_later_partition_of_a_call_is_the_same_alone_or_together() {
    for request in [&fixture().window_v1, &fixture().window] {
        let together = window_statement(request.clone());
        let alone = window_statement(PoStRequest {
            partition_index: 1,
            vanilla_proofs: request.vanilla_proofs[2..].to_vec(),
            ..request.clone()
        });
        assert_eq!(alone.num_partitions(), 1);
        expect_provable(&alone);
        assert_eq!(
            alone.public_inputs(0).expect("a partition"),
            together.public_inputs(1).expect("a partition")
        );
    }
}

#[test]
fn challenges_depend_on_the_place_in_the_call_in_the_first_version_only() {
    let misplaced = |request: &PoStRequest| {
        ProofRequest::WindowPoSt(PoStRequest {
            partition_index: 0,
            vanilla_proofs: request.vanilla_proofs[2..].to_vec(),
            ..request.clone()
        })
        .decode()
    };
    let error = misplaced(&fixture().window_v1).expect_err("other challenges");
    assert!(error.to_string().contains("challenge"), "{error}");
    misplaced(&fixture().window).expect("challenges of the sector alone");
}

#[test]
fn the_top_bits_of_the_randomness_do_not_matter() {
    let mut request = fixture().winning.clone();
    let mut randomness = RANDOMNESS;
    randomness[31] ^= 0xc0;
    request.randomness = randomness.to_vec().into();
    let masked = decode(&ProofRequest::WinningPoSt(request));
    let plain = decode(&ProofRequest::WinningPoSt(fixture().winning.clone()));
    assert_eq!(
        masked.public_inputs(0).expect("a partition"),
        plain.public_inputs(0).expect("a partition")
    );
}

#[test]
fn a_partition_that_does_not_exist_is_refused() {
    let statement = decode(&ProofRequest::WinningPoSt(fixture().winning.clone()));
    let error = statement.public_inputs(1).expect_err("one partition only");
    assert_eq!(
        error.to_string(),
        "winning-2k partition 1 does not exist, the proof has 1"
    );
    assert!(statement.with_circuit(1, Satisfied).is_err());
    assert!(statement.check_vanilla_partition(1).is_err());
}

#[test]
fn c1_output_is_accepted_as_go_programs_write_it() {
    let request = &fixture().porep;
    // Keys in another order, and without the phantom field that Go structs lack.
    let reordered = with_c1(request, |_| ());
    let without_phantom = c1_text(&reordered).replace("\"_h\":null,", "");
    assert_ne!(without_phantom, c1_text(&reordered));
    let spaced = c1_text(request).replace("],\"", "],\n\t\"");
    assert_ne!(spaced, c1_text(request));
    let expected = decode(&ProofRequest::PoRep(request.clone()));
    for request in [
        reordered.clone(),
        with_c1_text(request, &without_phantom),
        with_c1_text(request, &spaced),
        escaped(request),
    ] {
        let statement = decode(&ProofRequest::PoRep(request));
        assert_eq!(
            statement.public_inputs(0).expect("a partition"),
            expected.public_inputs(0).expect("a partition")
        );
    }
}

/// The same request with one character of the wrapper's string escaped, and with spaces.
fn escaped(request: &cuzk_circuits::PoRepRequest) -> cuzk_circuits::PoRepRequest {
    let text = String::from_utf8(request.vanilla_proof.to_vec()).expect("text");
    let escaped = text.replacen("\"Phase1Out\":\"e", "\n \"Phase1Out\" : \"\\u0065", 1);
    assert_ne!(escaped, text);
    cuzk_circuits::PoRepRequest {
        vanilla_proof: escaped.into(),
        ..request.clone()
    }
}

#[test]
fn partitions_follow_the_registry() {
    for (request, family) in [
        (ProofRequest::PoRep(fixture().porep.clone()), Family::PoRep),
        (
            ProofRequest::SnapDeals(fixture().snap.clone()),
            Family::SnapDeals,
        ),
    ] {
        assert_eq!(request.family(), family);
        let statement = decode(&request);
        assert_eq!(
            statement.circuit_id().info().partitions,
            PartitionRule::Fixed(statement.num_partitions())
        );
    }
}

#[test]
fn a_post_of_the_wrong_family_is_refused_by_its_header() {
    let request = ProofRequest::WindowPoSt(fixture().winning.clone());
    let error = request.circuit_id().expect_err("a winning proof");
    assert_eq!(
        error.to_string(),
        "registered_proof StackedDrgWinning2KiBV1 does not belong to a WindowPoSt request"
    );
    let error = request.decode().expect_err("a winning proof");
    assert!(error.to_string().contains("does not belong"), "{error}");
    let variant = PoStVariant::Winning;
    assert_eq!(variant.family(), Family::WinningPoSt);
}

#[test]
fn a_statement_can_be_shared_by_threads() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    shared(&decode(&ProofRequest::WinningPoSt(
        fixture().winning.clone(),
    )));
}
