//! The points of a key do not fit into memory, so they leave in the file's order as they are made, by whatever makes them.

use std::error::Error;
use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::{KeyScalars, SetupError, SetupProgress, SetupStep};
use crate::key::{DigestHasher, KeyDigest, Section, StagedFile};

/// Batches between the source and the writer.
const QUEUED_BATCHES: usize = 1;

/// Makes the points of a key: the processor, or another device.
pub trait PointSource {
    /// Sends [`Section::H`], [`Section::L`], [`Section::A`], [`Section::BG1`] and [`Section::BG2`], in this order: each by
    /// [`PointStream::begin`], and then its points by [`PointStream::points`].
    ///
    /// # Errors
    /// What the stream returned, or [`StreamError::Source`].
    fn send(
        &mut self,
        scalars: &KeyScalars,
        stream: &mut PointStream<'_>,
    ) -> Result<(), StreamError>;
}

/// Why a stream of points ended early.
#[derive(Debug)]
pub enum StreamError {
    /// The writer is gone; it holds the reason.
    WriterGone,
    /// What makes the points failed.
    Source(Box<dyn Error + Send + Sync>),
}

/// What a stream has written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) bytes: u64,
    pub(super) digest: KeyDigest,
}

/// Encoded points on their way to the file.
pub struct PointStream<'a> {
    batches: SyncSender<Vec<Vec<u8>>>,
    progress: &'a (dyn Fn(SetupProgress) + Sync),
    points_done: u64,
    points_total: u64,
}

/// Lets `produce` write to `staged` through a thread of its own and flushes the file at the end.
///
/// # Errors
/// [`SetupError::Io`] if a write fails; `produce` is told by [`StreamError::WriterGone`] and should return it.
/// [`SetupError::Source`] if `produce` fails.
pub(super) fn write_stream<'a>(
    staged: &mut StagedFile,
    points_total: u64,
    progress: &'a (dyn Fn(SetupProgress) + Sync),
    produce: impl FnOnce(&mut PointStream<'a>) -> Result<(), StreamError>,
) -> Result<Written, SetupError> {
    let path = staged.destination().to_path_buf();
    let (sender, receiver) = sync_channel(QUEUED_BATCHES);
    let (produced, written) = std::thread::scope(|scope| {
        let writer = scope.spawn(move || drain(staged, &receiver));
        let mut stream = PointStream {
            batches: sender,
            progress,
            points_done: 0,
            points_total,
        };
        let produced = produce(&mut stream);
        drop(stream);
        (produced, writer.join())
    });
    let written = match written {
        Ok(result) => result.map_err(|source| SetupError::Io {
            path,
            action: "write",
            source,
        })?,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    match produced {
        Err(StreamError::Source(source)) => Err(SetupError::Source(source)),
        // A writer that is gone has told why above.
        Ok(()) | Err(StreamError::WriterGone) => Ok(written),
    }
}

fn drain(
    staged: &mut StagedFile,
    batches: &Receiver<Vec<Vec<u8>>>,
) -> Result<Written, std::io::Error> {
    let mut hasher = DigestHasher::new();
    let mut bytes = 0;
    while let Ok(batch) = batches.recv() {
        for block in batch {
            staged.file().write_all(&block)?;
            hasher.update(&block);
            bytes += block.len() as u64;
        }
    }
    staged.sync()?;
    Ok(Written {
        bytes,
        digest: hasher.finish(),
    })
}

impl PointStream<'_> {
    /// Writes bytes that are no points.
    pub(super) fn bytes(&self, bytes: Vec<u8>) -> Result<(), StreamError> {
        self.send(vec![bytes])
    }

    /// Begins a vector of `count` points.
    ///
    /// # Errors
    /// [`StreamError::WriterGone`].
    pub fn begin(&self, section: Section, count: usize) -> Result<(), StreamError> {
        debug_assert!(section.vector_index().is_some(), "{section} is a vector");
        self.bytes((count as u32).to_be_bytes().to_vec())
    }

    /// Writes `num_points` points of the vector that was begun last, encoded as a key file holds them, in any pieces.
    ///
    /// # Errors
    /// [`StreamError::WriterGone`].
    pub fn points(&mut self, num_points: usize, encoded: Vec<Vec<u8>>) -> Result<(), StreamError> {
        self.send(encoded)?;
        self.points_done += num_points as u64;
        (self.progress)(SetupProgress {
            step: SetupStep::Points,
            done: self.points_done,
            total: self.points_total,
        });
        Ok(())
    }

    fn send(&self, batch: Vec<Vec<u8>>) -> Result<(), StreamError> {
        self.batches
            .send(batch)
            .map_err(|_| StreamError::WriterGone)
    }
}
