//! Before any base is touched: where each block's bases begin, how many scalars are wide, how wide the windows are.

use rayon::prelude::*;

use super::scalars::{
    Classifier, MAX_WINDOW_BITS, MIN_WINDOW_BITS, ScalarClass, ScalarSegment, Windows,
};

/// Scalars per block, the unit in which bases are decoded; a multiple of 64.
pub(crate) const BLOCK_SCALARS: usize = 4096;
/// Wide points per chunk, the unit in which Pippenger's method runs: 8 MiB of G1 points.
pub(crate) const CHUNK_POINTS: usize = 1 << 16;
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
        let classifier = Classifier::new();
        let mut blocks: Vec<Block<'a>> = parts
            .into_par_iter()
            .map(|scalars| {
                let mut num_bases = 0;
                let mut num_wide = 0;
                for scalar in scalars.iter_selected() {
                    num_bases += 1;
                    num_wide += usize::from(classifier.class(&scalar) == ScalarClass::Wide);
                }
                Block {
                    scalars,
                    first_base: 0,
                    num_bases,
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

    /// Runs of blocks with at most [`CHUNK_POINTS`] wide scalars each.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &[Block<'a>]> {
        let mut rest = self.blocks.as_slice();
        std::iter::from_fn(move || {
            let mut wide = 0;
            let fits = |block: &&Block<'a>| {
                wide += block.num_wide;
                wide <= CHUNK_POINTS
            };
            let len = rest.iter().take(CHUNK_BLOCKS).take_while(fits).count();
            let (chunk, tail) = rest.split_at(len);
            rest = tail;
            (!chunk.is_empty()).then_some(chunk)
        })
    }
}

/// The windows that minimize additions: one per point and window, two per bucket, within [`MAX_BUCKET_BYTES`].
pub(crate) fn choose_windows(num_wide: usize, point_bytes: usize) -> Windows {
    (MIN_WINDOW_BITS..=MAX_WINDOW_BITS)
        .map(Windows::of_bits)
        .filter(|windows| {
            windows.count as usize * windows.buckets() * point_bytes <= MAX_BUCKET_BYTES
        })
        .min_by_key(|windows| windows.count as usize * (num_wide + 2 * windows.buckets()))
        .unwrap_or(Windows::of_bits(MIN_WINDOW_BITS))
}
