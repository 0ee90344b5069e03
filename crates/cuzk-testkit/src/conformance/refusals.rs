//! What a device must refuse before it begins, and what it says about its memory.

use std::sync::Arc;

use cuzk_groth16::{Blinding, DeviceError, ProverDevice};
use cuzk_r1cs::{Fr, PackedWitness, VariableKinds, Witness};
use ff::Field;

use super::Case;

/// A circuit whose counts are not those of the key is refused, however near they are.
///
/// # Panics
/// Panics when a circuit is taken with another one's key.
pub fn refuses_a_circuit_of_another_key(device: &dyn ProverDevice) {
    let cases = [
        "no constraints",
        "all bits zero",
        "all bits one",
        "a full domain",
        "a row beyond",
    ]
    .map(Case::named);
    for key in &cases {
        let loaded = device
            .load_key(Arc::clone(key.key()))
            .expect("the key is whole");
        for circuit in &cases {
            let outcome = device.load_circuit(&loaded, Arc::clone(&circuit.circuit));
            let pair = format!("circuit {:?}, key of {:?}", circuit.name, key.name);
            match outcome {
                Ok(_) => assert_eq!(circuit.name, key.name, "{pair}: taken"),
                Err(DeviceError::Key(_)) => assert_ne!(circuit.name, key.name, "{pair}: refused"),
                Err(error) => panic!("{pair}: {error}"),
            }
        }
    }
}

/// Witnesses of other circuits are refused by `start`, whether lengths or only kinds differ.
///
/// # Panics
/// Panics when `start` takes them, or refuses them for another reason.
pub fn refuses_values_of_another_circuit(device: &dyn ProverDevice) {
    let case = Case::named("mixed bits");
    let other_length = [Case::named("a full domain"), Case::named("no constraints")];
    for other in &other_length {
        let mut partition = case.partition(device, Blinding::random());
        partition.witness = other.partition(device, Blinding::random()).witness;
        let error = device
            .start(partition)
            .expect_err("a witness of another length");
        assert!(
            matches!(error, DeviceError::WitnessLength { .. }),
            "{error}"
        );
    }
    let mut inputs = case.witness.clone();
    inputs.inputs.push(Fr::ONE);
    let mut partition = case.partition(device, Blinding::random());
    partition.witness = pack(case.circuit.kinds(), &inputs);
    let error = device
        .start(partition)
        .expect_err("there is an input too many");
    assert!(
        matches!(error, DeviceError::WitnessLength { .. }),
        "{error}"
    );
}

/// Values that violate a row are refused with the first such row, by `start` or `finish`.
///
/// # Panics
/// Panics when they are proved, or another row is named.
pub fn refuses_values_that_violate_a_row(device: &dyn ProverDevice) {
    for name in ["a full domain", "mixed bits", "small factors"] {
        let case = Case::named(name);
        let rows = |witness: &Witness| case.circuit.evaluate_row_by_row(witness);
        let violated = (0..case.witness.aux.len()).find_map(|variable| {
            let mut witness = case.witness.clone();
            witness.aux[variable] = if witness.aux[variable] == Fr::ONE {
                Fr::ZERO
            } else {
                Fr::ONE
            };
            let row = rows(&witness).first_unsatisfied()?;
            Some((pack(case.circuit.kinds(), &witness), row))
        });
        let (witness, expected) = violated.expect("a changed variable violates a row");
        let mut partition = case.partition(device, Blinding::random());
        partition.witness = witness;
        let proved = device
            .start(partition)
            .and_then(|pending| device.finish(pending));
        match proved.expect_err("nothing to prove") {
            DeviceError::Unsatisfied { row } => assert_eq!(row, expected, "{name}"),
            error => panic!("{name}: {error}"),
        }
    }
}

fn pack(kinds: &Arc<VariableKinds>, witness: &Witness) -> PackedWitness {
    PackedWitness::pack(kinds, witness).expect("booleans are 0 or 1")
}

/// A footprint is at least the bytes of the vectors that a stage is given, and never shrinks as circuits grow.
///
/// # Panics
/// Panics with the circuit's name when it claims less.
pub fn footprint_covers_what_it_holds(device: &dyn ProverDevice) {
    for case in Case::all() {
        let footprint = device.footprint(&case.circuit);
        let witness = pack(case.circuit.kinds(), &case.witness);
        assert!(
            footprint.partition_bytes >= witness.num_bytes(),
            "{}",
            case.name
        );
        assert!(
            footprint.start_bytes >= footprint.partition_bytes,
            "{}",
            case.name
        );
        assert!(
            footprint.finish_bytes >= footprint.pending_bytes,
            "{}",
            case.name
        );
    }
    let [small, large] = ["small factors", "a row beyond"].map(Case::named);
    let [small, large] = [small, large].map(|case| device.footprint(&case.circuit));
    assert!(large.start_bytes > small.start_bytes);
    assert!(large.partition_bytes > small.partition_bytes);
}
