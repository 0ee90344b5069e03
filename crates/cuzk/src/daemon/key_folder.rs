//! The key folder as the engine sees it. Keys are files with known names; which of them exist is looked up each time, so
//! that a key that was added while the daemon runs is found.

use std::sync::Arc;

use cuzk_circuits::CircuitId;
use cuzk_engine::{ErrorClass, KeySize, KeySource, PortError};
use cuzk_groth16::ProvingKey;

use crate::{
    exit::{ExitClass, failure},
    keys::KeyStore,
};

/// A folder of keys.
pub(crate) struct KeyFolder(KeyStore);

impl KeyFolder {
    /// A folder whose keys are looked for when they are needed.
    pub(crate) fn new(store: KeyStore) -> Self {
        Self(store)
    }

    /// Opens every required key once, so that a missing or damaged one is found before a job needs it.
    ///
    /// # Errors
    /// Key, when the folder holds no key at all, or a required one is missing or damaged.
    pub(crate) fn open(store: KeyStore, require: &[CircuitId]) -> anyhow::Result<Self> {
        let folder = Self::new(store);
        if folder.circuits().is_empty() {
            return Err(failure(
                ExitClass::Key,
                format!(
                    "no proving key in {}; keys for development can be made: cuzk key setup \
                     --circuit winning-2k --keys DIR",
                    folder.0.folder()
                ),
            ));
        }
        for &circuit in require {
            folder.0.open(circuit)?;
        }
        Ok(folder)
    }
}

impl KeySource for KeyFolder {
    fn circuits(&self) -> Vec<CircuitId> {
        CircuitId::all()
            .filter(|circuit| self.0.params_path(&circuit.info()).is_file())
            .collect()
    }

    fn size(&self, circuit: CircuitId) -> Result<KeySize, PortError> {
        let path = self.0.params_path(&circuit.info());
        match std::fs::metadata(&path) {
            Ok(found) => Ok(KeySize {
                file_bytes: found.len(),
                // The file is mapped; the system may drop its pages at any time.
                budget_bytes: 0,
            }),
            Err(error) => {
                let message = format!("key of {circuit}, {}: {error}", path.display());
                Err(PortError::new(ErrorClass::Resource, message))
            }
        }
    }

    fn open(&self, circuit: CircuitId) -> Result<Arc<ProvingKey>, PortError> {
        self.0
            .open(circuit)
            .map_err(|error| PortError::new(ErrorClass::Resource, format!("{error:#}")))
    }
}
