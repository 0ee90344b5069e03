//! Checking 47 GB takes minutes and gives the same answer every time, so the answer is kept while the file is the same.
//!
//! A record is a small JSON file. It holds for a key file of the same size and modification time; anything else, and
//! any record that cannot be read, means that the key is checked again.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::staged::replace_file;
use super::{KeyDigest, KeyError, PointCheck};

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStamp {
    pub(crate) size_bytes: u64,
    modified_s: i64,
    modified_ns: i64,
}

impl FileStamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            size_bytes: metadata.len(),
            modified_s: metadata.mtime(),
            modified_ns: metadata.mtime_nsec(),
        }
    }
}

/// Where the record of a check is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordPlace<'a> {
    /// Beside the key: the key's name with `.checked.json` appended.
    BesideKey,
    /// In a folder of the caller's, for key folders that are read-only or shared. It is created if it is missing.
    Folder(&'a Path),
}

impl RecordPlace<'_> {
    /// The record's path for the key at `key`.
    ///
    /// In a folder the name carries a hash of the key's absolute path, since keys of two folders may share a name.
    pub fn path_for(&self, key: &Path) -> PathBuf {
        let mut name = key.file_name().unwrap_or_default().to_os_string();
        match self {
            Self::BesideKey => {
                name.push(".checked.json");
                key.with_file_name(name)
            }
            Self::Folder(folder) => {
                let absolute = fs::canonicalize(key).unwrap_or_else(|_| key.to_path_buf());
                let digest = KeyDigest::of_bytes(absolute.as_os_str().as_encoded_bytes());
                let tag: String = digest.to_string().chars().take(12).collect();
                name.push(format!(".{tag}.checked.json"));
                folder.join(name)
            }
        }
    }
}

/// A passed check: which state of which content passed it, and how thorough it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRecord {
    #[serde(flatten)]
    stamp: FileStamp,
    /// Digest of the file's content.
    pub digest: KeyDigest,
    /// The check that all points passed.
    pub check: PointCheck,
}

impl CheckRecord {
    pub(crate) const fn new(stamp: FileStamp, digest: KeyDigest, check: PointCheck) -> Self {
        Self {
            stamp,
            digest,
            check,
        }
    }

    /// Reads a record; `None` if there is none that can be read.
    pub fn read(path: &Path) -> Option<Self> {
        let text = fs::read(path).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Whether the record speaks of a file in this state and of a check at least as thorough as `check`.
    pub(crate) fn covers(&self, stamp: FileStamp, check: PointCheck) -> bool {
        self.stamp == stamp && self.check >= check
    }

    /// Writes the record, replacing an older one.
    ///
    /// # Errors
    /// [`KeyError::Io`] if the folder cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), KeyError> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|source| KeyError::Io {
                path: folder.to_path_buf(),
                action: "create the folder",
                source,
            })?;
        }
        replace_file(path, &text).map_err(|source| KeyError::Io {
            path: path.to_path_buf(),
            action: "write",
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> CheckRecord {
        let stamp = FileStamp {
            size_bytes: 47_373_928_632,
            modified_s: 1_700_000_000,
            modified_ns: 123_456_789,
        };
        CheckRecord::new(stamp, KeyDigest::of_bytes(b"key"), PointCheck::OnCurve)
    }

    #[test]
    fn another_size_or_time_or_a_deeper_check_is_not_covered() {
        let record = record();
        assert!(record.covers(record.stamp, PointCheck::OnCurve));
        assert!(!record.covers(record.stamp, PointCheck::Subgroup));
        for change in [
            |stamp: &mut FileStamp| stamp.size_bytes += 1,
            |stamp: &mut FileStamp| stamp.modified_s += 1,
            |stamp: &mut FileStamp| stamp.modified_ns += 1,
        ] {
            let mut stamp = record.stamp;
            change(&mut stamp);
            assert!(!record.covers(stamp, PointCheck::OnCurve));
        }
    }

    #[test]
    fn a_record_survives_a_round_trip_and_a_damaged_one_is_absent() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("new/state/k.json");
        assert_eq!(CheckRecord::read(&path), None);
        record().write(&path).expect("write");
        assert_eq!(CheckRecord::read(&path), Some(record()));
        fs::write(&path, "{\"size_bytes\": 1").expect("damage");
        assert_eq!(CheckRecord::read(&path), None);
    }

    #[test]
    fn keys_of_two_folders_with_one_name_have_two_records() {
        let state = Path::new("/state");
        let place = RecordPlace::Folder(state);
        let one = place.path_for(Path::new("/a/x.params"));
        let two = place.path_for(Path::new("/b/x.params"));
        assert_ne!(one, two);
        assert_eq!(one.parent(), Some(state));
        assert_eq!(
            RecordPlace::BesideKey.path_for(Path::new("/a/x.params")),
            Path::new("/a/x.params.checked.json")
        );
    }
}
