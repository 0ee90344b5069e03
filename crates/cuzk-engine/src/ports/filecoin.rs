//! The published Filecoin circuits as a [`CircuitSource`]: compiled once, witnesses generated without synthesis.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use cuzk_circuits::{
    CircuitError, CircuitId, ProofRequest, Statement, WitnessError, WitnessLayout, compile_circuit,
    load_or_compile,
};
use cuzk_r1cs::{CompiledCircuit, Fr, PackedWitness};

use super::circuits::{CircuitSource, Provable};
use crate::error::{ErrorClass, PortError};
use crate::sync::{Mutex, lock};

/// Decodes Filecoin requests, and reads their compiled circuits from a folder or compiles them.
#[derive(Clone, Default)]
pub struct FilecoinCircuits {
    folder: Option<PathBuf>,
    layouts: Layouts,
}

/// Where variables go in the circuits that were loaded.
type Layouts = Arc<Mutex<HashMap<CircuitId, Arc<WitnessLayout>>>>;

impl FilecoinCircuits {
    /// Circuits that are kept in `folder` between runs.
    pub fn kept_in(folder: PathBuf) -> Self {
        Self {
            folder: Some(folder),
            layouts: Layouts::default(),
        }
    }

    /// Keeps where variables go in a circuit that somebody else loaded, so that the partitions of a job share it.
    ///
    /// # Errors
    /// When the witness generator has other kinds of variables than the circuit.
    pub fn keep_layout(
        &self,
        circuit: CircuitId,
        compiled: &CompiledCircuit,
    ) -> Result<(), PortError> {
        let layout = WitnessLayout::of_compiled(circuit, compiled).map_err(witness_error)?;
        lock(&self.layouts).insert(circuit, Arc::new(layout));
        Ok(())
    }
}

impl CircuitSource for FilecoinCircuits {
    fn decode(&self, request: &ProofRequest) -> Result<Arc<dyn Provable>, PortError> {
        match request.decode() {
            Ok(statement) => Ok(Arc::new(FilecoinStatement {
                statement,
                layouts: Arc::clone(&self.layouts),
            })),
            Err(error) => Err(PortError::new(ErrorClass::Invalid, error)),
        }
    }

    fn resident_bytes(&self, circuit: CircuitId) -> u64 {
        /// More than the templates of any published circuit take.
        const TEMPLATE_BYTES: usize = 32 << 20;
        /// Kinds, with their directory of ranks, two densities, and a second set of kinds while both are compared.
        const BITS_PER_VARIABLE: usize = 5;
        let info = circuit.info();
        let bits = info.num_inputs + BITS_PER_VARIABLE * info.num_aux.unwrap_or(0);
        (bits.div_ceil(8) + TEMPLATE_BYTES) as u64
    }

    fn load(&self, circuit: CircuitId) -> Result<Arc<CompiledCircuit>, PortError> {
        let compiled = match &self.folder {
            Some(folder) => load_or_compile(folder, circuit, &|_| ()).map(|kept| kept.circuit),
            None => compile_circuit(circuit, &|_| ()),
        }
        .map_err(|error| PortError::new(ErrorClass::Internal, error))?;
        let compiled = Arc::new(compiled);
        self.keep_layout(circuit, &compiled)?;
        Ok(compiled)
    }

    fn evicted(&self, circuit: CircuitId) {
        lock(&self.layouts).remove(&circuit);
    }
}

/// A decoded request that finds its circuit's layout.
struct FilecoinStatement {
    statement: Statement,
    layouts: Layouts,
}

impl Provable for FilecoinStatement {
    fn circuit_id(&self) -> CircuitId {
        self.statement.circuit_id()
    }

    fn num_partitions(&self) -> usize {
        self.statement.num_partitions()
    }

    fn public_inputs(&self, partition: usize) -> Result<Vec<Fr>, PortError> {
        self.statement.public_inputs(partition).map_err(|error| {
            let class = match error {
                CircuitError::VanillaProof { .. } => ErrorClass::Invalid,
                _ => ErrorClass::Internal,
            };
            PortError::new(class, error)
        })
    }

    fn witness(
        &self,
        partition: usize,
        circuit: &CompiledCircuit,
    ) -> Result<PackedWitness, PortError> {
        let id = self.circuit_id();
        let known = lock(&self.layouts).get(&id).cloned();
        let layout = match known {
            Some(layout) => layout,
            None => Arc::new(WitnessLayout::of_compiled(id, circuit).map_err(witness_error)?),
        };
        self.statement
            .packed_witness(partition, &layout)
            .map_err(witness_error)
    }
}

fn witness_error(error: WitnessError) -> PortError {
    let class = match error {
        WitnessError::Vanilla { .. } => ErrorClass::Invalid,
        _ => ErrorClass::Internal,
    };
    PortError::new(class, error)
}
