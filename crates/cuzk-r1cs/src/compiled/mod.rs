//! A circuit as templates and their instances: megabytes for a matrix of 26 gigabytes.
//!
//! The circuits of hash functions repeat themselves on several levels: a partition of a 32 GiB replica has 18 equal blocks of
//! rows, each with hundreds of equal hashes. [`CompiledCircuit::compile`] finds equal blocks while the circuit is
//! synthesized, and stores each once as a [`Template`] whose children are instances of smaller templates. The last template is
//! the circuit itself.

mod compiling;
mod coverage;
mod evaluation;
mod expansion;
mod file;
mod library;
mod placement;
mod stack;
mod template;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use compiling::CompileError;
pub use evaluation::{EvaluateError, TemplateEvaluator};
pub use file::{CircuitFileError, CircuitLabel, CircuitSection};
pub use placement::Placements;
pub use template::{Child, Extent, Instance, Referent, Run, Template, Term, VariableRef};

use crate::{CircuitSummary, Densities, Fr, MatrixDigest, Shape, VariableKinds};

/// A circuit without its repetitions; expands to the rows that were recorded, one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledCircuit {
    templates: Vec<Template>,
    coefficients: Vec<Fr>,
    digest: MatrixDigest,
    kinds: Arc<VariableKinds>,
    densities: Densities,
}

impl CompiledCircuit {
    /// A circuit from its parts; the last template is the whole circuit, children come before those they stand in.
    fn new(
        templates: Vec<Template>,
        digest: MatrixDigest,
        coefficients: Vec<Fr>,
        kinds: VariableKinds,
        densities: Densities,
    ) -> Self {
        Self {
            templates,
            coefficients,
            digest,
            kinds: Arc::new(kinds),
            densities,
        }
    }

    /// Counts of variables and constraints.
    pub fn shape(&self) -> Shape {
        let whole = self.whole().extent;
        Shape {
            num_inputs: 1 + whole.num_inputs as usize,
            num_aux: whole.num_aux as usize,
            num_constraints: whole.num_rows as usize,
        }
    }

    /// Templates, children before the templates that they stand in; the last one is the whole circuit.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// The distinct coefficients in order of first appearance, Montgomery form.
    pub fn coefficients(&self) -> &[Fr] {
        &self.coefficients
    }

    /// Digest of the expanded matrices, as it was computed when the circuit was compiled.
    pub fn digest(&self) -> MatrixDigest {
        self.digest
    }

    /// Which private variables are boolean.
    pub fn kinds(&self) -> &Arc<VariableKinds> {
        &self.kinds
    }

    /// Which variables occur in A and B.
    pub fn densities(&self) -> &Densities {
        &self.densities
    }

    /// What [`crate::summarize`] says about the same circuit.
    pub fn summary(&self) -> CircuitSummary {
        let shape = self.shape();
        let [a, b, c] = self.non_zeros_by_template()[self.templates.len() - 1];
        CircuitSummary {
            shape,
            non_zeros: [a + shape.num_inputs as u64, b, c],
            densities: self.densities.clone(),
            num_coefficients: self.coefficients.len(),
            longest_rows: self.longest_rows(),
            digest: self.digest,
        }
    }

    /// Bytes of heap memory, those shared with witnesses included.
    pub fn num_bytes(&self) -> usize {
        let templates: usize = self.templates.iter().map(Template::num_bytes).sum();
        let densities = &self.densities;
        let bitmaps = [&densities.a_aux, &densities.b_input, &densities.b_aux];
        templates
            + size_of_val(self.coefficients.as_slice())
            + self.kinds.num_bytes()
            + bitmaps
                .iter()
                .map(|bitmap| size_of_val(bitmap.words()))
                .sum::<usize>()
    }

    fn whole(&self) -> &Template {
        self.templates
            .last()
            .expect("the whole circuit is a template")
    }

    /// Entries of A, B, C in the rows of each template, children included.
    fn non_zeros_by_template(&self) -> Vec<[u64; 3]> {
        let mut counts: Vec<[u64; 3]> = Vec::with_capacity(self.templates.len());
        for template in &self.templates {
            let mut count = [0; 3];
            for index in 0..template.num_own_rows() {
                for (count, side) in count.iter_mut().zip(template.own_row(index)) {
                    *count += side.len() as u64;
                }
            }
            for child in &template.children {
                for (count, of_child) in count.iter_mut().zip(counts[child.template as usize]) {
                    *count += of_child;
                }
            }
            counts.push(count);
        }
        counts
    }

    fn longest_rows(&self) -> [usize; 3] {
        let mut longest = [0; 3];
        for template in &self.templates {
            for index in 0..template.num_own_rows() {
                for (longest, side) in longest.iter_mut().zip(template.own_row(index)) {
                    *longest = side.len().max(*longest);
                }
            }
        }
        longest
    }
}
