//! Why the journal cannot be trusted with a job.

use std::{io, path::PathBuf};

use thiserror::Error;

/// The journal failed.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The folder cannot be made or locked.
    #[error("opening the journal {path}: {source}")]
    Open {
        /// The journal's folder or file.
        path: PathBuf,
        /// What the system says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The database failed.
    #[error("the journal's database: {0}")]
    Database(Box<redb::Error>),
    /// A payload cannot be kept.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// The thread that waited for the disk is gone.
    #[error("the journal panicked")]
    Panicked,
    /// What was written is not what is read.
    #[error("the journal's record of job {job} cannot be read: {source}")]
    Record {
        /// Which job.
        job: String,
        /// What does not fit.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl JournalError {
    /// Whether room on the disk is what is missing.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Spool(SpoolError::NoRoom { .. }) => true,
            Self::Spool(SpoolError::Write { source, .. }) => is_full(source),
            Self::Database(error) => {
                matches!(&**error, redb::Error::Io(source) if is_full(source))
            }
            _ => false,
        }
    }

    /// Whether what was written about one job is damaged or gone, and the journal is whole otherwise.
    pub fn is_of_one_job(&self) -> bool {
        match self {
            Self::Record { .. } => true,
            Self::Spool(SpoolError::Read { source, .. }) => {
                source.kind() == io::ErrorKind::NotFound
            }
            _ => false,
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// A payload file cannot be written or read.
#[derive(Debug, Error)]
pub enum SpoolError {
    /// The disk would be left with less than the reserve.
    #[error(
        "no room for a payload of {payload_bytes} bytes in {path}: {available_bytes} bytes are free and {reserve_bytes} \
         of them are kept for results"
    )]
    NoRoom {
        /// The folder of payloads.
        path: PathBuf,
        /// Bytes to be written.
        payload_bytes: u64,
        /// Bytes free.
        available_bytes: u64,
        /// Bytes that must stay free.
        reserve_bytes: u64,
    },
    /// The system refuses to write.
    #[error("writing {path}: {source}")]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system refuses to read.
    #[error("reading {path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// The database library has an error type per act; they all convert into one.
macro_rules! from_database {
    ($($error:ty),*) => {
        $(impl From<$error> for JournalError {
            fn from(error: $error) -> Self {
                Self::Database(Box::new(error.into()))
            }
        })*
    };
}

from_database!(
    redb::TransactionError,
    redb::TableError,
    redb::StorageError,
    redb::CommitError
);
