//! Why a witness could not be made.

use std::error::Error as StdError;

use thiserror::Error;

use crate::CircuitId;

/// Why a partition has no packed witness.
#[derive(Debug, Error)]
pub enum WitnessError {
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
    /// The layout is that of another circuit.
    #[error("the layout is of circuit {found}, the statement is about {expected}")]
    OtherCircuit {
        /// The statement's circuit.
        expected: CircuitId,
        /// The layout's circuit.
        found: CircuitId,
    },
    /// The layout and a compiled circuit disagree about which variables are bits.
    #[error(
        "the witness generator of {circuit} has other kinds of variables than the compiled circuit"
    )]
    OtherKinds {
        /// Which circuit.
        circuit: CircuitId,
    },
    /// The vanilla proof has not the form that the circuit has.
    #[error("{circuit} partition {partition}, {block}: {fault}")]
    Vanilla {
        /// Of which circuit.
        circuit: CircuitId,
        /// In which partition.
        partition: usize,
        /// Which part of the circuit.
        block: Block,
        /// What is wrong with it.
        fault: VanillaFault,
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
    /// The emitter of a circuit's variables contradicts the circuit's layout.
    #[error("{circuit} partition {partition}, {block}: its variables do not fit the layout")]
    Layout {
        /// Of which circuit.
        circuit: CircuitId,
        /// In which partition.
        partition: usize,
        /// Which part of the circuit.
        block: Block,
    },
    /// The emitted parts do not form a witness with the layout's kinds.
    #[error("{circuit} partition {partition}: {source}")]
    Parts {
        /// Of which circuit.
        circuit: CircuitId,
        /// In which partition.
        partition: usize,
        /// What does not fit.
        source: cuzk_r1cs::PackError,
    },
}

/// A part of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// What stands once, before the repeated part.
    Prologue,
    /// A challenge; of a proof of spacetime, a sector. Counts from zero.
    Repeated(usize),
}

impl std::fmt::Display for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Prologue => f.write_str("prologue"),
            Self::Repeated(index) => write!(f, "block {index}"),
        }
    }
}

/// What is wrong with a vanilla proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum VanillaFault {
    /// A list has another length than in the circuit.
    #[error("{found} {what} instead of {expected}")]
    Count {
        /// Of what.
        what: &'static str,
        /// In the circuit.
        expected: usize,
        /// In the vanilla proof.
        found: usize,
    },
    /// A node has fewer children.
    #[error("child {found} of a node with {arity} children")]
    ChildIndex {
        /// Number of children.
        arity: usize,
        /// Index that was found.
        found: usize,
    },
    /// A value is not the canonical form of a field element.
    #[error("a value of the {what} is not a field element")]
    NotInField {
        /// Where it stands.
        what: &'static str,
    },
    /// Two values that the circuit takes for one.
    #[error("the {what} is not the same everywhere")]
    Differs {
        /// What they are.
        what: &'static str,
    },
    /// Bytes that upstream wrote and cannot read.
    #[error("the {what} cannot be read")]
    Encoding {
        /// What it is.
        what: &'static str,
    },
}

/// More or fewer variables than a segment has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentOverrun;
