//! Which file is a compiled circuit, and is it still that circuit?
//!
//! Compiling a large circuit takes a minute, so the result is kept, usually beside its key, under a name that changes with
//! the format and with the crates that the circuit comes from: a stale file is never found. A folder that cannot be
//! written costs the minute each time and nothing else.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use bellpepper_core::Circuit;
use blstrs::Scalar as Fr;
use cuzk_r1cs::{CircuitFileError, CircuitLabel, CompileError, CompiledCircuit};

use crate::circuit::{CircuitVisitor, with_blank_circuit};
use crate::id::CircuitId;
use crate::registry::CIRCUIT_SOURCES;

/// The label of the file that this program makes for a circuit.
pub fn circuit_label(id: CircuitId) -> CircuitLabel {
    CircuitLabel {
        name: id.to_string(),
        built_from: CIRCUIT_SOURCES.to_owned(),
    }
}

/// Where the file of a circuit belongs in a folder.
pub fn circuit_path(folder: &Path, id: CircuitId) -> PathBuf {
    folder.join(format!("{id}-{}.circuit", circuit_label(id).fingerprint()))
}

/// Compiles a circuit; `progress` is called with the number of rows seen.
///
/// # Errors
/// When the published circuit cannot be synthesized without values.
pub fn compile_circuit(
    id: CircuitId,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<CompiledCircuit, CompileError> {
    with_blank_circuit(id, Compile(progress))
}

/// A circuit that was read or made, and what there is to tell about it.
#[derive(Debug)]
pub struct KeptCircuit {
    /// The circuit.
    pub circuit: CompiledCircuit,
    /// Its file.
    pub path: PathBuf,
    /// Why a file that was there is not used.
    pub refused: Option<CircuitFileError>,
    /// Why the circuit, which was compiled, is not kept.
    pub not_kept: Option<io::Error>,
}

/// The circuit from its file in `folder`, or compiled and kept there for the next time.
///
/// # Errors
/// As [`compile_circuit`].
pub fn load_or_compile(
    folder: &Path,
    id: CircuitId,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<KeptCircuit, CompileError> {
    let path = circuit_path(folder, id);
    let label = circuit_label(id);
    let refused = match CompiledCircuit::read_file(&path) {
        Ok((circuit, found)) if found == label => {
            return Ok(KeptCircuit {
                circuit,
                path,
                refused: None,
                not_kept: None,
            });
        }
        // A file of another circuit under this one's name: whoever put it there gets it replaced.
        Ok(_) => None,
        Err(CircuitFileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            None
        }
        Err(error) => Some(error),
    };
    let circuit = compile_circuit(id, progress)?;
    let not_kept = write_circuit(&path, &circuit.to_file_bytes(&label)).err();
    Ok(KeptCircuit {
        circuit,
        path,
        refused,
        not_kept,
    })
}

/// Writes a file that is there as a whole or not at all, so that no other process reads a part of it.
///
/// # Errors
/// What the system says.
pub fn write_circuit(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Compiles whatever circuit it is shown.
struct Compile<'a>(&'a (dyn Fn(u64) + Sync));

impl CircuitVisitor for Compile<'_> {
    type Output = Result<CompiledCircuit, CompileError>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        CompiledCircuit::compile(circuit, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> CircuitId {
        name.parse().expect("a circuit id")
    }

    #[test]
    fn file_names_differ_by_circuit_and_begin_with_it() {
        let [porep, snap] = ["porep-32g", "snap-32g"].map(|name| {
            let path = circuit_path(Path::new("k"), id(name));
            let file = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            assert!(file.starts_with(&format!("{name}-")), "{file}");
            assert!(file.ends_with(".circuit"), "{file}");
            file.trim_start_matches(name).to_owned()
        });
        assert_ne!(porep, snap);
    }

    #[test]
    fn a_circuit_is_kept_and_a_damaged_or_foreign_file_is_made_again() {
        let id = id("wpost-2k");
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("new");
        let load = || load_or_compile(&folder, id, &|_| ()).expect("it compiles");
        let made = load();
        assert!(
            made.refused.is_none() && made.not_kept.is_none(),
            "{made:?}"
        );
        let kept = std::fs::read(&made.path).expect("the file");
        assert_eq!(load().circuit, made.circuit);
        let foreign = made
            .circuit
            .to_file_bytes(&circuit_label(super::tests::id("winning-2k")));
        for (bytes, is_damaged) in [
            (&kept[..kept.len() / 2], true),
            (&[], true),
            (&foreign, false),
        ] {
            std::fs::write(&made.path, bytes).expect("written");
            let again = load();
            assert_eq!(again.refused.is_some(), is_damaged);
            assert_eq!(again.circuit, made.circuit);
            assert_eq!(std::fs::read(&made.path).expect("the file"), kept);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_the_file_and_not_the_circuit() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, []).expect("written");
        let made = load_or_compile(&file, id("wpost-2k"), &|_| ()).expect("it compiles");
        assert!(made.not_kept.is_some());
    }
}
