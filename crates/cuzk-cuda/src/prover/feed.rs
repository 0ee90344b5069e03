//! A key that passes through the card in parts: while the card computes with one, the host reads the next one from the file
//! and it is uploaded.
//!
//! At any time at most two parts are on the card. The memory of the next one is allocated before the work on the present one is
//! queued, so that its upload need not wait for that work.

use std::{
    collections::VecDeque,
    num::NonZeroUsize,
    ops::Range,
    sync::{Mutex, MutexGuard},
};

use cuzk_groth16::{DeviceError, KeyError, ProvingKey, Section};
use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};

use super::device_error;
use crate::{
    CudaError, Device,
    device_key::decode,
    driver::{DeviceBuffer, Plain, Reserved, Staging, Transfers, as_bytes},
    elements::Base,
    joined,
    kernels::DeviceGroup,
    sync::lock,
};

/// Page-locked blocks: enough that the file is read while several copies are under way.
const NUM_BLOCKS: usize = 6;
const BLOCK_BYTES: usize = 32 << 20;
/// Page-locked memory of a device that has an uploader.
pub(super) const STAGING_BYTES: usize = NUM_BLOCKS * BLOCK_BYTES;
/// Bytes that a thread reads at a time.
const READ_BYTES: usize = 1 << 20;
/// Threads that read the file, at most: each copies 4 to 8 GB/s out of the system's cache, and a card takes 25 to 55.
const MAX_THREADS: usize = 8;

/// No position of a query.
const NO_POINT: u32 = u32::MAX;

/// What brings keys and large witnesses to a card: threads that read, and page-locked memory from which the card copies.
pub(super) struct Uploader {
    staging: Mutex<Staging>,
    threads: ThreadPool,
}

impl Uploader {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = threads.min(MAX_THREADS);
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("cuzk-upload-{index}"))
            .build();
        Ok(Self {
            staging: Staging::new(device.session(), NUM_BLOCKS, BLOCK_BYTES)
                .map(Mutex::new)
                .map_err(device_error)?,
            threads: pool.map_err(|source| DeviceError::Threads {
                pool: "upload",
                threads,
                source,
            })?,
        })
    }

    /// Runs `work` on the uploader's threads; another pass may have them read at the same time.
    pub(super) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.threads.install(work)
    }

    /// The blocks, for one pass.
    pub(super) fn blocks<'a>(&'a self, device: &'a Device) -> Blocks<'a> {
        Blocks {
            device,
            threads: &self.threads,
            // An upload that panicked waited for its copies.
            staging: lock(&self.staging),
        }
    }
}

/// The uploader in the hands of a pass.
pub(super) struct Blocks<'a> {
    device: &'a Device,
    threads: &'a ThreadPool,
    staging: MutexGuard<'a, Staging>,
}

impl Blocks<'_> {
    /// Uploads `len` values that lie in `pieces`, one behind the other. Whatever is queued from now on may use them.
    pub(super) fn upload<T: Plain>(
        &mut self,
        len: usize,
        pieces: &[&[u8]],
    ) -> Result<DeviceBuffer<T>, CudaError> {
        let reserved = self.device.session().reserve(len)?;
        let bytes = len * size_of::<T>();
        self.fill(reserved, bytes, |first, part| {
            joined::copy(pieces, first, part);
            Ok(())
        })
    }

    /// Uploads `bytes` bytes to reserved memory; `read` writes those from a first one on, on many threads.
    fn fill<T: Plain>(
        &mut self,
        reserved: Reserved<T>,
        bytes: usize,
        read: impl Fn(usize, &mut [u8]) -> Result<(), CudaError> + Sync,
    ) -> Result<DeviceBuffer<T>, CudaError> {
        let (threads, session) = (self.threads, self.device.session());
        self.staging
            .upload(session, reserved, bytes, |first, block| {
                let parts = block.par_chunks_mut(READ_BYTES).enumerate();
                let read = |(number, part)| read(first + number * READ_BYTES, part);
                threads.install(|| parts.try_for_each(read))
            })
    }
}

/// Consecutive bases of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) section: Section,
    pub(super) bases: Range<usize>,
}

/// A key in the course of a pass.
pub(super) struct Feed<'a> {
    device: &'a Device,
    key: &'a ProvingKey,
    blocks: Blocks<'a>,
    /// Parts that are not allocated yet.
    pieces: VecDeque<Piece>,
    /// Memory for the next part.
    reserved: Option<(Piece, Reserved<u64>)>,
    bad_points: DeviceBuffer<u32>,
}

impl<'a> Feed<'a> {
    /// A pass over the pieces of a key in their order; `transfers` has room for a number per query.
    pub(super) fn new(
        device: &'a Device,
        (key, uploader): (&'a ProvingKey, &'a Uploader),
        pieces: VecDeque<Piece>,
        transfers: &mut Transfers,
    ) -> Result<Self, CudaError> {
        let session = device.session();
        let mut bad_points = session.allocate(Section::QUERIES.len())?;
        let none = [NO_POINT; Section::QUERIES.len()];
        transfers.upload(session, as_bytes(&none), &mut bad_points, 0)?;
        let mut feed = Self {
            device,
            key,
            blocks: uploader.blocks(device),
            pieces,
            reserved: None,
            bad_points,
        };
        feed.reserve_next()?;
        Ok(feed)
    }

    fn reserve_next(&mut self) -> Result<(), CudaError> {
        if let Some(piece) = self.pieces.pop_front() {
            let reserved = self.reserve(&piece)?;
            self.reserved = Some((piece, reserved));
        }
        Ok(())
    }

    fn reserve(&self, piece: &Piece) -> Result<Reserved<u64>, CudaError> {
        let bytes = piece.bases.len() * piece.section.point_bytes();
        self.device.session().reserve(bytes / size_of::<u64>())
    }

    /// Uploads the next part, which is this one, and allocates for the one after it. Whatever is queued from now on may use
    /// the bases.
    pub(super) fn next<C: DeviceGroup>(
        &mut self,
        section: Section,
        bases: &Range<usize>,
    ) -> Result<DeviceBuffer<Base<C>>, CudaError> {
        let asked = Piece {
            section,
            bases: bases.clone(),
        };
        let reserved = match self.reserved.take() {
            Some((piece, reserved)) if piece == asked => reserved,
            _ => self.reserve(&asked)?,
        };
        let (key, width) = (self.key, section.point_bytes());
        let (first_byte, bytes) = (bases.start * width, bases.len() * width);
        let points = self.blocks.fill(reserved, bytes, |first, part| {
            read(key, section, first_byte + first, part)
        })?;
        self.reserve_next()?;
        let points = points.cast();
        let number = Section::QUERIES.iter().position(|query| *query == section);
        let marks = (&self.bad_points, number.unwrap_or_default());
        decode::<C>(self.device, &points, (bases.start, 0..bases.len()), marks)?;
        Ok(points)
    }

    /// What uploads other things in the course of the pass.
    pub(super) const fn blocks(&mut self) -> &mut Blocks<'a> {
        &mut self.blocks
    }

    /// The first position of each query that holds no point, among those that passed.
    pub(super) const fn bad_points(&self) -> &DeviceBuffer<u32> {
        &self.bad_points
    }
}

/// The error that marks of bad points tell, if they do.
pub(super) fn expect_points(bad_points: &[u32]) -> Result<(), CudaError> {
    let bad = Section::QUERIES.into_iter().zip(bad_points);
    match bad.into_iter().find(|(_, index)| **index != NO_POINT) {
        Some((section, &index)) => Err(CudaError::BadPoint { section, index }),
        None => Ok(()),
    }
}

/// Reads bytes of a query.
fn read(
    key: &ProvingKey,
    section: Section,
    first_byte: usize,
    into: &mut [u8],
) -> Result<(), CudaError> {
    key.read(section, first_byte, into).map_err(|error| {
        let source = match error {
            KeyError::Io { source, .. } => source,
            _ => std::io::ErrorKind::Other.into(),
        };
        CudaError::KeyRead {
            section,
            kind: source.kind(),
            os_error: source.raw_os_error(),
        }
    })
}
