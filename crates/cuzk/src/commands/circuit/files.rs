//! Files of compiled circuits that a command was given: how they are opened, and what is said about them.

use std::{path::Path, time::Instant};

use cuzk_circuits::{CircuitId, circuit_label};
use cuzk_r1cs::{CircuitFileError, CircuitLabel, CompiledCircuit};
use serde::Serialize;

use crate::{
    exit::{ExitClass, OrExit as _},
    units,
};

/// An opened file.
pub(super) struct CircuitFile {
    /// The circuit that the file names.
    pub(super) id: CircuitId,
    pub(super) circuit: CompiledCircuit,
    pub(super) label: CircuitLabel,
    pub(super) num_bytes: u64,
    /// Time that it took to read and check the file.
    pub(super) seconds: f64,
}

impl CircuitFile {
    /// Reads a file, whoever made it.
    ///
    /// # Errors
    /// Resource, when it cannot be read; invalid input, when it is damaged or of an unknown circuit.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let start = Instant::now();
        let result = CompiledCircuit::read_file(path);
        let class = match &result {
            Err(CircuitFileError::Io { .. }) => ExitClass::Resource,
            _ => ExitClass::InvalidInput,
        };
        let context = || format!("reading {}", path.display());
        let (circuit, label) = result.or_exit(class, context)?;
        let seconds = start.elapsed().as_secs_f64();
        let id = label
            .name
            .parse()
            .or_exit(ExitClass::InvalidInput, context)?;
        let num_bytes = std::fs::metadata(path)
            .or_exit(ExitClass::Resource, context)?
            .len();
        Ok(Self {
            id,
            circuit,
            label,
            num_bytes,
            seconds,
        })
    }
}

/// What only a compiled circuit has.
#[derive(Debug, Serialize)]
pub(super) struct CompiledFacts {
    file_bytes: u64,
    memory_bytes: u64,
    templates: u64,
    template_terms: u64,
    instances: u64,
    wide_variables: u64,
    built_from: String,
    is_current: bool,
}

impl CompiledFacts {
    pub(super) fn new(file: &CircuitFile) -> Self {
        let circuit = &file.circuit;
        let mut instances = 0;
        circuit.for_each_instance(&mut |_| instances += 1);
        let templates = circuit.templates();
        Self {
            file_bytes: file.num_bytes,
            memory_bytes: circuit.num_bytes() as u64,
            templates: templates.len() as u64,
            template_terms: templates
                .iter()
                .map(|template| template.terms().len() as u64)
                .sum(),
            instances,
            wide_variables: circuit.kinds().num_wide() as u64,
            built_from: file.label.built_from.clone(),
            is_current: file.label == circuit_label(file.id),
        }
    }

    pub(super) fn fields(&self) -> [(&'static str, String); 5] {
        let current = if self.is_current {
            "as this program would"
        } else {
            "by another program: compile it again"
        };
        [
            (
                "templates",
                format!(
                    "{} with {} terms, {} instances",
                    units::count(self.templates),
                    units::count(self.template_terms),
                    units::count(self.instances)
                ),
            ),
            ("wide variables", units::count(self.wide_variables)),
            ("file size", units::bytes(self.file_bytes)),
            ("memory", units::bytes(self.memory_bytes)),
            ("built from", format!("{} ({current})", self.built_from)),
        ]
    }
}
