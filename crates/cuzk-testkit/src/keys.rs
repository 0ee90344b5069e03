//! Making a key takes up to a minute, several test processes want the same one at once, and a failing test wants the same
//! bytes again.
//!
//! Keys lie below the target folder, are made once under a file lock, and come from fixed toxic waste: the same circuit has
//! the same key on every machine. `cargo clean` removes them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use bellpepper_core::Circuit;
use cuzk_circuits::{CircuitId, compile_circuit};
use cuzk_groth16::setup::{KeyFiles, ToxicWaste, generate};
use cuzk_r1cs::{CompiledCircuit, Fr};

use crate::circuits::full_size;

/// Marks the root of a cargo target folder.
const TARGET_TAG: &str = "CACHEDIR.TAG";

/// The two files of a development key.
#[derive(Clone, Debug)]
pub struct TestKey {
    /// The proving key.
    pub params: PathBuf,
    /// The verifying key.
    pub verifying_key: PathBuf,
}

/// The toxic waste of every test key. Everybody knows it, so its keys prove nothing to anybody.
///
/// # Panics
/// Never: the five scalars differ from each other and from zero.
pub fn known_waste() -> ToxicWaste {
    let [tau, alpha, beta, gamma, delta] = [501, 502, 503, 504, 505].map(full_size);
    ToxicWaste::from_parts(tau, alpha, beta, gamma, delta)
        .expect("five different scalars, none zero")
}

/// The folder of the keys of Filecoin circuits. Upstream finds them there under their own names.
pub fn folder() -> PathBuf {
    target_folder().join("cuzk-test-keys")
}

/// The key of a Filecoin circuit, made on the first call.
///
/// # Panics
/// Panics with the path when the key cannot be made: no test can go on without it.
pub fn for_circuit(id: CircuitId) -> TestKey {
    cached(&folder(), &id.info().key_file_stem, || {
        compile_circuit(id, &|_| ()).expect("a blank circuit compiles")
    })
}

/// The key of a small circuit in a folder of the caller, made anew.
///
/// # Panics
/// Panics with the path when the key cannot be made.
pub fn for_small(circuit: impl Circuit<Fr>, folder: &Path) -> TestKey {
    make(&paths(folder, "small"), &compiled(circuit))
}

fn compiled(circuit: impl Circuit<Fr>) -> CompiledCircuit {
    CompiledCircuit::compile(circuit, &|_| ()).expect("a small circuit compiles")
}

/// The key under this name, made from what `compile` returns where there is none.
fn cached(folder: &Path, stem: &str, compile: impl FnOnce() -> CompiledCircuit) -> TestKey {
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let lock_path = folder.join(format!("{stem}.lock"));
    let lock = File::create(&lock_path)
        .and_then(|file| file.lock().map(|()| file))
        .unwrap_or_else(|error| panic!("{}: {error}", lock_path.display()));
    let key = paths(folder, stem);
    // The two files appear together, complete, so one that exists is whole.
    if !(key.params.exists() && key.verifying_key.exists()) {
        make(&key, &compile());
    }
    drop(lock);
    key
}

fn paths(folder: &Path, stem: &str) -> TestKey {
    TestKey {
        params: folder.join(format!("{stem}.params")),
        verifying_key: folder.join(format!("{stem}.vk")),
    }
}

fn make(key: &TestKey, circuit: &CompiledCircuit) -> TestKey {
    let files = KeyFiles {
        params: &key.params,
        verifying_key: &key.verifying_key,
        replace: true,
    };
    generate(circuit, &known_waste(), &files, &|_| ())
        .unwrap_or_else(|error| panic!("{}: {error}", key.params.display()));
    key.clone()
}

/// The target folder that the running test was built in; the system's folder for temporary files where there is none.
fn target_folder() -> PathBuf {
    let executable = std::env::current_exe().unwrap_or_default();
    let tagged = executable
        .ancestors()
        .find(|folder| folder.join(TARGET_TAG).is_file());
    tagged.map_or_else(std::env::temp_dir, Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::circuits::SmallCircuit;

    fn small() -> CompiledCircuit {
        let (_, circuit) = &SmallCircuit::all()[1];
        compiled(circuit.blank())
    }

    #[test]
    fn keys_lie_below_the_target_folder_of_the_test() {
        assert!(target_folder().join(TARGET_TAG).is_file());
    }

    #[test]
    fn a_key_is_made_once_however_many_ask_for_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let num_compiled = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    cached(folder.path(), "asked", || {
                        num_compiled.fetch_add(1, Ordering::Relaxed);
                        small()
                    })
                });
            }
        });
        assert_eq!(num_compiled.into_inner(), 1);
    }

    #[test]
    fn a_key_without_its_verifying_key_is_made_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let key = cached(folder.path(), "torn", small);
        let params = fs::read(&key.params).expect("it was made");
        fs::remove_file(&key.verifying_key).expect("it was made");
        cached(folder.path(), "torn", small);
        assert!(key.verifying_key.exists());
        assert_eq!(
            fs::read(&key.params).expect("it was made again"),
            params,
            "the same bytes"
        );
    }
}
