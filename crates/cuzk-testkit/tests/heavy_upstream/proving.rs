//! Proofs of a statement by us and by bellperson, with one key.

use std::sync::Arc;

use bellperson::groth16::{Parameters, create_proof_batch};
use blstrs::Bls12;
use cuzk_circuits::{CircuitVisitor, Statement, with_blank_circuit};
use cuzk_groth16::{
    Blinding, CpuDevice, CpuSettings, OpenOptions, Partition, PreparedVerifyingKey, Proof,
    ProverDevice, ProvingKey, verify,
};
use cuzk_r1cs::{CompiledCircuit, Fr, PackedWitness, Witness, synthesize_witness};
use cuzk_testkit::circuits::full_size;
use cuzk_testkit::keys;

/// The same for every partition of every test, so that bytes repeat.
pub(crate) fn blinding() -> Blinding {
    Blinding::from_parts(full_size(71), full_size(72))
}

/// The proofs of all partitions by the CPU device, concatenated.
pub(crate) fn prove_with_ours(statement: &Statement) -> Vec<u8> {
    let device = CpuDevice::new(CpuSettings::default()).expect("the system starts threads");
    let key = device
        .load_key(open_key(statement))
        .expect("the key is whole");
    let compiled = with_blank_circuit(statement.circuit_id(), Compile);
    let circuit = device
        .load_circuit(&key, Arc::new(compiled))
        .expect("the key is of this circuit");
    let proofs = partitions(statement).map(|partition| {
        let witness = statement
            .with_circuit(partition, Synthesize)
            .expect("the partition exists");
        let partition = Partition {
            witness: PackedWitness::pack(circuit.circuit().kinds(), &witness)
                .expect("booleans are 0 or 1"),
            circuit: circuit.clone(),
            blinding: blinding(),
        };
        let pending = device.start(partition).expect("it starts");
        device.finish(pending).expect("it finishes")
    });
    Proof::write_many(&proofs.collect::<Vec<_>>())
}

struct Compile;

impl CircuitVisitor for Compile {
    type Output = CompiledCircuit;
    fn visit<C: bellpepper_core::Circuit<Fr> + Send>(self, circuit: C) -> CompiledCircuit {
        CompiledCircuit::compile(circuit, &|_| ()).expect("a blank circuit compiles")
    }
}

struct Synthesize;

impl CircuitVisitor for Synthesize {
    type Output = Witness;
    fn visit<C: bellpepper_core::Circuit<Fr> + Send>(self, circuit: C) -> Witness {
        synthesize_witness(circuit).expect("a statement's circuit has values")
    }
}

/// The proofs of all partitions by bellperson, with our key and the same blinding.
pub(crate) fn prove_with_bellperson(statement: &Statement) -> Vec<u8> {
    struct Prove<'a>(&'a bellperson::groth16::MappedParameters<Bls12>);
    impl CircuitVisitor for Prove<'_> {
        type Output = Vec<u8>;
        fn visit<C: bellpepper_core::Circuit<Fr> + Send>(self, circuit: C) -> Vec<u8> {
            let Blinding { r, s } = blinding();
            let proofs = create_proof_batch(vec![circuit], self.0, vec![r], vec![s])
                .expect("bellperson proves with our key");
            let mut bytes = Vec::new();
            proofs[0].write(&mut bytes).expect("writing to memory");
            bytes
        }
    }
    let path = keys::for_circuit(statement.circuit_id()).params;
    // Unchecked, as upstream maps its keys: bellperson's check of every point takes minutes.
    let parameters =
        Parameters::build_mapped_parameters(path, false).expect("bellperson reads our key");
    partitions(statement)
        .flat_map(|partition| {
            let proved = statement.with_circuit(partition, Prove(&parameters));
            proved.expect("the partition exists")
        })
        .collect()
}

/// Whether our verifier accepts every partition's proof.
pub(crate) fn ours_accepts(statement: &Statement, bytes: &[u8]) -> bool {
    let key = PreparedVerifyingKey::new(open_key(statement).verifying_key());
    let proofs = Proof::parse_exactly(bytes, statement.num_partitions()).expect("they are proofs");
    partitions(statement)
        .zip(&proofs)
        .all(|(partition, proof)| {
            let inputs = statement
                .public_inputs(partition)
                .expect("the partition exists");
            verify(&key, &inputs, proof).is_ok()
        })
}

/// The same bytes with the first element negated: still three points of their subgroups, but no proof.
pub(crate) fn tampered(bytes: &[u8]) -> Vec<u8> {
    const SIGN: u8 = 0x20;
    let mut tampered = bytes.to_vec();
    tampered[0] ^= SIGN;
    Proof::parse_many(&tampered).expect("a negated point is a point");
    tampered
}

fn partitions(statement: &Statement) -> std::ops::Range<usize> {
    0..statement.num_partitions()
}

fn open_key(statement: &Statement) -> Arc<ProvingKey> {
    let path = keys::for_circuit(statement.circuit_id()).params;
    Arc::new(
        ProvingKey::open(path, &OpenOptions::default()).expect("a key that was just made opens"),
    )
}
