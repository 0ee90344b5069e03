//! Tiny circuits under the names of large ones, with their keys.

use std::sync::Arc;

use cuzk_circuits::{CircuitId, ProofRequest};
use cuzk_engine::{CircuitSource, ErrorClass, KeySize, KeySource, PortError, Provable, Stage};
use cuzk_groth16::ProvingKey;
use cuzk_r1cs::{CompiledCircuit, Fr, PackedWitness, synthesize_witness};

use super::script::{FaultKind, Script};
use super::{FakeWorld, Made};
use crate::circuits::{MultiplicationChain, SmallCircuit};

impl FakeWorld {
    fn made(&self, circuit: CircuitId) -> Result<&Made, PortError> {
        let missing = || PortError::new(ErrorClass::Resource, format!("no key of {circuit}"));
        self.made.get(&circuit).ok_or_else(missing)
    }
}

/// The error of a scripted fault.
fn scripted(script: &Script, stage: Stage) -> Result<(), PortError> {
    let class = match script.call(stage, None) {
        None => return Ok(()),
        Some(FaultKind::Invalid) => ErrorClass::Invalid,
        Some(_) => ErrorClass::Resource,
    };
    Err(PortError::new(class, format!("scripted fault in {stage}")))
}

impl CircuitSource for FakeWorld {
    fn decode(&self, request: &ProofRequest) -> Result<Arc<dyn Provable>, PortError> {
        scripted(&self.script, Stage::Decode)?;
        let id = request
            .circuit_id()
            .map_err(|error| PortError::new(ErrorClass::Invalid, error))?;
        let made = self.made(id)?;
        Ok(Arc::new(FakeStatement {
            id,
            num_partitions: made.circuit.num_partitions,
            chain: made.chain.clone(),
            script: Arc::clone(&self.script),
        }))
    }

    fn resident_bytes(&self, _: CircuitId) -> u64 {
        0
    }

    fn load(&self, circuit: CircuitId) -> Result<Arc<CompiledCircuit>, PortError> {
        let chain = SmallCircuit::Chain(self.made(circuit)?.chain.clone());
        let compiled = CompiledCircuit::compile(chain, &|_| ()).expect("a chain has rows");
        Ok(Arc::new(compiled))
    }

    fn evicted(&self, circuit: CircuitId) {
        self.script.note_evicted(circuit);
    }
}

impl KeySource for FakeWorld {
    fn circuits(&self) -> Vec<CircuitId> {
        self.made.keys().copied().collect()
    }

    fn size(&self, circuit: CircuitId) -> Result<KeySize, PortError> {
        let made = self.made(circuit)?;
        Ok(KeySize {
            file_bytes: made.key.file_bytes(),
            budget_bytes: made.circuit.key_bytes,
        })
    }

    fn open(&self, circuit: CircuitId) -> Result<Arc<ProvingKey>, PortError> {
        scripted(&self.script, Stage::Load)?;
        Ok(Arc::clone(&self.made(circuit)?.key))
    }
}

/// The same statement in every partition.
struct FakeStatement {
    id: CircuitId,
    num_partitions: usize,
    chain: MultiplicationChain,
    script: Arc<Script>,
}

impl Provable for FakeStatement {
    fn circuit_id(&self) -> CircuitId {
        self.id
    }

    fn num_partitions(&self) -> usize {
        self.num_partitions
    }

    fn public_inputs(&self, _: usize) -> Result<Vec<Fr>, PortError> {
        scripted(&self.script, Stage::Verify)?;
        Ok(SmallCircuit::Chain(self.chain.clone()).public_inputs())
    }

    fn witness(&self, _: usize, circuit: &CompiledCircuit) -> Result<PackedWitness, PortError> {
        scripted(&self.script, Stage::Witness)?;
        let chain = SmallCircuit::Chain(self.chain.clone());
        let witness = synthesize_witness(chain).expect("a chain has values");
        Ok(PackedWitness::pack(circuit.kinds(), &witness).expect("booleans are 0 or 1"))
    }
}
