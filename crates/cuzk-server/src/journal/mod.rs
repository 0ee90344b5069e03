//! A daemon that is killed must not forget what it accepted. Each accepted job is written down before its acceptance is
//! answered, and its result before the result is answered; after a restart, jobs without a result are proved and results
//! are still there.
//!
//! The record of a job is a row of an embedded database, its payload a file beside it. Rows are small and many, payloads
//! large and few, and a payload is of no use once there is a result.

mod error;
mod identity;
mod retention;
mod spool;
mod store;

pub use error::{JournalError, SpoolError};
pub(crate) use identity::Identity;
pub use retention::Retention;
pub(crate) use store::{Acceptance, Unfinished, unix_ms};
pub use store::{Journal, JournalSettings};
