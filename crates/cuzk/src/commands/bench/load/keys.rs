//! Keys that are opened once and shared by both sides of a comparison, so that neither pays for the other's pages.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use cuzk_circuits::CircuitId;
use cuzk_engine::{ErrorClass, KeySize, KeySource, PortError};
use cuzk_groth16::ProvingKey;

use crate::{
    exit::{ExitClass, failure},
    keys::KeyStore,
};

/// Open keys of a folder.
#[derive(Clone)]
pub(super) struct OpenKeys {
    store: KeyStore,
    keys: BTreeMap<CircuitId, Arc<ProvingKey>>,
}

impl OpenKeys {
    /// Opens the keys of these circuits.
    ///
    /// # Errors
    /// Key, with its path, when one is missing or damaged.
    pub(super) fn open(
        store: KeyStore,
        circuits: impl Iterator<Item = CircuitId>,
    ) -> anyhow::Result<Self> {
        let opened = circuits.map(|id| anyhow::Ok((id, store.open(id)?)));
        let keys = opened.collect::<anyhow::Result<_>>()?;
        Ok(Self { store, keys })
    }

    /// Where they lie.
    pub(super) fn folder(&self) -> &Path {
        &self.store.folder().path
    }

    /// The key of one of the circuits.
    ///
    /// # Errors
    /// Key, for a circuit that was not named at first.
    pub(super) fn key(&self, id: CircuitId) -> anyhow::Result<Arc<ProvingKey>> {
        let key = self.keys.get(&id).map(Arc::clone);
        key.ok_or_else(|| failure(ExitClass::Key, format!("no key of {id} was opened")))
    }
}

impl KeySource for OpenKeys {
    fn circuits(&self) -> Vec<CircuitId> {
        self.keys.keys().copied().collect()
    }

    fn size(&self, circuit: CircuitId) -> Result<KeySize, PortError> {
        Ok(KeySize {
            file_bytes: self.open(circuit)?.file_bytes(),
            // The file is mapped; the system may drop its pages at any time.
            budget_bytes: 0,
        })
    }

    fn open(&self, circuit: CircuitId) -> Result<Arc<ProvingKey>, PortError> {
        self.key(circuit)
            .map_err(|error| PortError::new(ErrorClass::Resource, error.to_string()))
    }
}
