//! What a device must refuse before it begins, and what it says about its memory.

use std::sync::Arc;

use cuzk_groth16::{Blinding, DeviceError, Partition, ProverDevice};
use cuzk_r1cs::Fr;
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
            let outcome = device.load_circuit(&loaded, circuit.data.clone());
            let pair = format!("circuit {:?}, key of {:?}", circuit.name, key.name);
            match outcome {
                Ok(_) => assert_eq!(circuit.name, key.name, "{pair}: taken"),
                Err(DeviceError::Key(_)) => assert_ne!(circuit.name, key.name, "{pair}: refused"),
                Err(error) => panic!("{pair}: {error}"),
            }
        }
    }
}

/// Vectors of another length, and a witness without ONE, are refused by `start`.
///
/// # Panics
/// Panics when `start` takes them, or refuses them for another reason.
pub fn refuses_values_of_another_circuit(device: &dyn ProverDevice) {
    let case = Case::named("mixed bits");
    let start = |change: &dyn Fn(&mut Partition)| {
        let mut partition = case.partition(device, Blinding::random());
        change(&mut partition);
        device.start(partition)
    };
    let witness_changes: [&dyn Fn(&mut Partition); 3] = [
        &|partition| partition.witness.aux.push(Fr::ONE),
        &|partition| partition.witness.aux.clear(),
        &|partition| {
            partition.witness.inputs.pop();
        },
    ];
    for change in witness_changes {
        let error = start(change).expect_err("the witness has another length");
        assert!(
            matches!(error, DeviceError::WitnessLength { .. }),
            "{error}"
        );
    }
    let row_changes: [&dyn Fn(&mut Partition); 3] = [
        &|partition| partition.evaluations.a.push(Fr::ONE),
        &|partition| partition.evaluations.b.clear(),
        &|partition| {
            partition.evaluations.c.pop();
        },
    ];
    for change in row_changes {
        let error = start(change).expect_err("there are rows too many or too few");
        assert!(
            matches!(error, DeviceError::EvaluationLength { .. }),
            "{error}"
        );
    }
    let error = start(&|partition| partition.witness.inputs[0] = Fr::from(2))
        .expect_err("the first input is not ONE");
    assert!(matches!(error, DeviceError::FirstInput), "{error}");
}

/// A footprint is at least the bytes of the vectors that a stage is given, and never shrinks as circuits grow.
///
/// # Panics
/// Panics with the circuit's name when it claims less.
pub fn footprint_covers_what_it_holds(device: &dyn ProverDevice) {
    for case in Case::all() {
        let shape = case.data.shape;
        let footprint = device.footprint(&case.data);
        let scalars = shape.num_inputs + shape.num_aux + 3 * shape.num_rows();
        assert!(
            footprint.partition_bytes >= scalars * size_of::<Fr>(),
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
    let [small, large] = [small, large].map(|case| device.footprint(&case.data));
    assert!(large.start_bytes > small.start_bytes);
    assert!(large.partition_bytes > small.partition_bytes);
}
