//! Both devices against each other and against bellperson: the same blinding gives the same bytes.

use std::num::NonZeroUsize;
use std::sync::Arc;

use bellperson::groth16::{Parameters, create_proof};
use blstrs::{Bls12, Scalar};
use cuzk_r1cs::{DirectEvaluation, RecordedCircuit, evaluate};
use ff::Field;
use tempfile::TempDir;

use super::*;
use crate::assembly::Blinding;
use crate::curve::Arithmetic;
use crate::key::{KeyError, OpenOptions, Section};
use crate::msm::MsmSettings;
use crate::setup::test_circuits::RandomCircuit;
use crate::setup::{KeyFiles, ToxicWaste, generate};
use crate::verify::verify;
use crate::verifying_key::PreparedVerifyingKey;

/// A circuit with its development key on disk.
struct Fixture {
    folder: TempDir,
    circuit: RandomCircuit,
    key: Arc<ProvingKey>,
    direct: DirectEvaluation,
}

impl Fixture {
    fn new(num_public: usize, num_products: usize) -> Self {
        let circuit = RandomCircuit {
            seed: (num_public * 1000 + num_products) as u64,
            num_public,
            num_products,
        };
        let folder = tempfile::tempdir().expect("folder");
        let (params, verifying_key) = (folder.path().join("k.params"), folder.path().join("k.vk"));
        let recorded = RecordedCircuit::record(circuit.clone()).expect("recorded");
        let [tau, alpha, beta, gamma, delta] = [3, 5, 7, 11, 13].map(Scalar::from);
        let waste = ToxicWaste::from_parts(tau, alpha, beta, gamma, delta).expect("distinct");
        let files = KeyFiles {
            params: &params,
            verifying_key: &verifying_key,
            replace: false,
        };
        generate(&recorded, &waste, &files, &|_| ()).expect("key");
        let key = ProvingKey::open(&params, &OpenOptions::default()).expect("key opens");
        let direct = evaluate(circuit.clone()).expect("the circuit has values");
        Self {
            folder,
            circuit,
            key: Arc::new(key),
            direct,
        }
    }

    fn circuit_data(&self) -> CircuitData {
        CircuitData {
            shape: self.direct.shape,
            densities: Arc::new(self.direct.densities.clone()),
        }
    }

    fn partition(&self, device: &dyn ProverDevice, blinding: Blinding) -> Partition {
        let key = device.load_key(Arc::clone(&self.key)).expect("sound key");
        let circuit = device
            .load_circuit(&key, self.circuit_data())
            .expect("the circuit's key");
        Partition {
            circuit,
            witness: self.direct.witness.clone(),
            evaluations: self.direct.evaluations.clone(),
            blinding,
        }
    }

    fn prove(&self, device: &dyn ProverDevice, blinding: Blinding) -> Proof {
        let pending = device
            .start(self.partition(device, blinding))
            .expect("started");
        device.finish(pending).expect("finished")
    }

    /// The proof that bellperson makes of the same circuit with the same key.
    fn bellperson(&self, blinding: Blinding) -> [u8; 192] {
        let file = std::fs::File::open(self.folder.path().join("k.params")).expect("key");
        let parameters = Parameters::<Bls12>::read(file, true).expect("bellperson reads the key");
        let proof = create_proof(self.circuit.clone(), &parameters, blinding.r, blinding.s)
            .expect("bellperson proves");
        let mut bytes = Vec::new();
        proof.write(&mut bytes).expect("written");
        bytes.try_into().expect("192 bytes")
    }
}

fn cpu(threads: usize, tail_threads: usize, arithmetic: Arithmetic) -> CpuDevice {
    let number = |count| NonZeroUsize::new(count).expect("not zero");
    CpuDevice::new(CpuSettings {
        threads: number(threads),
        tail_threads: number(tail_threads),
        msm: MsmSettings {
            arithmetic,
            window_bits: None,
        },
    })
    .expect("threads start")
}

fn blinding() -> Blinding {
    Blinding::from_parts(Scalar::from(123), -Scalar::from(456))
}

#[test]
fn all_devices_and_bellperson_make_the_same_bytes_and_the_proof_verifies() {
    for (num_public, num_products) in [(0, 1), (1, 2), (3, 50), (7, 400)] {
        let fixture = Fixture::new(num_public, num_products);
        let expected = fixture.bellperson(blinding());
        let devices: [&dyn ProverDevice; 4] = [
            &ReferenceDevice,
            &cpu(1, 1, Arithmetic::Portable),
            &cpu(3, 2, Arithmetic::Fastest),
            &cpu(2, 1, Arithmetic::Portable),
        ];
        for device in devices {
            let proof = fixture.prove(device, blinding());
            assert_eq!(
                proof.to_bytes(),
                expected,
                "{num_public} inputs, {num_products} products, {:?}",
                device.describe()
            );
            let prepared = PreparedVerifyingKey::new(fixture.key.verifying_key());
            verify(&prepared, &fixture.circuit.public_inputs(), &proof).expect("verifies");
        }
    }
}

#[test]
fn a_circuit_larger_than_any_block_of_the_multiplications_equals_bellperson() {
    let fixture = Fixture::new(2, 20_000);
    let proof = fixture.prove(&cpu(2, 2, Arithmetic::Fastest), blinding());
    assert_eq!(proof.to_bytes(), fixture.bellperson(blinding()));
}

#[test]
fn fresh_blinding_changes_the_bytes_and_the_proof_still_verifies() {
    let fixture = Fixture::new(2, 20);
    let device = cpu(1, 1, Arithmetic::Fastest);
    let first = fixture.prove(&device, Blinding::random());
    let second = fixture.prove(&device, Blinding::random());
    assert_ne!(first.to_bytes(), second.to_bytes());
    let prepared = PreparedVerifyingKey::new(fixture.key.verifying_key());
    for proof in [first, second] {
        verify(&prepared, &fixture.circuit.public_inputs(), &proof).expect("verifies");
    }
}

#[test]
fn a_pending_proof_can_be_dropped_and_the_next_one_succeeds() {
    let fixture = Fixture::new(1, 30);
    for device in [
        &cpu(1, 1, Arithmetic::Fastest) as &dyn ProverDevice,
        &ReferenceDevice,
    ] {
        drop(
            device
                .start(fixture.partition(device, blinding()))
                .expect("started"),
        );
        let proof = fixture.prove(device, blinding());
        assert_eq!(proof.to_bytes(), fixture.bellperson(blinding()));
    }
}

#[test]
fn pending_proofs_may_be_finished_in_any_order_and_on_other_threads() {
    let fixture = Fixture::new(1, 30);
    let device = cpu(2, 1, Arithmetic::Fastest);
    let pending: Vec<PendingProof> = (0..3)
        .map(|_| {
            device
                .start(fixture.partition(&device, blinding()))
                .expect("started")
        })
        .collect();
    let expected = fixture.bellperson(blinding());
    std::thread::scope(|scope| {
        for pending in pending.into_iter().rev() {
            let device = &device;
            scope.spawn(move || {
                assert_eq!(
                    device.finish(pending).expect("finished").to_bytes(),
                    expected
                );
            });
        }
    });
}

#[test]
fn an_unsatisfied_witness_gives_a_proof_that_does_not_verify() {
    let fixture = Fixture::new(1, 30);
    let device = cpu(1, 1, Arithmetic::Fastest);
    let mut partition = fixture.partition(&device, blinding());
    partition.evaluations.c[3] += Scalar::ONE;
    let pending = device.start(partition).expect("started");
    let proof = device.finish(pending).expect("finished");
    let prepared = PreparedVerifyingKey::new(fixture.key.verifying_key());
    assert!(verify(&prepared, &fixture.circuit.public_inputs(), &proof).is_err());
}

#[test]
fn vectors_of_another_length_are_refused_with_both_numbers() {
    let fixture = Fixture::new(2, 20);
    let device = cpu(1, 1, Arithmetic::Fastest);
    let refused = |change: &dyn Fn(&mut Partition)| {
        let mut partition = fixture.partition(&device, blinding());
        change(&mut partition);
        device.start(partition).expect_err("refused").to_string()
    };
    let shape = fixture.direct.shape;
    assert_eq!(
        refused(&|partition| partition
            .witness
            .aux
            .truncate(partition.witness.aux.len() - 1)),
        format!(
            "witness has {} auxiliary variables, the circuit has {}",
            shape.num_aux - 1,
            shape.num_aux
        )
    );
    assert_eq!(
        refused(&|partition| partition.witness.inputs.push(Scalar::ONE)),
        "witness has 4 input variables, the circuit has 3"
    );
    assert_eq!(
        refused(&|partition| partition.evaluations.b.push(Scalar::ONE)),
        format!(
            "vector b has {} row values, the circuit has {} rows",
            shape.num_rows() + 1,
            shape.num_rows()
        )
    );
    assert_eq!(
        refused(&|partition| partition.witness.inputs[0] = Scalar::ZERO),
        "the first input variable is not the constant one"
    );
}

#[test]
fn a_key_of_another_circuit_is_refused_before_anything_is_proved() {
    let (fixture, other) = (Fixture::new(2, 20), Fixture::new(2, 21));
    for device in [
        &cpu(1, 1, Arithmetic::Fastest) as &dyn ProverDevice,
        &ReferenceDevice,
    ] {
        let key = device.load_key(Arc::clone(&other.key)).expect("sound key");
        let error = device
            .load_circuit(&key, fixture.circuit_data())
            .expect_err("another circuit");
        let DeviceError::Key(error) = &error else {
            panic!("{error}")
        };
        let KeyError::WrongCircuit { section, .. } = error.as_ref() else {
            panic!("{error}")
        };
        assert_eq!(*section, Section::L);
    }
}

#[test]
fn the_reference_refuses_a_circuit_that_would_take_it_minutes() {
    let fixture = Fixture::new(1, 5000);
    let key = ReferenceDevice
        .load_key(Arc::clone(&fixture.key))
        .expect("sound key");
    let error = ReferenceDevice
        .load_circuit(&key, fixture.circuit_data())
        .expect_err("too large");
    assert_eq!(
        error.to_string(),
        "reference proves domains up to 2^12, the circuit needs 2^13"
    );
}

#[test]
fn a_footprint_covers_the_partition_and_shrinks_when_the_proof_is_pending() {
    let fixture = Fixture::new(2, 4000);
    let data = fixture.circuit_data();
    let footprint = cpu(2, 1, Arithmetic::Fastest).footprint(&data);
    let scalars = data.shape.num_inputs + data.shape.num_aux + 3 * data.shape.num_rows();
    assert_eq!(footprint.partition_bytes, 32 * scalars);
    assert!(
        footprint.start_bytes >= footprint.partition_bytes,
        "{footprint:?}"
    );
    assert!(
        footprint.pending_bytes < footprint.partition_bytes,
        "{footprint:?}"
    );
    assert!(
        footprint.finish_bytes > footprint.pending_bytes,
        "{footprint:?}"
    );
}
