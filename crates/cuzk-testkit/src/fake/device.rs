//! A device that does what the script says, and otherwise proves.

use std::num::NonZeroUsize;
use std::sync::{Arc, Weak};

use cuzk_engine::Stage;
use cuzk_groth16::{
    DeviceDescription, DeviceError, Footprint, LoadedCircuit, LoadedKey, Partition, PendingProof,
    Proof, ProverDevice, ReferenceDevice,
};
use cuzk_r1cs::CompiledCircuit;

use super::FakeWorld;
use super::script::FaultKind;

const OUT_OF_MEMORY: DeviceError = DeviceError::OutOfMemory {
    device: "fake",
    needed_bytes: 2,
    free_bytes: 1,
};

/// Proves tiny circuits with the reference device.
#[derive(Debug)]
pub struct FakeDevice {
    world: Weak<FakeWorld>,
    index: usize,
    /// Each circuit on the device is an owner.
    card: Arc<()>,
}

impl FakeDevice {
    pub(super) fn new(world: &Arc<FakeWorld>, index: usize) -> Self {
        Self {
            world: Arc::downgrade(world),
            index,
            card: Arc::default(),
        }
    }

    /// The fault of this call, where it is an error.
    fn scripted(&self, stage: Stage) -> Result<Option<FaultKind>, DeviceError> {
        let world = self.world.upgrade();
        let fault = world.and_then(|world| world.script.call(stage, Some(self.index)));
        match fault {
            Some(FaultKind::Failed) => Err(DeviceError::Failed {
                device: "fake",
                source: "scripted failure".into(),
            }),
            Some(FaultKind::Lost) => Err(DeviceError::Lost {
                device: "fake",
                source: "scripted loss".into(),
            }),
            Some(FaultKind::OutOfMemory) => Err(OUT_OF_MEMORY),
            Some(FaultKind::Invalid) => Err(DeviceError::Unsatisfied { row: 7 }),
            Some(FaultKind::Refused) => Err(DeviceError::VariableKind { variable: 7 }),
            other => Ok(other),
        }
    }
}

impl ProverDevice for FakeDevice {
    fn describe(&self) -> DeviceDescription {
        DeviceDescription {
            name: "fake",
            threads: NonZeroUsize::MIN,
            tail_threads: NonZeroUsize::MIN,
            arithmetic: "none",
            card: None,
        }
    }

    fn load_circuit(
        &self,
        key: &LoadedKey,
        circuit: Arc<CompiledCircuit>,
    ) -> Result<LoadedCircuit, DeviceError> {
        self.scripted(Stage::Load)?;
        let num_loaded = Arc::strong_count(&self.card) - 1;
        let world = self.world.upgrade();
        if world.is_some_and(|world| num_loaded >= world.script.max_circuits()) {
            return Err(OUT_OF_MEMORY);
        }
        LoadedCircuit::new(key, circuit, |_| Ok(Arc::clone(&self.card)))
    }

    fn start(&self, partition: Partition) -> Result<PendingProof, DeviceError> {
        self.scripted(Stage::Start)?;
        ReferenceDevice.start(partition)
    }

    fn finish(&self, pending: PendingProof) -> Result<Proof, DeviceError> {
        let fault = self.scripted(Stage::Finish)?;
        let mut proof = ReferenceDevice.finish(pending)?;
        if fault == Some(FaultKind::BadProof) {
            proof.a = -proof.a;
        }
        Ok(proof)
    }

    fn starts_beside(&self) -> bool {
        let world = self.world.upgrade();
        world.is_some_and(|world| world.script.starts_beside())
    }

    fn proofs_per_pass(&self, _: &LoadedCircuit) -> NonZeroUsize {
        let world = self.world.upgrade();
        world.map_or(NonZeroUsize::MIN, |world| world.script.proofs_per_pass())
    }

    fn footprint(&self, circuit: &CompiledCircuit) -> Footprint {
        let world = self.world.upgrade();
        let scripted = world.and_then(|world| world.footprint_of(circuit.shape().num_aux));
        scripted.unwrap_or_else(|| ReferenceDevice.footprint(circuit))
    }
}
