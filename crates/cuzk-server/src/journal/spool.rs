//! Payloads as files. A payload is there as a whole or not at all, also when the machine loses power while it is written.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use bytes::Bytes;

use super::SpoolError;

const EXTENSION: &str = "request";
/// Of a file that is not complete.
const PARTIAL_EXTENSION: &str = "partial";

/// A folder of payloads, one file per job that has no result.
#[derive(Debug)]
pub(super) struct Spool {
    folder: PathBuf,
    reserve_bytes: u64,
}

impl Spool {
    /// Uses a folder that exists.
    pub(super) fn new(folder: PathBuf, reserve_bytes: u64) -> Self {
        Self {
            folder,
            reserve_bytes,
        }
    }

    /// Keeps a payload; when this returns, it survives a loss of power.
    pub(super) fn write(&self, job: &str, payload: &[u8]) -> Result<(), SpoolError> {
        self.expect_room(payload.len() as u64)?;
        let partial = self.path(job, PARTIAL_EXTENSION);
        let written = File::create(&partial)
            .and_then(|file| write_durably(file, payload))
            .and_then(|()| fs::rename(&partial, self.path(job, EXTENSION)))
            .and_then(|()| sync_folder(&self.folder));
        written.map_err(|source| {
            // A file cut short only takes up room; it is the first error that counts.
            let _ = fs::remove_file(&partial);
            SpoolError::Write {
                path: partial,
                source,
            }
        })
    }

    /// The payload of a job.
    pub(super) fn read(&self, job: &str) -> Result<Bytes, SpoolError> {
        let path = self.path(job, EXTENSION);
        match fs::read(&path) {
            Ok(content) => Ok(content.into()),
            Err(source) => Err(SpoolError::Read { path, source }),
        }
    }

    /// Forgets a payload. What cannot be removed now is removed by the next [`Spool::retain`].
    pub(super) fn remove(&self, job: &str) {
        let path = self.path(job, EXTENSION);
        if let Err(error) = fs::remove_file(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %path.display(), %error, "a payload cannot be removed");
        }
    }

    /// Removes every file that is not the payload of one of these jobs.
    pub(super) fn retain(&self, jobs: &HashSet<String>) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let is_payload = path.extension().is_some_and(|found| found == EXTENSION);
            let job = path.file_stem().and_then(|stem| stem.to_str());
            if !(is_payload && job.is_some_and(|job| jobs.contains(job))) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    fn path(&self, job: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{job}.{extension}"))
    }

    fn expect_room(&self, payload_bytes: u64) -> Result<(), SpoolError> {
        let found = rustix::fs::statvfs(&self.folder).map_err(|error| SpoolError::Write {
            path: self.folder.clone(),
            source: error.into(),
        })?;
        let available_bytes = found.f_bavail.saturating_mul(found.f_frsize);
        if available_bytes >= payload_bytes.saturating_add(self.reserve_bytes) {
            return Ok(());
        }
        Err(SpoolError::NoRoom {
            path: self.folder.clone(),
            payload_bytes,
            available_bytes,
            reserve_bytes: self.reserve_bytes,
        })
    }
}

/// A file whose content can be forced to the disk.
trait Durable: Write {
    fn sync(&self) -> io::Result<()>;
}

impl Durable for File {
    fn sync(&self) -> io::Result<()> {
        self.sync_all()
    }
}

fn write_durably(mut file: impl Durable, payload: &[u8]) -> io::Result<()> {
    file.write_all(payload)?;
    file.sync()
}

/// Makes a rename in a folder durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spool(reserve_bytes: u64) -> (tempfile::TempDir, Spool) {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Spool::new(folder.path().to_owned(), reserve_bytes);
        (folder, spool)
    }

    fn num_files(folder: &tempfile::TempDir) -> usize {
        fs::read_dir(folder.path()).expect("the folder").count()
    }

    #[test]
    fn a_payload_is_read_as_it_was_written_until_it_is_removed() {
        let (folder, spool) = spool(0);
        spool.write("a", b"payload").expect("room");
        assert_eq!(&spool.read("a").expect("kept")[..], b"payload");
        spool.remove("a");
        spool.remove("a");
        let error = spool.read("a").expect_err("gone").to_string();
        assert!(error.contains("a.request"), "{error}");
        assert_eq!(num_files(&folder), 0);
    }

    #[test]
    fn what_belongs_to_no_job_is_removed() {
        let (folder, spool) = spool(0);
        spool.write("kept", b"1").expect("room");
        spool.write("stale", b"2").expect("room");
        fs::write(folder.path().join("kept.partial"), "half").expect("write");
        let jobs = HashSet::from(["kept".to_owned()]);
        spool.retain(&jobs).expect("the folder is ours");
        assert_eq!(num_files(&folder), 1);
        assert!(spool.read("kept").is_ok());
    }

    #[test]
    fn a_disk_without_room_is_refused_with_all_numbers_and_leaves_nothing() {
        let (folder, spool) = spool(u64::MAX / 2);
        let error = spool
            .write("a", b"payload")
            .expect_err("no disk is that large");
        let text = error.to_string();
        assert!(text.contains("payload of 7 bytes"), "{text}");
        assert!(text.contains(&(u64::MAX / 2).to_string()), "{text}");
        assert_eq!(num_files(&folder), 0);
    }

    /// A disk that takes a few bytes and is full then.
    struct FullAfter(usize);

    impl Write for FullAfter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            match taken {
                0 => Err(io::ErrorKind::StorageFull.into()),
                taken => Ok(taken),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Durable for FullAfter {
        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_disk_that_fills_up_while_a_payload_is_written_is_recognized() {
        let source = write_durably(FullAfter(3), b"payload").expect_err("full after 3 bytes");
        let error = super::super::JournalError::from(SpoolError::Write {
            path: "a.partial".into(),
            source,
        });
        assert!(error.is_full(), "{error}");
        write_durably(FullAfter(7), b"payload").expect("it just fits");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_but_not_a_full_disk() {
        let (folder, spool) = spool(0);
        drop(folder);
        let error = super::super::JournalError::from(
            spool.write("a", b"1").expect_err("the folder is gone"),
        );
        assert!(!error.is_full(), "{error}");
    }
}
