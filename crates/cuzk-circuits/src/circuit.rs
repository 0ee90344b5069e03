//! Circuits as values, although each has its own type.
//!
//! `bellpepper_core::Circuit` is generic over the constraint system, so it cannot be a trait
//! object. A visitor names what is to be done with "some circuit", and the crate calls it with
//! the right one.

use std::error::Error as StdError;

use bellpepper_core::Circuit;
use blstrs::Scalar as Fr;
use filecoin_proofs::DefaultPieceHasher;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_porep::stacked::{StackedCircuit, StackedCompound, StackedDrg};
use storage_proofs_post::fallback::{FallbackPoSt, FallbackPoStCircuit, FallbackPoStCompound};
use storage_proofs_update::EmptySectorUpdateCircuit;
use thiserror::Error;

use crate::id::{CircuitId, Family};
use crate::registry::{blank_post_params, blank_stacked_params, update_params};
use crate::shape::{SectorTree, with_tree};

/// Something to be done with a circuit of whatever type.
pub trait CircuitVisitor {
    /// What comes out.
    type Output;

    /// Takes the circuit and does it.
    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output;
}

/// Why a circuit could not be made, or its vanilla proof is wrong.
#[derive(Debug, Error)]
pub enum CircuitError {
    /// The proof has fewer partitions.
    #[error("{circuit} partition {partition} does not exist, the proof has {num_partitions}")]
    NoSuchPartition {
        /// Of which circuit.
        circuit: CircuitId,
        /// The one that was asked for.
        partition: usize,
        /// How many there are.
        num_partitions: usize,
    },
    /// The vanilla proof proves nothing: its hashes, labels or paths do not fit together, so the
    /// constraint system cannot be satisfied.
    #[error(
        "{circuit} partition {partition}: the vanilla proof is wrong at {what} {index}, \
         its constraint system is not satisfied"
    )]
    VanillaProof {
        /// Of which circuit.
        circuit: CircuitId,
        /// In which partition.
        partition: usize,
        /// `challenge` or `sector`, or `partition` where upstream says no more.
        what: &'static str,
        /// Zero-based number of the challenge or partition; number of the sector.
        index: u64,
    },
    /// Upstream refused the statement.
    #[error("{circuit} partition {partition}: {source}")]
    Upstream {
        /// Of which circuit.
        circuit: CircuitId,
        /// In which partition.
        partition: usize,
        /// What upstream says.
        source: Box<dyn StdError + Send + Sync>,
    },
}

/// Calls `visitor` with the circuit of `id` that has no values: its constraints only.
///
/// Every family and size is supported; nothing is read from or written to disk. Allocation
/// closures of the circuit return `AssignmentMissing`.
pub fn with_blank_circuit<V: CircuitVisitor>(id: CircuitId, visitor: V) -> V::Output {
    with_tree!(id.sector_size, Tree => visit_blank::<Tree, V>(id, visitor))
}

fn visit_blank<Tree: SectorTree, V: CircuitVisitor>(id: CircuitId, visitor: V) -> V::Output {
    match id.family {
        Family::PoRep => visitor.visit(
            <StackedCompound<Tree, DefaultPieceHasher> as CompoundProof<
                StackedDrg<'_, Tree, DefaultPieceHasher>,
                StackedCircuit<Tree, DefaultPieceHasher>,
            >>::blank_circuit(&blank_stacked_params(id.sector_size)),
        ),
        Family::SnapDeals => visitor.visit(EmptySectorUpdateCircuit::<Tree>::blank(update_params(
            id.sector_size,
        ))),
        Family::WindowPoSt | Family::WinningPoSt => {
            visitor.visit(<FallbackPoStCompound<Tree> as CompoundProof<
                FallbackPoSt<'_, Tree>,
                FallbackPoStCircuit<Tree>,
            >>::blank_circuit(&blank_post_params::<Tree>(
                id,
            )))
        }
    }
}
