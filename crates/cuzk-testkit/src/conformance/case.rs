//! A small circuit with everything that a device needs to prove it.

use std::sync::Arc;

use cuzk_groth16::{
    Blinding, LoadedCircuit, OpenOptions, Partition, PreparedVerifyingKey, Proof, ProverDevice,
    ProvingKey, VerifyError, verify,
};
use cuzk_r1cs::{CompiledCircuit, Fr, PackedWitness, Witness, synthesize_witness};
use tempfile::TempDir;

use crate::circuits::SmallCircuit;
use crate::keys;

/// A circuit, its key, and its values.
pub struct Case {
    /// The circuit's name, for messages.
    pub name: &'static str,
    /// Its rows.
    pub circuit: Arc<CompiledCircuit>,
    /// The values of its variables.
    pub witness: Witness,
    /// The values without ONE that a verifier is given.
    pub public_inputs: Vec<Fr>,
    key: Arc<ProvingKey>,
    verifying_key: PreparedVerifyingKey,
    // The mapped key lies in it.
    _folder: TempDir,
}

impl Case {
    /// A case for every small circuit.
    pub fn all() -> impl Iterator<Item = Self> {
        SmallCircuit::all()
            .into_iter()
            .map(|(name, circuit)| Self::new(name, circuit))
    }

    /// The case of one small circuit.
    ///
    /// # Panics
    /// Panics with the name when there is no such circuit.
    pub fn named(name: &str) -> Self {
        let mut all = SmallCircuit::all().into_iter();
        let (name, circuit) = all
            .find(|(known, _)| *known == name)
            .unwrap_or_else(|| panic!("no circuit {name:?}"));
        Self::new(name, circuit)
    }

    fn new(name: &'static str, circuit: SmallCircuit) -> Self {
        let folder = tempfile::tempdir().expect("the folder for temporary files is writable");
        let files = keys::for_small(circuit.blank(), folder.path());
        let key = ProvingKey::open(&files.params, &OpenOptions::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let public_inputs = circuit.public_inputs();
        let compiled = CompiledCircuit::compile(circuit.blank(), &|_| ())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let witness = synthesize_witness(circuit).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self {
            name,
            circuit: Arc::new(compiled),
            witness,
            public_inputs,
            verifying_key: PreparedVerifyingKey::new(key.verifying_key()),
            key: Arc::new(key),
            _folder: folder,
        }
    }

    /// The circuit, loaded with its key.
    ///
    /// # Panics
    /// Panics when the device refuses them.
    pub fn load(&self, device: &dyn ProverDevice) -> LoadedCircuit {
        let load = || {
            let key = device.load_key(Arc::clone(&self.key))?;
            device.load_circuit(&key, Arc::clone(&self.circuit))
        };
        load().unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// The circuit's values, ready to be proved.
    ///
    /// # Panics
    /// Panics when the device refuses the circuit.
    pub fn partition(&self, device: &dyn ProverDevice, blinding: Blinding) -> Partition {
        let witness = PackedWitness::pack(self.circuit.kinds(), &self.witness)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name));
        Partition {
            circuit: self.load(device),
            witness,
            blinding,
        }
    }

    /// A proof of the circuit's own values.
    ///
    /// # Panics
    /// Panics when the device fails.
    pub fn prove(&self, device: &dyn ProverDevice, blinding: Blinding) -> Proof {
        let pending = device.start(self.partition(device, blinding));
        pending
            .and_then(|pending| device.finish(pending))
            .unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Verifies a proof against the circuit's key.
    ///
    /// # Errors
    /// Those of [`verify`].
    pub fn verify(&self, public_inputs: &[Fr], proof: &Proof) -> Result<(), VerifyError> {
        verify(&self.verifying_key, public_inputs, proof)
    }

    /// The mapped key.
    pub fn key(&self) -> &Arc<ProvingKey> {
        &self.key
    }
}
