#![doc = include_str!("../README.md")]

mod compiled;
mod density;
mod dictionary;
mod digest;
mod evaluation;
mod matrix;
mod packed;
mod prefix;
mod product_sum;
mod recording;
mod row_digest;
mod satisfaction;
mod shape;
mod summary;
mod system;
mod witness;

/// The scalar field of BLS12-381, Montgomery form in memory.
pub use bellpepper_core::Index;
pub use blstrs::Scalar as Fr;

pub use compiled::{
    Child, CircuitFileError, CircuitLabel, CircuitSection, CompileError, CompiledCircuit,
    EvaluateError, Extent, Instance, Placements, Referent, Run, Template, TemplateEvaluator, Term,
    VariableRef,
};
pub use density::{Densities, Density};
pub use digest::MatrixDigest;
pub use evaluation::{DirectEvaluation, Evaluations, evaluate, evaluate_with_hint};
pub use matrix::{Column, Entry, Matrix};
pub use packed::{
    KindsError, PackError, PackedWitness, SynthesizedRows, VariableKinds, WitnessDifference,
};
pub use prefix::evaluate_first_rows;
pub use product_sum::ProductSum;
pub use recording::RecordedCircuit;
pub use row_digest::RowDigest;
pub use satisfaction::{SatisfactionError, UnsatisfiedRow, check_satisfied};
pub use shape::Shape;
pub use summary::{CircuitSummary, summarize};
pub use witness::{Witness, synthesize_witness};
