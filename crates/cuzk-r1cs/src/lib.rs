#![doc = include_str!("../README.md")]

mod compiled;
mod density;
mod dictionary;
mod digest;
mod evaluation;
mod matrix;
mod packed;
mod recording;
mod satisfaction;
mod shape;
mod summary;
mod system;
mod witness;

/// The scalar field of BLS12-381, Montgomery form in memory.
pub use blstrs::Scalar as Fr;

pub use compiled::{
    Child, CircuitFileError, CircuitLabel, CircuitSection, CompileError, CompiledCircuit, Extent,
    Instance, Placements, Referent, Run, Template, Term, VariableRef,
};
pub use density::{Densities, Density};
pub use digest::MatrixDigest;
pub use evaluation::{DirectEvaluation, Evaluations, evaluate, evaluate_with_hint};
pub use matrix::{Column, Entry, Matrix};
pub use packed::{KindsError, PackError, PackedWitness, VariableKinds, WitnessDifference};
pub use recording::RecordedCircuit;
pub use satisfaction::{SatisfactionError, UnsatisfiedRow, check_satisfied};
pub use shape::Shape;
pub use summary::{CircuitSummary, summarize};
pub use witness::{Witness, synthesize_witness};
