//! Which file is the key of a circuit, and is it really that key? A key folder holds files named
//! after the circuits' public parameters. A missing key is never made on the way: the error names
//! the path, who chose the folder, and the command that would make one.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use cuzk_circuits::{CircuitId, CircuitInfo};
use cuzk_groth16::{
    KeyError, OpenOptions, PreparedVerifyingKey, ProvingKey, QueryCounts, Section, VerifyingKey,
};

use crate::{
    environment::Folder,
    exit::{ExitClass, OrExit as _, class_of, failure},
    output::describe,
};

/// What to do about a folder without keys.
pub(crate) const KEYS_CAN_BE_MADE: &str =
    "keys for development can be made: cuzk key setup --circuit winning-2k --keys DIR";

/// A folder of keys.
#[derive(Debug, Clone)]
pub(crate) struct KeyStore {
    folder: Folder,
}

impl KeyStore {
    /// The keys in `folder`, which need not exist yet.
    pub(crate) fn new(folder: Folder) -> Self {
        Self { folder }
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Where the proving key of a circuit belongs.
    pub(crate) fn params_path(&self, info: &CircuitInfo) -> PathBuf {
        self.file(info, "params")
    }

    /// Where the verifying key of a circuit belongs.
    pub(crate) fn vk_path(&self, info: &CircuitInfo) -> PathBuf {
        self.file(info, "vk")
    }

    /// Opens the proving key of a circuit and compares its vectors with what is known about the
    /// circuit; the rest is compared when the circuit is loaded.
    ///
    /// # Errors
    /// Key, when it is missing, damaged, or of another circuit; resource, when it cannot be read.
    pub(crate) fn open(&self, id: CircuitId) -> anyhow::Result<Arc<ProvingKey>> {
        let info = id.info();
        let path = self.params_path(&info);
        let key = self.opened(id, &path, ProvingKey::open(&path, &OpenOptions::default()))?;
        expect_known_counts(&info, &path, key.counts())
            .map_err(|error| self.with_way_out(id, error))?;
        Ok(Arc::new(key))
    }

    /// The circuits for which the folder has a file, each with its key or what is wrong with it. Points are not read.
    pub(crate) fn present(
        &self,
    ) -> impl Iterator<Item = (CircuitId, anyhow::Result<Arc<ProvingKey>>)> {
        CircuitId::all()
            .filter(|id| self.params_path(&id.info()).exists())
            .map(|id| (id, self.open(id)))
    }

    /// Refuses a folder that is none.
    ///
    /// # Errors
    /// Key, with who chose it and the command that makes it.
    pub(crate) fn expect_folder(&self) -> anyhow::Result<()> {
        let why = match std::fs::metadata(&self.folder.path) {
            Ok(found) if found.is_dir() => return Ok(()),
            Ok(_) => "is not a folder".to_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => "does not exist".to_owned(),
            Err(error) => format!("cannot be used: {error}"),
        };
        Err(failure(
            ExitClass::Key,
            format!("the key folder {} {why}; {KEYS_CAN_BE_MADE}", self.folder),
        ))
    }

    /// The verifying key of a circuit: from the head of the `.params` file, or from the `.vk` file
    /// where that is all there is. Two files that disagree are refused, since one of them is stale.
    ///
    /// # Errors
    /// As [`KeyStore::open`].
    pub(crate) fn verifying_key(&self, id: CircuitId) -> anyhow::Result<PreparedVerifyingKey> {
        let info = id.info();
        let (params, vk) = (self.params_path(&info), self.vk_path(&info));
        if !vk.exists() {
            return Ok(PreparedVerifyingKey::new(self.open(id)?.verifying_key()));
        }
        let key = self.opened(id, &vk, VerifyingKey::read_file(&vk))?;
        if params.exists() && self.open(id)?.verifying_key() != &key {
            return Err(failure(
                ExitClass::Key,
                format!(
                    "{} is not the verifying key in {}: one of the two files is of another setup; \
                     remove the .vk file to use the .params file alone",
                    vk.display(),
                    params.display()
                ),
            ));
        }
        let expected = info.num_inputs;
        if key.ic.len() != expected {
            return Err(failure(
                ExitClass::Key,
                format!(
                    "{}: key of another circuit: section ic holds {} points, expected {expected} \
                     for {id}",
                    vk.display(),
                    key.ic.len()
                ),
            ));
        }
        Ok(PreparedVerifyingKey::new(&key))
    }

    fn file(&self, info: &CircuitInfo, extension: &str) -> PathBuf {
        self.folder
            .path
            .join(format!("{}.{extension}", info.key_file_stem))
    }

    fn opened<T>(
        &self,
        id: CircuitId,
        path: &Path,
        result: Result<T, KeyError>,
    ) -> anyhow::Result<T> {
        match result {
            Err(KeyError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Err(self.missing(id, path))
            }
            result => result
                .or_exit_by_kind(|| format!("key of {id} in {}", self.folder))
                .map_err(|error| self.with_way_out(id, error)),
        }
    }

    /// What the system refuses it will refuse for another file, too; a key that is no key can be replaced. By hand: a command
    /// that overwrites it, ready to be pasted, would put a key for development in the place of a real one.
    fn with_way_out(&self, id: CircuitId, error: anyhow::Error) -> anyhow::Error {
        match class_of(&error) {
            ExitClass::Key => failure(
                ExitClass::Key,
                format!(
                    "{}; fetch or copy the file again, or remove it; where it was one for development, remove it and make \
                     another: cuzk key setup --circuit {id} --keys {}",
                    describe(&error),
                    shell_word(&self.folder.path)
                ),
            ),
            _ => error,
        }
    }

    fn missing(&self, id: CircuitId, path: &Path) -> anyhow::Error {
        failure(
            ExitClass::Key,
            format!(
                "no key of {id}: {} does not exist\n  key folder: {}\n  a key for development can \
                 be made: cuzk key setup --circuit {id} --keys {}",
                path.display(),
                self.folder,
                shell_word(&self.folder.path)
            ),
        )
    }
}

/// Classes an error of a key file: what the system refuses is a resource failure, all else a key
/// problem.
pub(crate) trait KeyResult<T> {
    /// Classes the error and puts `message` before it.
    fn or_exit_by_kind(self, message: impl FnOnce() -> String) -> anyhow::Result<T>;
}

impl<T> KeyResult<T> for Result<T, KeyError> {
    fn or_exit_by_kind(self, message: impl FnOnce() -> String) -> anyhow::Result<T> {
        let class = match &self {
            Err(KeyError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                ExitClass::Key
            }
            Err(KeyError::Io { .. }) => ExitClass::Resource,
            _ => ExitClass::Key,
        };
        self.or_exit(class, message)
    }
}

/// What a key file's vectors must hold as far as the registry knows: inputs always, the others
/// where the circuit was counted. Empty when all fits.
pub(crate) fn unexpected_counts(
    info: &CircuitInfo,
    found: QueryCounts,
) -> Vec<(Section, u64, u64)> {
    let domain = info
        .num_constraints
        .map(|constraints| (constraints + info.num_inputs).next_power_of_two() as u64);
    [
        (Section::Ic, Some(info.num_inputs as u64)),
        (Section::H, domain.map(|size| size - 1)),
        (Section::L, info.num_aux.map(|count| count as u64)),
    ]
    .into_iter()
    .filter_map(|(section, expected)| Some((section, found.of(section), expected?)))
    .filter(|(_, found, expected)| found != expected)
    .collect()
}

fn expect_known_counts(info: &CircuitInfo, path: &Path, found: QueryCounts) -> anyhow::Result<()> {
    match unexpected_counts(info, found).first() {
        None => Ok(()),
        Some((section, found, expected)) => Err(failure(
            ExitClass::Key,
            format!(
                "{}: key of another circuit: section {section} holds {found} points, expected \
                 {expected} for {}",
                path.display(),
                info.id
            ),
        )),
    }
}

/// A path as one word of a shell command.
pub(crate) fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Creates a folder that is about to receive keys or results.
///
/// # Errors
/// Resource, when the system refuses.
pub(crate) fn create_folder(path: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(path).or_exit(ExitClass::Resource, || {
        format!("creating the folder {}", path.display())
    })
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test and says where"
)]
mod tests {
    use super::*;
    use crate::environment::Origin;

    fn store(path: &Path) -> KeyStore {
        KeyStore::new(Folder {
            path: path.to_owned(),
            origin: Origin::Option("--keys"),
        })
    }

    fn winning() -> CircuitId {
        "winning-2k".parse().unwrap()
    }

    #[test]
    fn a_missing_key_names_the_path_the_origin_and_the_command_that_makes_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        for error in [
            store.open(winning()).map(drop).unwrap_err(),
            store.verifying_key(winning()).map(drop).unwrap_err(),
        ] {
            assert_eq!(class_of(&error), ExitClass::Key);
            let text = format!("{error:#}");
            let path = store.params_path(&winning().info());
            assert!(text.contains(&path.display().to_string()), "{text}");
            assert!(text.contains("from --keys"), "{text}");
            assert!(
                text.contains("cuzk key setup --circuit winning-2k --keys"),
                "{text}"
            );
        }
    }

    #[test]
    fn an_empty_key_file_is_a_key_problem_said_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        std::fs::write(store.params_path(&winning().info()), []).unwrap();
        let error = store.open(winning()).map(drop).unwrap_err();
        assert_eq!(class_of(&error), ExitClass::Key);
        let text = format!("{error:#}");
        assert!(text.contains("empty"), "{text}");
        assert!(
            text.contains("cuzk key setup --circuit winning-2k"),
            "{text}"
        );
        assert!(text.contains("fetch or copy the file again"), "{text}");
        assert!(!text.contains("--force"), "{text}");
    }

    #[test]
    fn a_folder_that_is_none_is_refused_and_only_files_that_are_there_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let known = store(folder.path());
        assert!(known.expect_folder().is_ok());
        assert_eq!(known.present().count(), 0);
        let file = known.params_path(&winning().info());
        std::fs::write(&file, []).unwrap();
        let present: Vec<_> = known.present().collect();
        assert!(matches!(present.as_slice(), [(id, Err(_))] if *id == winning()));
        for (path, words) in [
            (file.as_path(), "is not a folder"),
            (&folder.path().join("missing"), "does not exist"),
        ] {
            let error = store(path).expect_folder().unwrap_err();
            assert_eq!(class_of(&error), ExitClass::Key);
            assert!(error.to_string().contains(words), "{error}");
            assert!(error.to_string().contains("from --keys"), "{error}");
        }
    }

    #[test]
    fn lengths_of_another_circuit_are_found_and_unknown_ones_are_not_invented() {
        let info = winning().info();
        let counts = QueryCounts {
            ic: 133,
            h: (1 << 17) - 1,
            l: 91_674,
            a: 1,
            b_g1: 1,
            b_g2: 1,
        };
        assert!(unexpected_counts(&info, counts).is_empty());
        let other = QueryCounts {
            l: 91_675,
            ..counts
        };
        assert_eq!(
            unexpected_counts(&info, other),
            [(Section::L, 91_675, 91_674)]
        );
        let uncounted = CircuitInfo {
            num_constraints: None,
            num_aux: None,
            ..info
        };
        assert!(unexpected_counts(&uncounted, other).is_empty());
    }

    #[test]
    fn a_path_with_a_quote_or_a_space_is_one_shell_word() {
        assert_eq!(shell_word(Path::new("/a/b-c.d")), "/a/b-c.d");
        assert_eq!(shell_word(Path::new("/a b")), "'/a b'");
        assert_eq!(shell_word(Path::new("it's")), r"'it'\''s'");
    }
}
