//! A proving key is a file of up to 57 GiB that somebody downloaded: it may be empty, cut, of another circuit, damaged.
//!
//! [`ProvingKey`] maps such a `.params` file and trusts nothing in it: length fields are compared with the file's
//! length before anything is used, the verifying key at its head is decoded and checked at once, and the queries are
//! checked on request ([`ProvingKey::check`]), once, with the result remembered beside the file. Layout: α, β, γ, δ,
//! then the vectors ic, h, l, a, `b_g1`, `b_g2`, each a big-endian u32 and uncompressed points, as bellperson writes it.

mod check;
mod counts;
mod digest;
mod error;
mod layout;
mod mapped;
mod point;
mod proving;
mod record;
mod section;
mod source;
mod staged;
#[cfg(test)]
mod tests;
mod unnamed;

pub use check::{CheckReport, CheckRequest, CheckSource, KeyProgress, KeyStep};
pub use counts::QueryCounts;
pub use digest::{KeyDigest, ParseDigestError};
pub use error::{BadPoint, FormatError, KeyError};
pub use point::{PointCheck, PointDefect};
pub use proving::{OpenOptions, ProvingKey};
pub use record::{CheckRecord, RecordPlace};
pub use section::Section;

pub(crate) use digest::DigestHasher;
pub(crate) use layout::KeyLayout;
pub(crate) use point::{SubgroupField, read_point};
pub(crate) use source::KeySource;
pub(crate) use staged::{StagedFile, folder_of, replace_file, sync_folder};
