//! A proof or a measurement takes minutes, and whether its file can be written should be known before. A reader of that
//! file never sees half of it, and what is no file (a device, a pipe) is never replaced by one.

use std::{
    fs::{self, Permissions},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use crate::exit::{ExitClass, OrExit as _, failure};

/// Read and write for all, less what the process's umask takes away.
const FILE_MODE: u32 = 0o666;

/// Where a result will be written.
#[derive(Debug)]
pub(crate) struct ResultFile {
    given: PathBuf,
    /// With links followed, so that they stay.
    target: PathBuf,
}

impl ResultFile {
    /// Makes sure that a file can be written at `path`, and writes none.
    ///
    /// # Errors
    /// Resource, when the folder is missing or takes no files, or when something other than a
    /// regular file is there.
    pub(crate) fn prepare(path: &Path) -> anyhow::Result<Self> {
        let (target, is_file) = match fs::metadata(path) {
            Ok(metadata) => (fs::canonicalize(path), metadata.is_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Ok(path.to_owned()), true),
            Err(error) => (Err(error), true),
        };
        if !is_file {
            return Err(failure(
                ExitClass::Resource,
                format!(
                    "{} exists and is not a regular file; name another, or leave --out out",
                    path.display()
                ),
            ));
        }
        let given = path.to_owned();
        let file = target.map(|target| Self { given, target });
        file.and_then(|file| file.temporary().map(|_| file))
            .or_exit(ExitClass::Resource, || writing(path))
    }

    /// Writes a file as a whole or not at all.
    ///
    /// # Errors
    /// Resource, when the system refuses.
    pub(crate) fn write(&self, content: &[u8]) -> anyhow::Result<()> {
        self.temporary()
            .and_then(|mut file| {
                file.write_all(content)?;
                file.as_file().sync_all()?;
                Ok(file.persist(&self.target)?)
            })
            .map(drop)
            .or_exit(ExitClass::Resource, || writing(&self.given))
    }

    /// A file beside the target that is removed when it is dropped.
    fn temporary(&self) -> io::Result<NamedTempFile> {
        let folder = match self.target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        tempfile::Builder::new()
            .permissions(Permissions::from_mode(FILE_MODE))
            .tempfile_in(folder)
    }
}

fn writing(path: &Path) -> String {
    format!("writing the proof to {}", path.display())
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test and says where"
)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::{exit::class_of, input_file::tests::pipe_in};

    fn refusal(path: &Path) -> String {
        let error = ResultFile::prepare(path).unwrap_err();
        assert_eq!(class_of(&error), ExitClass::Resource);
        let text = format!("{error:#}");
        assert!(text.contains(path.to_str().unwrap()), "{text}");
        text
    }

    #[test]
    fn nothing_is_written_before_the_proof_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("proof.bin");
        let file = ResultFile::prepare(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        for content in [b"one", b"two"] {
            file.write(content).unwrap();
            assert_eq!(fs::read(&path).unwrap(), content);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_and_a_folder_in_the_place_of_the_file_are_refused_before_the_proof() {
        let folder = tempfile::tempdir().unwrap();
        refusal(&folder.path().join("missing/proof.bin"));
        assert!(refusal(folder.path()).contains("not a regular file"));
        fs::write(folder.path().join("file"), "").unwrap();
        refusal(&folder.path().join("file/proof.bin"));
    }

    #[test]
    fn a_pipe_is_refused_and_stays_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = pipe_in(folder.path());
        assert!(refusal(&pipe).contains("not a regular file"));
        assert!(!fs::metadata(&pipe).unwrap().is_file());
    }

    #[test]
    fn a_link_stays_and_the_file_behind_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        ResultFile::prepare(&link).unwrap().write(b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_proof_has_the_mode_of_an_ordinary_file() {
        let folder = tempfile::tempdir().unwrap();
        let (ordinary, proof) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&ordinary, "").unwrap();
        ResultFile::prepare(&proof).unwrap().write(b"x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&proof), mode(&ordinary));
    }
}
