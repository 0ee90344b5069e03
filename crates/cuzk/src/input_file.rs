//! Files that the command line names and that anything may stand behind: a pipe nobody writes to, a
//! device that never ends, a key of 44 GiB in the place of a request. Each is refused before it is
//! read.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use bytes::Bytes;

use crate::exit::{ExitClass, OrExit as _, failure};

/// No request, proof or public data is larger; clients send no larger messages either.
const MAX_BYTES: u64 = 256 << 20;

/// The content of a file.
///
/// # Errors
/// Invalid input, when there is no such file, when it is none, or when it is too large; resource,
/// when it cannot be read.
pub(crate) fn read(path: &Path) -> anyhow::Result<Bytes> {
    let reading = || format!("reading {}", path.display());
    let metadata = fs::metadata(path).map_err(|error| {
        let class = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ExitClass::InvalidInput,
            _ => ExitClass::Resource,
        };
        crate::exit::classed(class, reading(), error)
    })?;
    // Opening a pipe would wait for somebody to write to it.
    if !metadata.is_file() {
        return Err(failure(
            ExitClass::InvalidInput,
            format!("{} is not a regular file", path.display()),
        ));
    }
    let mut content = Vec::new();
    let found = metadata.len();
    if found <= MAX_BYTES {
        fs::File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut content))
            .or_exit(ExitClass::Resource, reading)?;
    }
    let found = found.max(content.len() as u64);
    if found > MAX_BYTES {
        return Err(failure(
            ExitClass::InvalidInput,
            format!(
                "{} is {found} bytes long, at most {MAX_BYTES} are read",
                path.display()
            ),
        ));
    }
    Ok(Bytes::from(content))
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test and says where"
)]
pub(crate) mod tests {
    use std::{path::PathBuf, process::Command};

    use super::*;
    use crate::exit::class_of;

    fn refusal(path: &Path) -> String {
        let error = read(path).unwrap_err();
        assert_eq!(class_of(&error), ExitClass::InvalidInput);
        let text = format!("{error:#}");
        assert!(text.contains(path.to_str().unwrap()), "{text}");
        text
    }

    /// A named pipe that nobody writes to or reads from.
    pub(crate) fn pipe_in(folder: &Path) -> PathBuf {
        let pipe = folder.join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        pipe
    }

    #[test]
    fn a_file_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c1.json");
        for content in [vec![], b"{}".to_vec(), vec![7; 70_000]] {
            fs::write(&path, &content).unwrap();
            assert_eq!(read(&path).unwrap(), content);
        }
    }

    #[test]
    fn a_missing_file_is_invalid_input_and_named() {
        let folder = tempfile::tempdir().unwrap();
        refusal(&folder.path().join("c1.json"));
        fs::write(folder.path().join("file"), "").unwrap();
        refusal(&folder.path().join("file/c1.json"));
    }

    #[test]
    fn a_folder_a_pipe_and_a_device_are_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = pipe_in(folder.path());
        for path in [folder.path(), &pipe, Path::new("/dev/zero")] {
            assert!(refusal(path).ends_with("is not a regular file"));
        }
    }

    #[test]
    fn a_file_above_the_limit_is_refused_with_both_lengths_and_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        // A hole: to read it would take a terabyte of memory.
        fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let text = refusal(&path);
        assert!(text.contains("1099511627776 bytes"), "{text}");
        assert!(text.contains("at most 268435456"), "{text}");
    }
}
