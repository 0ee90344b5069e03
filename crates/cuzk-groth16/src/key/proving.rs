//! The handle through which provers read a key file.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::layout::KeyLayout;
use super::mapped::MappedFile;
use super::record::FileStamp;
use super::{KeyError, KeySource, QueryCounts, Section};
use crate::verifying_key::VerifyingKey;

/// How a key file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Bytes after the last vector that belong to something else, such as a ceremony's transcript; `None` is zero.
    /// A file that is longer or shorter than vectors and trailer is refused.
    pub trailer_bytes: Option<u64>,
}

/// A memory-mapped `.params` file whose layout and verifying key have been checked.
///
/// The points of the queries are checked only by [`ProvingKey::check_points`] or [`ProvingKey::check`]; until then
/// decoding a damaged query gives wrong points, never undefined behaviour.
///
/// The file must not be truncated or overwritten in place while it is open: replace it by renaming a new file.
#[derive(Debug)]
pub struct ProvingKey {
    path: PathBuf,
    file: File,
    stamp: FileStamp,
    map: MappedFile,
    layout: KeyLayout,
    verifying_key: VerifyingKey,
}

impl ProvingKey {
    /// Maps the file at `path`, checks every length in it, and decodes its verifying key with subgroup checks.
    ///
    /// # Errors
    /// [`KeyError::Io`] and [`KeyError::NotAFile`] if there is nothing to map, [`KeyError::Format`] if the content is
    /// not a key (empty, cut, too long, contradictory lengths, a bad point in the verifying key).
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self, KeyError> {
        let path = path.as_ref().to_path_buf();
        let KeySource {
            file,
            metadata,
            map,
        } = KeySource::open(&path)?;
        let stamp = FileStamp::of(&metadata);
        let format = |defect| KeyError::Format {
            path: path.clone(),
            defect,
        };
        let layout = KeyLayout::of_params(map.bytes(), options.trailer_bytes.unwrap_or(0))
            .map_err(format)?;
        let verifying_key = VerifyingKey::from_layout(map.bytes(), &layout).map_err(format)?;
        Ok(Self {
            path,
            file,
            stamp,
            map,
            layout,
            verifying_key,
        })
    }

    /// The path given to [`ProvingKey::open`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The verifying key at the head of the file.
    pub const fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying_key
    }

    /// Lengths of the vectors.
    pub fn counts(&self) -> QueryCounts {
        self.layout.counts()
    }

    /// Bytes of the file, trailer included.
    pub fn file_bytes(&self) -> u64 {
        self.stamp.size_bytes
    }

    /// The trailer, empty unless one was declared.
    pub fn trailer(&self) -> &[u8] {
        &self.map.bytes()[self.layout.end()..]
    }

    /// The uncompressed points of one section, without its length field.
    pub fn section_bytes(&self, section: Section) -> &[u8] {
        &self.map.bytes()[self.layout.range(section)]
    }

    /// Reads bytes of a section, from `first_byte` on, out of the file and not through the mapping: threads that copy much of a
    /// key take no page faults for it, and nothing becomes resident.
    ///
    /// # Errors
    /// [`KeyError::Io`], also when the section ends before.
    pub fn read(
        &self,
        section: Section,
        first_byte: usize,
        into: &mut [u8],
    ) -> Result<(), KeyError> {
        let bytes = self.layout.range(section);
        let inside = first_byte
            .checked_add(into.len())
            .is_some_and(|end| end <= bytes.len());
        let read = if inside {
            self.file
                .read_exact_at(into, (bytes.start + first_byte) as u64)
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        };
        read.map_err(|source| KeyError::Io {
            path: self.path.clone(),
            action: "read the points",
            source,
        })
    }

    /// Lets the pages of points `range` of a section leave the resident set; they are read again when touched.
    pub fn release(&self, section: Section, range: Range<usize>) {
        let width = section.point_bytes();
        let bytes = self.layout.range(section);
        let start = bytes
            .start
            .saturating_add(range.start.saturating_mul(width));
        let end = bytes.start.saturating_add(range.end.saturating_mul(width));
        self.map.release(start..end.min(bytes.end));
    }

    pub(super) const fn map(&self) -> &MappedFile {
        &self.map
    }

    pub(super) const fn stamp(&self) -> FileStamp {
        self.stamp
    }

    /// Refuses a file that was written to since it was opened.
    ///
    /// # Errors
    /// [`KeyError::Changed`].
    pub(super) fn expect_unchanged(&self) -> Result<(), KeyError> {
        let metadata = self.file.metadata().map_err(|source| KeyError::Io {
            path: self.path.clone(),
            action: "read the metadata",
            source,
        })?;
        let now = FileStamp::of(&metadata);
        if now == self.stamp {
            return Ok(());
        }
        Err(KeyError::Changed {
            path: self.path.clone(),
            expected_bytes: self.stamp.size_bytes,
            found_bytes: now.size_bytes,
        })
    }
}
