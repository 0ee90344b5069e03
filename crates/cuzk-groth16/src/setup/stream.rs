//! The points of a key do not fit into memory, so they are computed block by block and leave in the file's order.
//!
//! Workers of the rayon pool compute the blocks of a batch, one thread hashes and writes the batch before.

use std::io::Write;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use blstrs::Scalar;
use rayon::prelude::*;

use super::fixed_base::{BLOCK_LEN, BlockScratch, FixedBase};
use super::{SetupError, SetupProgress, SetupStep};
use crate::curve::{Affine, PointKernel, encode_point};
use crate::field::Coordinate;
use crate::key::{DigestHasher, KeyDigest, Section, StagedFile};

/// Blocks of one batch: several for each worker, so that none waits long for the last.
const MIN_BLOCKS_PER_BATCH: usize = 64;
const BLOCKS_PER_THREAD: usize = 8;
/// Batches between the workers and the writer.
const QUEUED_BATCHES: usize = 1;

/// What a stream has written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) bytes: u64,
    pub(super) digest: KeyDigest,
}

/// The writer is gone; it holds the reason.
#[derive(Debug)]
pub(super) struct WriterGone;

/// Encoded points on their way to the file.
pub(super) struct PointStream<'a> {
    batches: SyncSender<Vec<Vec<u8>>>,
    progress: &'a (dyn Fn(SetupProgress) + Sync),
    points_done: u64,
    points_total: u64,
}

/// Lets `produce` write to `staged` through a thread of its own and flushes the file at the end.
///
/// # Errors
/// [`SetupError::Io`] if a write fails; `produce` is told by [`WriterGone`] and should return it.
pub(super) fn write_stream<'a>(
    staged: &mut StagedFile,
    points_total: u64,
    progress: &'a (dyn Fn(SetupProgress) + Sync),
    produce: impl FnOnce(&mut PointStream<'a>) -> Result<(), WriterGone>,
) -> Result<Written, SetupError> {
    let path = staged.destination().to_path_buf();
    let (sender, receiver) = sync_channel(QUEUED_BATCHES);
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(move || drain(staged, &receiver));
        let mut stream = PointStream {
            batches: sender,
            progress,
            points_done: 0,
            points_total,
        };
        // The writer's own answer tells why it left, so the producer's is not needed.
        let _: Result<(), WriterGone> = produce(&mut stream);
        drop(stream);
        writer.join()
    });
    match written {
        Ok(result) => result.map_err(|source| SetupError::Io {
            path,
            action: "write",
            source,
        }),
        Err(panic) => std::panic::resume_unwind(panic),
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
    /// Writes bytes that are not a vector of computed points.
    pub(super) fn bytes(&self, bytes: Vec<u8>) -> Result<(), WriterGone> {
        self.batches.send(vec![bytes]).map_err(|_| WriterGone)
    }

    /// Writes a vector: its length, then `scalars(i)` times the base point for each of `count` positions.
    ///
    /// `scalars` appends the scalars of a range of positions.
    pub(super) fn vector<K: PointKernel>(
        &mut self,
        section: Section,
        count: usize,
        base: &FixedBase<K>,
        scalars: &(dyn Fn(Range<usize>, &mut Vec<Scalar>) + Sync),
    ) -> Result<(), WriterGone> {
        debug_assert_eq!(
            section.point_bytes(),
            2 * K::Field::BYTES,
            "base of the group"
        );
        self.bytes((count as u32).to_be_bytes().to_vec())?;
        let blocks_per_batch =
            MIN_BLOCKS_PER_BATCH.max(BLOCKS_PER_THREAD * rayon::current_num_threads());
        let batch_len = blocks_per_batch * BLOCK_LEN;
        for start in (0..count).step_by(batch_len) {
            let end = count.min(start + batch_len);
            let batch: Vec<Vec<u8>> = (start..end)
                .into_par_iter()
                .step_by(BLOCK_LEN)
                .map_init(
                    || Workspace::new(base),
                    |space, first| space.encode(base, first..end.min(first + BLOCK_LEN), scalars),
                )
                .collect();
            self.batches.send(batch).map_err(|_| WriterGone)?;
            self.points_done += (end - start) as u64;
            (self.progress)(SetupProgress {
                step: SetupStep::Points,
                done: self.points_done,
                total: self.points_total,
            });
        }
        Ok(())
    }
}

/// One worker's space for a block.
struct Workspace<K: PointKernel> {
    scalars: Vec<Scalar>,
    points: Vec<Affine<K::Field>>,
    scratch: BlockScratch<K>,
}

impl<K: PointKernel> Workspace<K> {
    fn new(base: &FixedBase<K>) -> Self {
        Self {
            scalars: Vec::with_capacity(BLOCK_LEN),
            points: Vec::with_capacity(BLOCK_LEN),
            scratch: base.scratch(),
        }
    }

    fn encode(
        &mut self,
        base: &FixedBase<K>,
        range: Range<usize>,
        scalars: &(dyn Fn(Range<usize>, &mut Vec<Scalar>) + Sync),
    ) -> Vec<u8> {
        self.scalars.clear();
        self.points.clear();
        scalars(range, &mut self.scalars);
        base.multiply(&self.scalars, &mut self.scratch, &mut self.points);
        let width = 2 * K::Field::BYTES;
        let mut bytes = vec![0; self.points.len() * width];
        for (point, bytes) in self.points.iter().zip(bytes.chunks_exact_mut(width)) {
            encode_point(point, bytes);
        }
        bytes
    }
}
