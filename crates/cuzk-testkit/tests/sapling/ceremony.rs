//! The keys of a public ceremony, as crates ship them: vectors, then the transcript as a trailer.

use std::sync::Arc;

use bellpepper_core::Circuit;
use cuzk_groth16::{
    Blinding, OpenOptions, Partition, PointCheck, PreparedVerifyingKey, Proof, ProverDevice,
    ProvingKey, verify,
};
use cuzk_r1cs::{CompiledCircuit, Fr, PackedWitness, synthesize_witness};
use tempfile::TempDir;

/// Bytes of the transcript after the last vector.
const TRAILER_BYTES: u64 = 52_836;

/// A key of the ceremony in a file of its own.
pub(crate) struct CeremonyKey {
    bytes: Vec<u8>,
    key: Arc<ProvingKey>,
    // The mapped key lies in it.
    _folder: TempDir,
}

impl CeremonyKey {
    /// The key of the larger circuit, whose subgroups would take a quarter of a minute.
    pub(crate) fn spend() -> Self {
        Self::open(
            wagyu_zcash_parameters::load_sapling_parameters().0,
            PointCheck::OnCurve,
        )
    }

    pub(crate) fn output() -> Self {
        Self::open(
            wagyu_zcash_parameters::load_sapling_parameters().1,
            PointCheck::Subgroup,
        )
    }

    fn open(bytes: Vec<u8>, check: PointCheck) -> Self {
        let folder = tempfile::tempdir().expect("the folder for temporary files is writable");
        let path = folder.path().join("ceremony.params");
        std::fs::write(&path, &bytes).expect("the disk has room");
        ProvingKey::open(&path, &OpenOptions::default())
            .expect_err("a trailer that nobody declared is refused");
        let options = OpenOptions {
            trailer_bytes: Some(TRAILER_BYTES),
        };
        let key = ProvingKey::open(&path, &options).expect("the key has this trailer");
        assert_eq!(key.trailer().len() as u64, TRAILER_BYTES);
        key.check_points(check, &|_| ())
            .expect("a ceremony makes valid points");
        Self {
            bytes,
            key: Arc::new(key),
            _folder: folder,
        }
    }

    /// The whole file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Proves and verifies a circuit with its values.
    pub(crate) fn prove(
        &self,
        device: &dyn ProverDevice,
        circuit: impl Circuit<Fr> + Clone,
        blinding: Blinding,
    ) -> Proof {
        let compiled = CompiledCircuit::compile(circuit.clone(), &|_| ()).expect("it compiles");
        let witness = synthesize_witness(circuit.clone()).expect("the circuit has values");
        let loaded = device
            .load_key(Arc::clone(&self.key))
            .expect("the key is whole");
        let witness = PackedWitness::pack(compiled.kinds(), &witness).expect("booleans are 0 or 1");
        let circuit_of_key = device
            .load_circuit(&loaded, Arc::new(compiled))
            .expect("the key is the circuit's");
        let partition = Partition {
            circuit: circuit_of_key,
            witness,
            blinding,
        };
        let pending = device.start(partition).expect("it starts");
        let proof = device.finish(pending).expect("it finishes");
        self.verify(circuit, &proof);
        proof
    }

    /// Verifies with our verifier, against the inputs that the circuit itself allocates.
    pub(crate) fn verify(&self, circuit: impl Circuit<Fr>, proof: &Proof) {
        let witness = synthesize_witness(circuit).expect("the circuit has values");
        let key = PreparedVerifyingKey::new(self.key.verifying_key());
        verify(&key, &witness.inputs[1..], proof).expect("our verifier accepts it");
    }
}
