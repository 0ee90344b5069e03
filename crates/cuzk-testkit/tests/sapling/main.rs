//! A circuit of another project, with the key of its public ceremony and an independent verifier.

mod adapter;
mod ceremony;
mod statements;

use bellman::groth16::create_proof;
use cuzk_groth16::{Blinding, CpuDevice, CpuSettings, Proof};
use cuzk_r1cs::{Fr, RecordedCircuit, check_satisfied};
use sapling_crypto::circuit::{OutputParameters, SpendParameters};

use adapter::FromBellman;
use ceremony::CeremonyKey;
use statements::{OutputStatement, SpendStatement};

fn device() -> CpuDevice {
    CpuDevice::new(CpuSettings::default()).expect("the system starts threads")
}

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

#[test]
fn an_output_proved_with_the_ceremony_key_passes_a_nodes_check() {
    let key = CeremonyKey::output();
    let parameters = OutputParameters::read(key.bytes(), false).expect("bellman reads its own key");
    let (statement, other) = (OutputStatement::new(2), OutputStatement::new(3));
    let proof = key.prove(
        &device(),
        FromBellman(statement.circuit.clone()),
        Blinding::random(),
    );
    assert!(statement.accepts(&proof.to_bytes(), &parameters));
    assert!(
        !other.accepts(&proof.to_bytes(), &parameters),
        "the proof is of one statement only"
    );
}

#[test]
fn a_spend_proved_with_the_ceremony_key_passes_a_nodes_check() {
    let key = CeremonyKey::spend();
    let parameters = SpendParameters::read(key.bytes(), false).expect("bellman reads its own key");
    let (statement, other) = (SpendStatement::new(4), SpendStatement::new(5));
    let proof = key.prove(
        &device(),
        FromBellman(statement.circuit.clone()),
        Blinding::random(),
    );
    assert!(statement.accepts(&proof.to_bytes(), &parameters));
    assert!(
        !other.accepts(&proof.to_bytes(), &parameters),
        "the proof is of one statement only"
    );
}

#[test]
fn bellman_gives_the_same_bytes_for_the_same_blinding() {
    let key = CeremonyKey::output();
    let parameters = bellman::groth16::Parameters::<bls12_381::Bls12>::read(key.bytes(), false)
        .expect("bellman reads its own key");
    let statement = OutputStatement::new(6);
    let (r, s) = (1_234_567, 7_654_321);
    let blinding = Blinding::from_parts(Fr::from(r), Fr::from(s));
    let ours = key.prove(&device(), FromBellman(statement.circuit.clone()), blinding);
    let theirs = create_proof(statement.circuit.clone(), &parameters, r.into(), s.into())
        .expect("bellman proves its own circuit");
    let mut bytes = Vec::new();
    theirs.write(&mut bytes).expect("writing to memory");
    assert_eq!(ours.to_bytes()[..], bytes);
    let parsed = Proof::parse_exactly(&bytes, 1).expect("bellman writes a proof");
    key.verify(FromBellman(statement.circuit), &parsed[0]);
}
