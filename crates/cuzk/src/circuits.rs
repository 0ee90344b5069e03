//! Compiled circuits, with progress, and with words about files that could not be used or kept.

use std::{path::Path, sync::Arc};

use cuzk_circuits::{CircuitId, compile_circuit};
use cuzk_r1cs::CompiledCircuit;

use crate::{
    exit::{ExitClass, OrExit as _},
    keys::shell_word,
    output::Output,
    rows::RowProgress,
};

/// Compiles a circuit.
///
/// # Errors
/// Internal, when upstream's blank circuit cannot be synthesized.
pub(crate) fn compile(id: CircuitId, output: &Output) -> anyhow::Result<CompiledCircuit> {
    let rows = RowProgress::start(format!("compiling {id}"), id.info().num_constraints, output);
    compile_circuit(id, &|done| rows.set(done))
        .or_exit(ExitClass::Internal, || format!("compiling {id}"))
}

/// The circuit from its file in `folder`, or compiled and kept there for the next time.
///
/// # Errors
/// As [`compile`].
pub(crate) fn load_or_compile(
    folder: &Path,
    id: CircuitId,
    output: &Output,
) -> anyhow::Result<Arc<CompiledCircuit>> {
    let rows = RowProgress::start(format!("circuit {id}"), id.info().num_constraints, output);
    let kept = cuzk_circuits::load_or_compile(folder, id, &|done| rows.set(done))
        .or_exit(ExitClass::Internal, || format!("compiling {id}"))?;
    if let Some(error) = kept.refused {
        output.message(&format!(
            "{} was of no use and is made again: {error}",
            kept.path.display()
        ));
    }
    if let Some(error) = kept.not_kept {
        output.message(&format!(
            "the compiled circuit cannot be kept in {}: {error}\n  it is compiled for every command; a \
             folder that can be written saves that time",
            shell_word(folder)
        ));
    }
    Ok(Arc::new(kept.circuit))
}
