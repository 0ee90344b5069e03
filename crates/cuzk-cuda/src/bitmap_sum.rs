//! Most of a witness is 0 or 1, and a sum of scalars 0 and 1 times bases needs no scalars: it adds the bases that a
//! bitmap selects.

use std::ops::Range;

use crate::{
    CudaError, Device,
    driver::{Arguments, DeviceBuffer, Grid},
    elements::Base,
    kernels::{self, DeviceGroup},
    multiexp::{SEGMENT_WORDS, SPLIT_WORDS, join_grid, sum_grid},
};

const BLOCK_THREADS: u32 = 1024;
/// Bits that one block reads: four words for each of 1024 threads.
const BLOCK_BITS: usize = 4 * 32 * BLOCK_THREADS as usize;
const EVEN_THREADS: u32 = 256;
/// Partial sums that one block joins.
const JOIN: usize = 1024;
/// Words of the description of the work: total, segments, joins, one, next.
const WORK_WORDS: usize = 5;

/// Consecutive bits of a bitmap, and which base each has.
#[derive(Clone, Debug)]
pub struct Bitmap<'a> {
    /// Bit i of word w is position 32 w + i.
    pub words: &'a DeviceBuffer<u32>,
    /// The positions that count; the first is a multiple of 32.
    pub positions: Range<usize>,
    /// Which positions have a base; without it, all.
    pub selection: Option<Selection<'a>>,
    /// Number of the first base that is there; of the others, numbers count from the first position on.
    pub first_base: u32,
}

impl<'a> Bitmap<'a> {
    /// The first `len` bits, each with the base of its position.
    pub fn all(words: &'a DeviceBuffer<u32>, len: usize) -> Self {
        Self {
            words,
            positions: 0..len,
            selection: None,
            first_base: 0,
        }
    }

    fn words(&self, arguments: Arguments) -> Arguments {
        let first = self.positions.start / 32;
        let arguments = arguments.buffer_from(self.words, first);
        let arguments = match self.selection {
            Some(selection) => arguments.buffer_from(selection.words, first),
            None => arguments.null(),
        };
        arguments.word(self.positions.len() as u32)
    }

    /// What the kernel adds to a position's number among those that have a base, or to its distance from the first
    /// position; modulo 2^32.
    fn offset(&self) -> u32 {
        let first = match self.selection {
            Some(selection) => selection.first,
            None => self.positions.start as u32,
        };
        first.wrapping_sub(self.first_base)
    }
}

/// Positions that have a base.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// Per 32 positions: in the low half which have a base, in the high half how many before have one.
    pub words: &'a DeviceBuffer<u64>,
    /// The base of the first position that has one.
    pub first: u32,
}

/// Room for sums over bitmaps of up to `len` positions.
#[derive(Debug)]
pub struct BitmapSum<C> {
    len: usize,
    target: usize,
    max_joins: usize,
    counts: DeviceBuffer<u32>,
    refs: DeviceBuffer<u32>,
    work: DeviceBuffer<u32>,
    segments: DeviceBuffer<u32>,
    joins: DeviceBuffer<u32>,
    last: DeviceBuffer<u32>,
    sums: DeviceBuffer<Base<C>>,
}

impl<C: DeviceGroup> BitmapSum<C> {
    /// Allocates for up to `len` positions.
    ///
    /// # Errors
    ///
    /// [`CudaError::TooManyTerms`] from 2^31 positions on, [`CudaError::OutOfMemory`].
    pub fn new(device: &Device, len: usize) -> Result<Self, CudaError> {
        const MAX: usize = (1 << 31) - 1;
        if len > MAX {
            return Err(CudaError::TooManyTerms {
                terms: len,
                max: MAX,
            });
        }
        let target = Self::target(device);
        let max_joins = target.div_ceil(JOIN);
        let session = device.session();
        Ok(Self {
            len,
            target,
            max_joins,
            counts: session.allocate(len.div_ceil(BLOCK_BITS))?,
            refs: session.allocate(len)?,
            work: session.allocate(WORK_WORDS)?,
            segments: session.allocate(SEGMENT_WORDS * target)?,
            joins: session.allocate(SPLIT_WORDS * max_joins)?,
            last: session.allocate(SPLIT_WORDS)?,
            sums: session.allocate(1 + max_joins + target)?,
        })
    }

    /// Segments of which every lane takes as many as it can, once.
    fn target(device: &Device) -> usize {
        let grid = sum_grid::<C>(device);
        (grid.blocks.0 * grid.threads) as usize * C::KERNELS.width
    }

    /// Bytes of device memory that sums over `len` positions take, but for some KiB.
    pub(crate) fn room_bytes(device: &Device, len: usize) -> u64 {
        let segments = Self::target(device) * (4 * SEGMENT_WORDS + size_of::<Base<C>>());
        (4 * len + segments) as u64
    }

    /// The sum of the bases whose bit is set. Bit i of word w selects base 32 w + i; bits from the number of bases on
    /// do not count. Waits for the device.
    ///
    /// # Errors
    ///
    /// [`CudaError::Length`] when there are more bases than the room, or fewer words than bases / 32.
    pub fn run(
        &mut self,
        device: &Device,
        bases: &DeviceBuffer<Base<C>>,
        words: &DeviceBuffer<u32>,
    ) -> Result<C::Point, CudaError> {
        self.queue(device, bases, &Bitmap::all(words, bases.len()))?;
        let sums = device.session().download_first(&self.sums, 1)?;
        Ok(sums.first().copied().unwrap_or_default().to_point())
    }

    /// Where the sum will be: its first value.
    pub(crate) fn result(&self) -> &DeviceBuffer<Base<C>> {
        &self.sums
    }

    /// Queues the sum of the bases whose bit is set. The caller has bases for all positions that have one.
    ///
    /// # Errors
    ///
    /// [`CudaError::Length`] when there are more positions than the room, or fewer words than they need.
    pub fn queue(
        &mut self,
        device: &Device,
        bases: &DeviceBuffer<Base<C>>,
        bitmap: &Bitmap<'_>,
    ) -> Result<(), CudaError> {
        let len = bitmap.positions.len();
        if len > self.len {
            return Err(CudaError::Length {
                what: "bitmap",
                got: len,
                expected: self.len,
            });
        }
        let selected = bitmap
            .selection
            .map_or(bitmap.words.len(), |selection| selection.words.len());
        let covered = bitmap.words.len().min(selected);
        if covered < bitmap.positions.end.div_ceil(32) {
            return Err(CudaError::Length {
                what: "words",
                got: covered,
                expected: bitmap.positions.end.div_ceil(32),
            });
        }
        let blocks = len.div_ceil(BLOCK_BITS) as u32;
        let session = device.session();
        session.clear(&mut self.work)?;
        session.clear(&mut self.sums)?;
        if blocks > 0 {
            let count = bitmap.words(Arguments::new().buffer(&self.counts));
            session.launch(
                kernels::BITMAP_COUNT,
                Grid::new(blocks, BLOCK_THREADS),
                &count,
            )?;
            let scan = Arguments::new()
                .buffer(&self.counts)
                .buffer(&self.work)
                .word(blocks);
            session.launch(kernels::BITMAP_SCAN, Grid::new(1, BLOCK_THREADS), &scan)?;
            let refs = Arguments::new().buffer(&self.refs).buffer(&self.counts);
            let refs = bitmap.words(refs).word(bitmap.offset());
            session.launch(
                kernels::BITMAP_REFS,
                Grid::new(blocks, BLOCK_THREADS),
                &refs,
            )?;
        }
        self.queue_sums(device, bases)
    }

    fn queue_sums(
        &mut self,
        device: &Device,
        bases: &DeviceBuffer<Base<C>>,
    ) -> Result<(), CudaError> {
        let session = device.session();
        let even = Arguments::new()
            .buffer(&self.segments)
            .buffer(&self.joins)
            .buffer(&self.last)
            .buffer(&self.work)
            .word(self.target as u32)
            .word(self.max_joins as u32);
        session.launch(
            kernels::EVEN_SEGMENTS,
            Grid::for_items(self.target as u64, EVEN_THREADS),
            &even,
        )?;
        let sum = Arguments::new()
            .buffer(&self.sums)
            .buffer(&self.segments)
            .buffer_from(&self.work, 1)
            .buffer_from(&self.work, 4)
            .buffer(bases)
            .buffer(&self.refs);
        session.launch(C::KERNELS.sum_segments, sum_grid::<C>(device), &sum)?;
        let join = Arguments::new()
            .buffer(&self.sums)
            .buffer(&self.joins)
            .buffer_from(&self.work, 2)
            .word(1 + self.max_joins as u32);
        session.launch(
            C::KERNELS.join_splits,
            join_grid::<C>(self.max_joins as u32),
            &join,
        )?;
        let last = Arguments::new()
            .buffer(&self.sums)
            .buffer(&self.last)
            .buffer_from(&self.work, 3)
            .word(1);
        session.launch(C::KERNELS.join_splits, join_grid::<C>(1), &last)
    }
}
