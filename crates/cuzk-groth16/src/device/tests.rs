//! Both devices against each other and against bellperson: the same blinding gives the same bytes.

use std::num::NonZeroUsize;
use std::sync::Arc;

use bellperson::groth16::{Parameters, create_proof};
use blstrs::{Bls12, Scalar};
use cuzk_r1cs::{CompiledCircuit, PackedWitness, VariableKinds, Witness, synthesize_witness};
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
    compiled: Arc<CompiledCircuit>,
    witness: Witness,
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
        let compiled = CompiledCircuit::compile(circuit.clone(), &|_| ()).expect("compiled");
        let [tau, alpha, beta, gamma, delta] = [3, 5, 7, 11, 13].map(Scalar::from);
        let waste = ToxicWaste::from_parts(tau, alpha, beta, gamma, delta).expect("distinct");
        let files = KeyFiles {
            params: &params,
            verifying_key: &verifying_key,
            replace: false,
        };
        generate(&compiled, &waste, &files, &|_| ()).expect("key");
        let key = ProvingKey::open(&params, &OpenOptions::default()).expect("key opens");
        let witness = synthesize_witness(circuit.clone()).expect("the circuit has values");
        Self {
            folder,
            circuit,
            key: Arc::new(key),
            compiled: Arc::new(compiled),
            witness,
        }
    }

    fn partition(&self, device: &dyn ProverDevice, blinding: Blinding) -> Partition {
        let witness = PackedWitness::pack(self.compiled.kinds(), &self.witness);
        self.partition_of(device, witness.expect("booleans are 0 or 1"), blinding)
    }

    fn partition_of(
        &self,
        device: &dyn ProverDevice,
        witness: PackedWitness,
        blinding: Blinding,
    ) -> Partition {
        let key = device.load_key(Arc::clone(&self.key)).expect("sound key");
        let circuit = device
            .load_circuit(&key, Arc::clone(&self.compiled))
            .expect("the circuit's key");
        Partition {
            circuit,
            witness,
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
fn an_unsatisfied_witness_is_refused_with_its_row() {
    let fixture = Fixture::new(1, 30);
    let mut witness = fixture.witness.clone();
    let last = witness.aux.last_mut().expect("products are variables");
    *last += Scalar::ONE;
    let packed = PackedWitness::pack(fixture.compiled.kinds(), &witness).expect("wide variables");
    let evaluations = fixture.compiled.evaluate_row_by_row(&witness);
    let expected = evaluations.first_unsatisfied().expect("a row is violated");
    for device in [
        &cpu(1, 1, Arithmetic::Fastest) as &dyn ProverDevice,
        &ReferenceDevice,
    ] {
        let error = device.start(fixture.partition_of(device, packed.clone(), blinding()));
        let DeviceError::Unsatisfied { row } = error.expect_err("refused") else {
            panic!("another error")
        };
        assert_eq!(row, expected);
    }
}

#[test]
fn a_witness_of_another_circuit_is_refused_with_both_numbers() {
    let fixture = Fixture::new(2, 20);
    let device = cpu(1, 1, Arithmetic::Fastest);
    let refused = |num_inputs: usize, wide: &[bool]| {
        let mut mask = vec![0_u64; wide.len().div_ceil(64)];
        for (index, wide) in wide.iter().enumerate() {
            mask[index / 64] |= u64::from(*wide) << (index % 64);
        }
        let kinds = VariableKinds::from_wide_mask(wide.len(), mask).expect("a mask");
        let witness = Witness {
            inputs: vec![Scalar::ONE; num_inputs],
            aux: vec![Scalar::ONE; wide.len()],
        };
        let packed = PackedWitness::pack(&Arc::new(kinds), &witness).expect("ones are bits");
        let partition = fixture.partition_of(&device, packed, blinding());
        device.start(partition).expect_err("refused").to_string()
    };
    let shape = fixture.compiled.shape();
    let kinds = fixture.compiled.kinds();
    let own: Vec<bool> = (0..shape.num_aux)
        .map(|index| kinds.is_wide(index))
        .collect();
    let num_wide = kinds.num_wide();
    assert_eq!(
        refused(3, &own[1..]),
        format!(
            "witness has {} auxiliary variables, the circuit has {}",
            shape.num_aux - 1,
            shape.num_aux
        )
    );
    assert_eq!(
        refused(4, &own),
        "witness has 4 input variables, the circuit has 3"
    );
    let mut other = own.clone();
    let changed = own.iter().position(|wide| *wide).expect("a wide variable");
    other[changed] = false;
    assert_eq!(
        refused(3, &other),
        format!(
            "witness has {} wide variables, the circuit has {num_wide}",
            num_wide - 1
        )
    );
    let mask = kinds.wide_mask().to_vec();
    let copy = VariableKinds::from_wide_mask(shape.num_aux, mask).expect("a mask");
    let packed = PackedWitness::pack(&Arc::new(copy), &fixture.witness).expect("packed");
    let partition = fixture.partition_of(&device, packed, blinding());
    drop(
        device
            .start(partition)
            .expect("equal kinds need not be the same ones"),
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
            .load_circuit(&key, Arc::clone(&fixture.compiled))
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
        .load_circuit(&key, Arc::clone(&fixture.compiled))
        .expect_err("too large");
    assert_eq!(
        error.to_string(),
        "reference proves domains up to 2^12, the circuit needs 2^13"
    );
}

#[test]
fn a_footprint_covers_the_partition_and_shrinks_when_the_proof_is_pending() {
    let fixture = Fixture::new(2, 4000);
    let footprint = cpu(2, 1, Arithmetic::Fastest).footprint(&fixture.compiled);
    let shape = fixture.compiled.shape();
    let witness = PackedWitness::pack(fixture.compiled.kinds(), &fixture.witness).expect("packed");
    assert_eq!(footprint.partition_bytes, witness.num_bytes());
    let rows = 32 * 3 * shape.num_rows();
    assert!(
        footprint.start_bytes >= footprint.partition_bytes + rows,
        "{footprint:?}"
    );
    assert!(
        footprint.pending_bytes < footprint.start_bytes,
        "{footprint:?}"
    );
    assert!(
        footprint.finish_bytes > footprint.pending_bytes,
        "{footprint:?}"
    );
}
