//! A key that is half written must never be found under its name, and never stay behind under another.
//!
//! A file is written under a temporary name in the same folder, flushed to the disk, then renamed; dropping it before
//! that removes it.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// Read and write for all, less what the process's umask takes away, as for any file that a program creates.
const FILE_MODE: u32 = 0o666;

/// A file that has its content but not yet its name.
#[derive(Debug)]
pub(crate) struct StagedFile {
    file: NamedTempFile,
    destination: PathBuf,
}

impl StagedFile {
    /// Creates an empty file in the folder of `destination`.
    pub(crate) fn create(destination: &Path) -> io::Result<Self> {
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(destination.file_name().unwrap_or_default());
        prefix.push(".");
        let file = Builder::new()
            .prefix(&prefix)
            .suffix(".tmp")
            .permissions(Permissions::from_mode(FILE_MODE))
            .tempfile_in(folder_of(destination))?;
        Ok(Self {
            file,
            destination: destination.to_path_buf(),
        })
    }

    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    pub(crate) fn destination(&self) -> &Path {
        &self.destination
    }

    /// Flushes the content to the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.as_file().sync_all()
    }

    /// Gives the file its name; refuses with [`io::ErrorKind::AlreadyExists`] if it is taken and `replace` is false.
    pub(crate) fn publish(self, replace: bool) -> io::Result<()> {
        let folder = folder_of(&self.destination).to_path_buf();
        if replace {
            self.file.persist(&self.destination)?;
        } else {
            self.file.persist_noclobber(&self.destination)?;
        }
        sync_folder(&folder)
    }
}

/// Writes a small file whole or not at all.
pub(crate) fn replace_file(destination: &Path, content: &[u8]) -> io::Result<()> {
    let mut staged = StagedFile::create(destination)?;
    io::Write::write_all(staged.file(), content)?;
    staged.sync()?;
    staged.publish(true)
}

/// Makes renames and removals in `folder` durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The folder that holds `path`; the current one for a bare name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("folder")
            .map(|entry| {
                entry
                    .expect("entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_dropped_file_leaves_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        let mut staged = StagedFile::create(&folder.path().join("k.params")).expect("create");
        staged.file().write_all(b"half").expect("write");
        assert_eq!(names(folder.path()).len(), 1);
        drop(staged);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn an_existing_file_stays_unless_it_may_be_replaced() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("k.params");
        fs::write(&path, "old").expect("write");
        let staged = StagedFile::create(&path).expect("create");
        let error = staged.publish(false).expect_err("taken");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).expect("read"), b"old");
        replace_file(&path, b"new").expect("replace");
        assert_eq!(fs::read(&path).expect("read"), b"new");
        assert_eq!(names(folder.path()), ["k.params"]);
    }

    #[test]
    fn a_published_file_has_the_mode_of_an_ordinary_file() {
        let folder = tempfile::tempdir().expect("folder");
        let ordinary = folder.path().join("ordinary");
        fs::write(&ordinary, "").expect("write");
        let published = folder.path().join("published");
        replace_file(&published, b"").expect("publish");
        let mode = |path: &Path| fs::metadata(path).expect("metadata").permissions().mode();
        assert_eq!(mode(&published), mode(&ordinary));
    }
}
