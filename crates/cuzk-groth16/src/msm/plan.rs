//! Before any base is touched: where each block's bases begin, how many scalars are wide, how wide the windows are.

use rayon::prelude::*;

use super::scalars::{MAX_WINDOW_BITS, MIN_WINDOW_BITS, Windows};
use super::segment::{NonZero, ScalarSegment};

/// Scalars per block, the unit in which bases are decoded; a multiple of 64.
pub(crate) const BLOCK_SCALARS: usize = 4096;
/// Wide points per chunk at most, the unit in which Pippenger's method runs: 8 MiB of G1 points.
pub(crate) const CHUNK_POINTS: usize = 1 << 16;
/// Wide points per chunk where there are few: four blocks, enough for buckets to be added up in full batches.
const SMALL_CHUNK_POINTS: usize = 4 * BLOCK_SCALARS;
/// Chunks into which few points are cut, so that their decoded bases are not all held at once.
const MIN_CHUNKS: usize = 4;
/// Parts of a hundred by which additions may exceed the least where that makes windows narrower and buckets fewer.
const ADDITIONS_FOR_MEMORY: usize = 105;
/// Blocks per chunk at most, so that pages are given back also where wide scalars are rare.
const CHUNK_BLOCKS: usize = 256;
/// Bytes that buckets may take: 17-bit windows over G1 fit.
pub(crate) const MAX_BUCKET_BYTES: usize = 128 << 20;

/// A part of a segment whose selected scalars multiply consecutive bases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) scalars: ScalarSegment<'a>,
    pub(crate) first_base: usize,
    pub(crate) num_bases: usize,
    pub(crate) num_wide: usize,
}

/// Wide points per chunk of a multiplication with `num_wide` of them; at least what any block may hold.
pub(crate) fn chunk_points(num_wide: usize) -> usize {
    (num_wide / MIN_CHUNKS).clamp(SMALL_CHUNK_POINTS, CHUNK_POINTS)
}

/// All blocks in the order of their bases.
#[derive(Clone, Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) blocks: Vec<Block<'a>>,
    pub(crate) num_wide: usize,
}

impl<'a> Plan<'a> {
    /// Counts selected and wide scalars block by block.
    pub(crate) fn new(segments: &[ScalarSegment<'a>]) -> Self {
        let parts: Vec<ScalarSegment<'a>> = segments
            .iter()
            .flat_map(|segment| {
                (0..segment.len())
                    .step_by(BLOCK_SCALARS)
                    .map(|start| segment.part(start, BLOCK_SCALARS))
            })
            .collect();
        let mut blocks: Vec<Block<'a>> = parts
            .into_par_iter()
            .map(|scalars| {
                let mut num_wide = 0;
                scalars.for_each_non_zero(|_, value| {
                    num_wide += usize::from(matches!(value, NonZero::Wide(_)));
                });
                Block {
                    scalars,
                    first_base: 0,
                    num_bases: scalars.count_selected(),
                    num_wide,
                }
            })
            .collect();
        let mut first_base = 0;
        for block in &mut blocks {
            block.first_base = first_base;
            first_base += block.num_bases;
        }
        let num_wide = blocks.iter().map(|block| block.num_wide).sum();
        Self { blocks, num_wide }
    }

    /// Runs of blocks with at most [`chunk_points`] wide scalars each.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &[Block<'a>]> {
        let chunk_points = chunk_points(self.num_wide);
        let mut rest = self.blocks.as_slice();
        std::iter::from_fn(move || {
            let mut wide = 0;
            let fits = |block: &&Block<'a>| {
                wide += block.num_wide;
                wide <= chunk_points
            };
            let len = rest.iter().take(CHUNK_BLOCKS).take_while(fits).count();
            let (chunk, tail) = rest.split_at(len);
            rest = tail;
            (!chunk.is_empty()).then_some(chunk)
        })
    }
}

/// The narrowest windows that come near the least number of additions, within [`MAX_BUCKET_BYTES`].
///
/// Additions are one per point and window and two per bucket.
pub(crate) fn choose_windows(num_wide: usize, point_bytes: usize) -> Windows {
    let additions = |windows: &Windows| windows.count as usize * (num_wide + 2 * windows.buckets());
    let candidates = || {
        (MIN_WINDOW_BITS..=MAX_WINDOW_BITS)
            .map(Windows::of_bits)
            .filter(|windows| {
                windows.count as usize * windows.buckets() * point_bytes <= MAX_BUCKET_BYTES
            })
    };
    let least = candidates().map(|windows| additions(&windows)).min();
    candidates()
        .find(|windows| {
            least.is_some_and(|least| 100 * additions(windows) <= ADDITIONS_FOR_MEMORY * least)
        })
        .unwrap_or(Windows::of_bits(MIN_WINDOW_BITS))
}
