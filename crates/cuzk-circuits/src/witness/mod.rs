//! Witnesses without synthesis.
//!
//! Upstream computes the values of a circuit's variables by building the circuit, constraints and all, although a
//! compression of SHA-256 with its 26,000 variables is a few hundred operations on words. Here each gadget has a mirror
//! that computes with words and field elements and emits the same variables in the same order, bits as bits. A circuit
//! is a prologue and one block repeated, so that a partition's blocks are emitted in parallel into their places.
//!
//! The order is fixed by the keys and by upstream's code; tests compare every gadget and every circuit with upstream's
//! synthesis.

mod blocks;
mod error;
mod field;
mod insertion;
mod path;
mod porep;
mod poseidon;
mod post;
mod sha256;
mod sink;
mod update;
mod word;

use std::sync::Arc;

use blstrs::Scalar as Fr;
use cuzk_r1cs::{CompiledCircuit, PackedWitness, VariableKinds};
use ff::Field;

pub(crate) use blocks::{BlockKinds, EmitError, Values};
pub use error::{Block, VanillaFault, WitnessError};
pub(crate) use porep::PoRepBlocks;
pub(crate) use post::PoStBlocks;
pub(crate) use update::UpdateBlocks;

use crate::id::{CircuitId, Family};
use crate::registry::{blank_post_params, blank_stacked_params, update_params};
use crate::shape::{SectorTree, with_tree};
use crate::statement::Statement;

/// Where a circuit's variables go, known without a statement: made once, used for every witness.
#[derive(Clone, Debug)]
pub struct WitnessLayout {
    circuit: CircuitId,
    blocks: BlockKinds,
    kinds: Arc<VariableKinds>,
}

impl WitnessLayout {
    /// The layout of a circuit. Costs the emission of one block, milliseconds.
    pub fn new(circuit: CircuitId) -> Self {
        let blocks = with_tree!(circuit.sector_size, Tree => block_kinds::<Tree>(circuit));
        Self {
            circuit,
            kinds: Arc::new(variable_kinds(&blocks)),
            blocks,
        }
    }

    /// The layout of a circuit that was compiled. It shares the circuit's kinds, so that they are held once and a device need
    /// not compare them with a witness.
    ///
    /// # Errors
    /// [`WitnessError::OtherKinds`] when the rows of `compiled` imply other kinds.
    pub fn of_compiled(
        circuit: CircuitId,
        compiled: &CompiledCircuit,
    ) -> Result<Self, WitnessError> {
        let own = Self::new(circuit);
        if own.kinds != *compiled.kinds() {
            return Err(WitnessError::OtherKinds { circuit });
        }
        Ok(Self {
            kinds: Arc::clone(compiled.kinds()),
            ..own
        })
    }

    /// Which circuit.
    pub fn circuit(&self) -> CircuitId {
        self.circuit
    }

    /// Which variables are wide: the same that follow from the circuit's rows.
    pub fn kinds(&self) -> &Arc<VariableKinds> {
        &self.kinds
    }
}

fn variable_kinds(blocks: &BlockKinds) -> VariableKinds {
    VariableKinds::from_wide_mask(blocks.num_aux(), blocks.wide_mask())
        .expect("the mask has a bit for each variable")
}

fn block_kinds<Tree: SectorTree>(circuit: CircuitId) -> BlockKinds {
    let kinds = match circuit.family {
        Family::PoRep => {
            let params = blank_stacked_params::<Tree>(circuit.sector_size);
            BlockKinds::of(&PoRepBlocks::blank(&params))
        }
        Family::SnapDeals => {
            let params = update_params(circuit.sector_size);
            BlockKinds::of(&UpdateBlocks::<Tree>::blank(&params))
        }
        Family::WindowPoSt | Family::WinningPoSt => {
            let params = blank_post_params::<Tree>(circuit);
            BlockKinds::of(&PoStBlocks::<Tree>::blank(&params))
        }
    };
    kinds.expect("published circuits have lists of the lengths that gadgets exist for")
}

impl Statement {
    /// The witness of a partition, bit for bit that of upstream's synthesis, without synthesis.
    ///
    /// Nothing is checked that the circuit checks: a false statement gives the witness that upstream
    /// gives, which does not satisfy the circuit. Runs on the current rayon pool; the number of
    /// threads does not enter the result.
    ///
    /// # Errors
    /// When there is no such partition, `layout` is that of another circuit, or the vanilla proof
    /// has another form than the circuit, on which upstream panics.
    pub fn packed_witness(
        &self,
        partition: usize,
        layout: &WitnessLayout,
    ) -> Result<PackedWitness, WitnessError> {
        let circuit = self.circuit_id();
        if layout.circuit != circuit {
            return Err(WitnessError::OtherCircuit {
                expected: circuit,
                found: layout.circuit,
            });
        }
        let num_partitions = self.num_partitions();
        if partition >= num_partitions {
            return Err(WitnessError::NoSuchPartition {
                circuit,
                partition,
                num_partitions,
            });
        }
        let values = self
            .emit(partition, &layout.blocks)
            .map_err(|error| error.at(circuit, partition))?;
        let inputs = std::iter::once(Fr::ONE).chain(values.inputs).collect();
        let kinds = Arc::clone(&layout.kinds);
        PackedWitness::new(kinds, inputs, values.plane, values.wide).map_err(|source| {
            WitnessError::Parts {
                circuit,
                partition,
                source,
            }
        })
    }
}

impl EmitError {
    fn at(self, circuit: CircuitId, partition: usize) -> WitnessError {
        match self {
            Self::Vanilla { block, fault } => WitnessError::Vanilla {
                circuit,
                partition,
                block,
                fault,
            },
            Self::Layout { block } => WitnessError::Layout {
                circuit,
                partition,
                block,
            },
            Self::Upstream(source) => WitnessError::Upstream {
                circuit,
                partition,
                source,
            },
        }
    }
}

#[cfg(test)]
mod tests;
