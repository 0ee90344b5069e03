//! Anything may stand behind the path of a key: nothing, a folder, a pipe that nobody writes to, a device that never
//! ends, a proving key where a verifying key belongs. It is looked at before it is opened, and mapped before it is read.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

use super::mapped::MappedFile;
use super::{FormatError, KeyError};

/// A file with content.
#[derive(Debug)]
pub(crate) struct KeySource {
    pub(crate) file: File,
    pub(crate) metadata: Metadata,
    pub(crate) map: MappedFile,
}

impl KeySource {
    /// Opens and maps the file at `path`.
    ///
    /// # Errors
    /// [`KeyError::Io`], [`KeyError::NotAFile`], and [`FormatError::Empty`].
    pub(crate) fn open(path: &Path) -> Result<Self, KeyError> {
        let not_a_file = || KeyError::NotAFile {
            path: path.to_path_buf(),
        };
        // Opening a pipe would wait for somebody to write to it.
        let found = fs::metadata(path).map_err(|error| refused(path, "open", error))?;
        if !found.is_file() {
            return Err(not_a_file());
        }
        let file = File::open(path).map_err(|error| refused(path, "open", error))?;
        let metadata = file
            .metadata()
            .map_err(|error| refused(path, "read the metadata", error))?;
        if !metadata.is_file() {
            return Err(not_a_file());
        }
        if metadata.len() == 0 {
            return Err(KeyError::Format {
                path: path.to_path_buf(),
                defect: FormatError::Empty,
            });
        }
        let map = MappedFile::new(&file).map_err(|error| refused(path, "map", error))?;
        Ok(Self {
            file,
            metadata,
            map,
        })
    }
}

fn refused(path: &Path, action: &'static str, source: io::Error) -> KeyError {
    KeyError::Io {
        path: path.to_path_buf(),
        action,
        source,
    }
}
