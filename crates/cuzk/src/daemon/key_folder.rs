//! The key folder as the engine sees it. Keys are files with known names; which of them exist is looked up each time, so
//! that a key that was added while the daemon runs is found. A file that is no key, such as one that is still being
//! copied, is not among them, and the log says why. A file is opened only when it has changed, since it is asked for by
//! every status page.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt as _,
    sync::{Arc, Mutex, PoisonError},
};

use cuzk_circuits::CircuitId;
use cuzk_engine::{ErrorClass, KeySize, KeySource, PortError};
use cuzk_groth16::ProvingKey;

use crate::{
    exit::{ExitClass, class_of, failure},
    keys::{KEYS_CAN_BE_MADE, KeyStore},
    output::describe,
};

/// A folder of keys.
pub(crate) struct KeyFolder {
    store: KeyStore,
    seen: Mutex<BTreeMap<CircuitId, Seen>>,
}

/// What was found in the place of a key.
#[derive(PartialEq, Eq)]
struct Seen {
    /// Device, number, length and last change of the file.
    stamp: [u64; 5],
    /// Why it is of no use.
    defect: Option<String>,
    /// Whether the same file may turn out otherwise: the system refused to open it.
    may_change: bool,
}

impl KeyFolder {
    /// A folder whose keys are looked for when they are needed.
    pub(crate) fn new(store: KeyStore) -> Self {
        Self {
            store,
            seen: Mutex::default(),
        }
    }

    /// Opens every required key once, so that a missing or damaged one is found before a job needs it.
    ///
    /// # Errors
    /// Key, when the folder holds no key that can be used, or a required one is missing or damaged.
    pub(crate) fn open(store: KeyStore, require: &[CircuitId]) -> anyhow::Result<Self> {
        store.expect_folder()?;
        let folder = Self::new(store);
        if folder.circuits().is_empty() {
            for (_, key) in folder.store.present() {
                key?;
            }
            return Err(failure(
                ExitClass::Key,
                format!(
                    "no proving key in {}; {KEYS_CAN_BE_MADE}",
                    folder.store.folder()
                ),
            ));
        }
        for &circuit in require {
            folder.store.open(circuit)?;
        }
        Ok(folder)
    }

    fn is_usable(&self, circuit: CircuitId) -> bool {
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(found) = fs::metadata(self.store.params_path(&circuit.info())) else {
            all.remove(&circuit);
            return false;
        };
        let stamp = [
            found.dev(),
            found.ino(),
            found.len(),
            found.ctime().cast_unsigned(),
            found.ctime_nsec().cast_unsigned(),
        ];
        let last = all.get(&circuit);
        if let Some(last) = last.filter(|last| last.stamp == stamp && !last.may_change) {
            return last.defect.is_none();
        }
        let error = self.store.open(circuit).err();
        let seen = Seen {
            stamp,
            defect: error.as_ref().map(describe),
            may_change: error.is_some_and(|error| class_of(&error) != ExitClass::Key),
        };
        if let Some(defect) = seen.defect.as_ref().filter(|_| last != Some(&seen)) {
            tracing::warn!(%circuit, "not served: {defect}");
        }
        let is_usable = seen.defect.is_none();
        all.insert(circuit, seen);
        is_usable
    }
}

impl KeySource for KeyFolder {
    fn circuits(&self) -> Vec<CircuitId> {
        CircuitId::all()
            .filter(|circuit| self.is_usable(*circuit))
            .collect()
    }

    fn size(&self, circuit: CircuitId) -> Result<KeySize, PortError> {
        let path = self.store.params_path(&circuit.info());
        match fs::metadata(&path) {
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
        self.store
            .open(circuit)
            .map_err(|error| PortError::new(ErrorClass::Resource, format!("{error:#}")))
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test and says where"
)]
mod tests {
    use super::*;
    use crate::environment::{Folder, Origin};

    #[test]
    fn a_key_is_listed_while_its_file_is_whole_and_a_look_at_it_is_remembered() {
        let circuit: CircuitId = "wpost-2k".parse().unwrap();
        let whole = fs::read(cuzk_testkit::keys::for_circuit(circuit).params).unwrap();
        let home = tempfile::tempdir().unwrap();
        let store = KeyStore::new(Folder {
            path: home.path().to_owned(),
            origin: Origin::Default,
        });
        let file = store.params_path(&circuit.info());
        assert!(KeyFolder::open(store.clone(), &[]).is_err());
        let folder = KeyFolder::new(store.clone());
        fs::write(&file, &whole[..whole.len() / 2]).unwrap();
        assert!(folder.circuits().is_empty());
        let error = KeyFolder::open(store, &[]).map(drop).unwrap_err();
        assert!(error.to_string().contains("cut in section"), "{error}");
        assert_eq!(folder.seen.lock().unwrap().len(), 1);

        fs::write(&file, &whole).unwrap();
        assert_eq!(folder.circuits(), [circuit]);
        // Were the file opened again, this would not hold.
        folder
            .seen
            .lock()
            .unwrap()
            .get_mut(&circuit)
            .unwrap()
            .defect = Some("seen".to_owned());
        assert!(folder.circuits().is_empty());
        fs::remove_file(&file).unwrap();
        assert!(folder.circuits().is_empty());
        assert!(folder.seen.lock().unwrap().is_empty());
    }
}
