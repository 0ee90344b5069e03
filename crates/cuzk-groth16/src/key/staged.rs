//! A key that is half written must never be found under its name, and never stay behind under another.
//!
//! Where the system knows files without a name, the content goes to one and gets its name at the end, so that even a
//! process that is killed leaves nothing. Elsewhere a file is written under a temporary name in the same folder and
//! renamed; dropping it before that removes it.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::unnamed;

/// Read and write for all, less what the process's umask takes away, as for any file that a program creates.
const FILE_MODE: u32 = 0o666;

/// A file that has its content but not yet its name.
#[derive(Debug)]
pub(crate) struct StagedFile {
    content: Content,
    destination: PathBuf,
}

#[derive(Debug)]
enum Content {
    /// Gone with the process.
    Unnamed(File),
    /// Removed when it is dropped.
    Named(NamedTempFile),
}

impl StagedFile {
    /// Creates an empty file in the folder of `destination`.
    pub(crate) fn create(destination: &Path) -> io::Result<Self> {
        let content = match unnamed::create(folder_of(destination), FILE_MODE)? {
            Some(file) => Content::Unnamed(file),
            None => Content::Named(named(destination)?),
        };
        Ok(Self {
            content,
            destination: destination.to_path_buf(),
        })
    }

    pub(crate) fn file(&mut self) -> &mut File {
        match &mut self.content {
            Content::Unnamed(file) => file,
            Content::Named(file) => file.as_file_mut(),
        }
    }

    pub(crate) fn destination(&self) -> &Path {
        &self.destination
    }

    /// Flushes the content to the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match &self.content {
            Content::Unnamed(file) => file.sync_all(),
            Content::Named(file) => file.as_file().sync_all(),
        }
    }

    /// Gives the file its name; refuses with [`io::ErrorKind::AlreadyExists`] if it is taken and `replace` is false.
    pub(crate) fn publish(self, replace: bool) -> io::Result<()> {
        let Self {
            content,
            destination,
        } = self;
        let folder = folder_of(&destination);
        match content {
            Content::Unnamed(file) if replace => {
                // A link never replaces, a rename does; the name in between lives for an instant.
                under_temporary_name(&destination, |builder| {
                    builder.make_in(folder, |path| unnamed::link(&file, path))
                })?
                .persist(&destination)?;
            }
            Content::Unnamed(file) => unnamed::link(&file, &destination)?,
            Content::Named(file) if replace => drop(file.persist(&destination)?),
            Content::Named(file) => drop(file.persist_noclobber(&destination)?),
        }
        sync_folder(folder)
    }
}

fn named(destination: &Path) -> io::Result<NamedTempFile> {
    under_temporary_name(destination, |builder| {
        builder.tempfile_in(folder_of(destination))
    })
}

/// Makes a file in the folder of `destination` under a name that shows what it was to become, should it ever stay.
fn under_temporary_name<R>(
    destination: &Path,
    make: impl FnOnce(&Builder<'_, '_>) -> io::Result<R>,
) -> io::Result<R> {
    let mut prefix = OsString::from(".");
    prefix.push(destination.file_name().unwrap_or_default());
    prefix.push(".");
    make(
        Builder::new()
            .prefix(&prefix)
            .suffix(".tmp")
            .permissions(Permissions::from_mode(FILE_MODE)),
    )
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

    /// A file on its way to `destination`, staged in each way that this system knows.
    fn staged_each_way(destination: &Path) -> Vec<StagedFile> {
        let by_name = StagedFile {
            content: Content::Named(named(destination).expect("create")),
            destination: destination.to_path_buf(),
        };
        vec![StagedFile::create(destination).expect("create"), by_name]
    }

    #[test]
    fn a_dropped_file_leaves_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        for mut staged in staged_each_way(&folder.path().join("k.params")) {
            staged.file().write_all(b"half").expect("write");
        }
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }

    #[test]
    fn a_file_that_is_being_written_has_no_name_that_a_killed_process_would_leave() {
        let folder = tempfile::tempdir().expect("folder");
        let mut staged = StagedFile::create(&folder.path().join("k.params")).expect("create");
        staged.file().write_all(b"half").expect("write");
        let unnamed = matches!(staged.content, Content::Unnamed(_));
        assert_eq!(names(folder.path()).is_empty(), unnamed);
        staged.publish(false).expect("publish");
        assert_eq!(names(folder.path()), ["k.params"]);
    }

    #[test]
    fn an_existing_file_stays_unless_it_may_be_replaced() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("k.params");
        for (refused, mut replacing) in
            std::iter::zip(staged_each_way(&path), staged_each_way(&path))
        {
            fs::write(&path, "old").expect("write");
            let error = refused.publish(false).expect_err("taken");
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&path).expect("read"), b"old");
            replacing.file().write_all(b"new").expect("write");
            replacing.publish(true).expect("replace");
            assert_eq!(fs::read(&path).expect("read"), b"new");
        }
        assert_eq!(names(folder.path()), ["k.params"]);
    }

    #[test]
    fn a_published_file_has_the_mode_of_an_ordinary_file() {
        let folder = tempfile::tempdir().expect("folder");
        let ordinary = folder.path().join("ordinary");
        fs::write(&ordinary, "").expect("write");
        let published = folder.path().join("published");
        let mode = |path: &Path| fs::metadata(path).expect("metadata").permissions().mode();
        for staged in staged_each_way(&published) {
            staged.publish(true).expect("publish");
            assert_eq!(mode(&published), mode(&ordinary));
        }
    }
}
