//! Proofs that share a pass over a streamed key: each is what it would be by itself, and what befalls one befalls no other.

use std::{fs, sync::Arc};

use cuzk_cuda::{CudaDevice, Device, PassPlan, PendingTimes, ProofTimes, Streaming};
use cuzk_groth16::{
    Blinding, DeviceError, FormatError, KeyError, LoadedCircuit, Partition, PendingProof, Proof,
    ProverDevice, ProvingKey, ReferenceDevice, Section,
};
use cuzk_r1cs::{Fr, PackedWitness, Witness};
use cuzk_testkit::conformance::Case;
use ff::Field;

use crate::{device, keys::damaged};

/// Parts of few bases, and fewer quotients at a time than proofs.
const PLAN: PassPlan = PassPlan {
    max_g1: 40,
    quotients: 2,
    proofs: 5,
};

/// Room for a pass over a small key, of which most is for the sums over bits.
const LIMIT: u64 = 4 << 30;

fn planned() -> CudaDevice {
    CudaDevice::streaming(device(), Streaming::Planned(PLAN))
}

fn blinding(number: u64) -> Blinding {
    Blinding::from_parts(Fr::from(number + 1), -Fr::from(number + 7))
}

fn partition(circuit: &LoadedCircuit, witness: &Witness, number: u64) -> Partition {
    Partition {
        circuit: circuit.clone(),
        witness: PackedWitness::pack(circuit.circuit().kinds(), witness).unwrap(),
        blinding: blinding(number),
    }
}

/// Starts `count` proofs of a case's own values.
fn start(
    device: &CudaDevice,
    circuit: &LoadedCircuit,
    case: &Case,
    count: u64,
) -> Vec<PendingProof> {
    let started = start_timed(device, circuit, case, count).into_iter();
    started.map(|(pending, _)| pending).collect()
}

fn start_timed(
    device: &CudaDevice,
    circuit: &LoadedCircuit,
    case: &Case,
    count: u64,
) -> Vec<(PendingProof, PendingTimes)> {
    let partitions = (0..count).map(|number| partition(circuit, &case.witness, number));
    partitions
        .map(|partition| device.start_timed(partition).unwrap())
        .collect()
}

/// How many proofs each pass had: those that share one have equal shares of its times, and no two passes take the same to the
/// nanosecond in all stages.
fn sizes_of_passes(times: impl Iterator<Item = PendingTimes>) -> Vec<usize> {
    let mut passes: Vec<(ProofTimes, usize)> = Vec::new();
    for times in times {
        let times = *times.get().expect("the proof is finished");
        match passes.iter_mut().find(|(own, _)| *own == times) {
            Some((_, count)) => *count += 1,
            None => passes.push((times, 1)),
        }
    }
    passes.into_iter().map(|(_, count)| count).collect()
}

fn expect_reference(case: &Case, proof: &Proof, number: u64) {
    let expected = case.prove(&ReferenceDevice, blinding(number));
    assert_eq!(
        proof.to_bytes(),
        expected.to_bytes(),
        "{}, {number}",
        case.name
    );
}

/// A witness that violates a row, and the first such row.
fn violating(case: &Case) -> (Witness, usize) {
    let changed = (0..case.witness.aux.len()).map(|variable| {
        let mut witness = case.witness.clone();
        let value = &mut witness.aux[variable];
        *value = if *value == Fr::ONE { Fr::ZERO } else { Fr::ONE };
        witness
    });
    let violated = changed.filter_map(|witness| {
        let row = case
            .circuit
            .evaluate_row_by_row(&witness)
            .first_unsatisfied()?;
        Some((witness, row))
    });
    violated.take(1).next().unwrap()
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_proofs_that_share_a_pass_have_the_bytes_of_the_reference() {
    let device = planned();
    for name in ["small factors", "mimc", "mixed bits", "inputs only"] {
        let case = Case::named(name);
        let circuit = case.load(&device);
        assert_eq!(device.proofs_per_pass(&circuit).get(), PLAN.proofs);
        let (started, times): (Vec<_>, Vec<_>) =
            start_timed(&device, &circuit, &case, 7).into_iter().unzip();
        for (number, pending) in started.into_iter().enumerate().rev() {
            let proof = device.finish(pending).unwrap();
            expect_reference(&case, &proof, number as u64);
        }
        // The last one led the first pass.
        assert_eq!(sizes_of_passes(times.into_iter().rev()), [5, 2], "{name}");
    }
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_proofs_that_are_finished_by_many_threads_share_passes() {
    let device = planned();
    let case = Case::named("small factors");
    let circuit = case.load(&device);
    let (started, times): (Vec<_>, Vec<_>) = start_timed(&device, &circuit, &case, 12)
        .into_iter()
        .unzip();
    std::thread::scope(|scope| {
        for (number, pending) in (0..).zip(started) {
            let (device, case) = (&device, &case);
            scope.spawn(move || {
                let proof = device.finish(pending).unwrap();
                expect_reference(case, &proof, number);
            });
        }
    });
    // All were started before the first was finished.
    let mut sizes = sizes_of_passes(times.into_iter());
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 5, 5]);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_dropped_proof_leaves_the_others_of_its_pass_alone() {
    let device = planned();
    let case = Case::named("mimc");
    let circuit = case.load(&device);
    let mut started = start(&device, &circuit, &case, 5);
    // Before the pass.
    drop(started.remove(1));
    let last = started.pop().unwrap();
    expect_reference(&case, &device.finish(last).unwrap(), 4);
    // After it, unread.
    drop(started.remove(1));
    for (number, pending) in [0, 3].into_iter().zip(started) {
        expect_reference(&case, &device.finish(pending).unwrap(), number);
    }
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_violated_row_fails_only_its_own_proof() {
    let device = planned();
    let case = Case::named("small factors");
    let circuit = case.load(&device);
    let (witness, expected) = violating(&case);
    let mut started = start(&device, &circuit, &case, 4);
    let violated = device.start(partition(&circuit, &witness, 9)).unwrap();
    started.insert(2, violated);
    let mut number = 0;
    for (place, pending) in started.into_iter().enumerate() {
        match device.finish(pending) {
            Ok(proof) if place != 2 => {
                expect_reference(&case, &proof, number);
                number += 1;
            }
            Err(DeviceError::Unsatisfied { row }) if place == 2 => assert_eq!(row, expected),
            other => panic!("proof {place}: {other:?}"),
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_pass_stays_within_the_limit_and_gives_all_memory_back() {
    let opened = Device::open(0, LIMIT).unwrap();
    let device = CudaDevice::streaming(opened, Streaming::All);
    let case = Case::named("mimc");
    let circuit = case.load(&device);
    let count = device.proofs_per_pass(&circuit).get() as u64;
    assert!(count > 1);
    let tables = device.device().used_memory();
    for _ in 0..2 {
        let started = start(&device, &circuit, &case, count);
        assert_eq!(device.device().used_memory(), tables);
        for (number, pending) in (0..).zip(started) {
            let proof = device.finish(pending).unwrap();
            expect_reference(&case, &proof, number);
        }
        assert_eq!(device.device().used_memory(), tables);
    }
    assert!(device.device().peak_memory() <= LIMIT);
    drop(circuit);
    assert_eq!(device.device().used_memory(), 0);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_limit_below_one_proof_is_told_when_the_circuit_is_loaded() {
    let opened = Device::open(0, 64 << 20).unwrap();
    let device = CudaDevice::streaming(opened, Streaming::All);
    let case = Case::named("mimc");
    let key = device.load_key(Arc::clone(case.key())).unwrap();
    let loaded = device.load_circuit(&key, Arc::clone(&case.circuit));
    match loaded {
        Err(DeviceError::MemoryLimit {
            needed_bytes,
            limit_bytes,
            ..
        }) => assert!(needed_bytes > limit_bytes),
        other => panic!("{other:?}"),
    }
    assert_eq!(device.device().used_memory(), 0);
}

/// Loads a case's circuit with another key.
fn load_with(device: &CudaDevice, case: &Case, key: ProvingKey) -> LoadedCircuit {
    let key = device.load_key(Arc::new(key)).unwrap();
    device
        .load_circuit(&key, Arc::clone(&case.circuit))
        .unwrap()
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_pass_over_a_key_with_a_bad_point_fails_all_its_proofs_with_the_place() {
    let device = planned();
    let case = Case::named("mimc");
    let folder = tempfile::tempdir().unwrap();
    for section in [Section::H, Section::L, Section::BG2] {
        let width = section.point_bytes();
        let last = case.key().section_bytes(section).len() / width - 1;
        let key = damaged(
            case.key(),
            section,
            |bytes| bytes[(last + 1) * width - 1] ^= 1,
            folder.path(),
        );
        let circuit = load_with(&device, &case, key);
        for pending in start(&device, &circuit, &case, 3) {
            match device.finish(pending) {
                Err(DeviceError::Key(error)) => match *error {
                    KeyError::Format {
                        defect:
                            FormatError::Point {
                                section: found,
                                index,
                                ..
                            },
                        ..
                    } => assert_eq!((found, index), (section, last)),
                    error => panic!("{error}"),
                },
                other => panic!("{section}: {other:?}"),
            }
        }
    }
    let proof = case.prove(&device, blinding(0));
    expect_reference(&case, &proof, 0);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_pass_over_a_file_that_was_cut_fails_all_its_proofs_and_not_the_process() {
    let device = planned();
    let case = Case::named("mimc");
    let folder = tempfile::tempdir().unwrap();
    let key = damaged(case.key(), Section::H, |_| (), folder.path());
    let path = key.path().to_path_buf();
    let circuit = load_with(&device, &case, key);
    let started = start(&device, &circuit, &case, 3);
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(1000)
        .unwrap();
    for pending in started {
        match device.finish(pending) {
            Err(DeviceError::Key(error)) => {
                assert!(matches!(*error, KeyError::Io { path: found, .. } if found == path));
            }
            other => panic!("{other:?}"),
        }
    }
    let proof = case.prove(&device, blinding(0));
    expect_reference(&case, &proof, 0);
}
