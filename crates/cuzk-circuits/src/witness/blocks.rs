//! Circuits that repeat one block, and how the variables of a partition are put together.
//!
//! All blocks of a circuit have the same variables in the same order, so the place of each is known
//! before any is emitted: they are emitted in parallel, straight into place.

use blstrs::Scalar as Fr;
use ff::Field;
use rayon::prelude::*;

use super::error::{Block, SegmentOverrun, VanillaFault};
use super::sink::{Segment, SegmentKinds, SharedBits, Sink};
use crate::statement::UpstreamError;

/// A circuit as a prologue and blocks that are all alike.
pub(crate) trait Blocks: Sync {
    /// What the blocks need from the prologue.
    type Shared: Sync;

    /// Number of blocks.
    fn num_blocks(&self) -> usize;

    /// Number of blocks after which the last one is repeated.
    fn num_distinct(&self) -> usize {
        self.num_blocks()
    }

    /// Emits what stands before the blocks.
    fn prologue<S: Sink>(&self, sink: &mut S) -> Result<Self::Shared, VanillaFault>;

    /// Emits a block; `index` is below [`Blocks::num_distinct`].
    fn block<S: Sink>(
        &self,
        shared: &Self::Shared,
        index: usize,
        sink: &mut S,
    ) -> Result<(), VanillaFault>;
}

/// The variables of a circuit that repeats a block.
#[derive(Clone, Debug)]
pub(crate) struct BlockKinds {
    pub(super) prologue: SegmentKinds,
    pub(super) block: SegmentKinds,
    pub(super) num_blocks: usize,
}

/// The values of a partition's variables.
pub(crate) struct Values {
    /// Without ONE.
    pub(super) inputs: Vec<Fr>,
    pub(super) plane: Vec<u64>,
    pub(super) wide: Vec<Fr>,
}

/// Why a partition's variables could not be emitted.
#[derive(Debug)]
pub(crate) enum EmitError {
    /// The vanilla proof has not the circuit's form.
    Vanilla { block: Block, fault: VanillaFault },
    /// The emitter and the layout disagree.
    Layout { block: Block },
    /// Upstream refused the statement.
    Upstream(UpstreamError),
}

impl EmitError {
    pub(crate) fn vanilla(block: Block) -> impl Fn(VanillaFault) -> Self {
        move |fault| Self::Vanilla { block, fault }
    }

    fn layout(block: Block) -> impl Fn(SegmentOverrun) -> Self {
        move |SegmentOverrun| Self::Layout { block }
    }
}

impl BlockKinds {
    /// Emits the prologue and one block, whatever their values.
    pub(super) fn of<B: Blocks>(blank: &B) -> Result<Self, VanillaFault> {
        let mut prologue = SegmentKinds::default();
        let shared = blank.prologue(&mut prologue)?;
        let mut block = SegmentKinds::default();
        blank.block(&shared, 0, &mut block)?;
        Ok(Self {
            prologue,
            block,
            num_blocks: blank.num_blocks(),
        })
    }

    pub(super) fn num_aux(&self) -> usize {
        self.prologue.num_aux + self.num_blocks * self.block.num_aux
    }

    fn num_wide(&self) -> usize {
        self.prologue.num_wide + self.num_blocks * self.block.num_wide
    }

    fn num_inputs(&self) -> usize {
        self.prologue.num_inputs + self.num_blocks * self.block.num_inputs
    }

    /// Bit i is set where auxiliary variable i is wide.
    pub(super) fn wide_mask(&self) -> Vec<u64> {
        let mut mask = vec![0; self.num_aux().div_ceil(64)];
        let mut position = 0;
        let blocks = std::iter::repeat_n(&self.block, self.num_blocks);
        for segment in std::iter::once(&self.prologue).chain(blocks) {
            set_bits_at(&mut mask, position, &segment.wide_plane);
            position += segment.num_aux;
        }
        mask
    }

    /// Emits all blocks on the current rayon pool.
    pub(crate) fn emit<B: Blocks>(&self, blocks: &B) -> Result<Values, EmitError> {
        if blocks.num_blocks() != self.num_blocks {
            let block = Block::Repeated(self.num_blocks);
            return Err(EmitError::Layout { block });
        }
        let mut inputs = vec![Fr::ZERO; self.num_inputs()];
        let mut plane = vec![0; self.num_aux().div_ceil(64)];
        // In parallel, because the first touch of the pages takes most of the time.
        let mut wide: Vec<Fr> = (0..self.num_wide())
            .into_par_iter()
            .map(|_| Fr::ZERO)
            .collect();
        let mut rest = Rest {
            next: 0,
            first_word: 0,
            plane: &mut plane,
            wide: &mut wide,
            inputs: &mut inputs,
        };
        let (mut segment, end) = rest.take(&self.prologue);
        let shared = blocks
            .prologue(&mut segment)
            .map_err(EmitError::vanilla(Block::Prologue))?;
        let bits = segment.finish(end);
        let mut shared_bits = vec![bits.map_err(EmitError::layout(Block::Prologue))?];

        let num_distinct = blocks.num_distinct().min(self.num_blocks);
        let segments: Vec<_> = (0..num_distinct).map(|_| rest.take(&self.block)).collect();
        let emitted = segments
            .into_par_iter()
            .enumerate()
            .map(|(index, (mut segment, end))| {
                let block = Block::Repeated(index);
                blocks
                    .block(&shared, index, &mut segment)
                    .map_err(EmitError::vanilla(block))?;
                segment.finish(end).map_err(EmitError::layout(block))
            })
            .collect::<Result<Vec<_>, _>>()?;
        shared_bits.extend(emitted);
        self.merge(&mut plane, &shared_bits);
        let mut values = Values {
            inputs,
            plane,
            wide,
        };
        self.repeat_last(&mut values, num_distinct);
        Ok(values)
    }

    /// Sets the bits in words that segments share; they are disjoint.
    fn merge(&self, plane: &mut [u64], shared_bits: &[SharedBits]) {
        let mut start = 0;
        for (index, bits) in shared_bits.iter().enumerate() {
            let kinds = if index == 0 {
                &self.prologue
            } else {
                &self.block
            };
            let end = start + kinds.num_aux;
            for (word, bits) in [(start / 64, bits.head), (end / 64, bits.tail)] {
                if let Some(slot) = plane.get_mut(word) {
                    *slot |= bits;
                }
            }
            start = end;
        }
    }

    /// Copies the last of `num_distinct` blocks to those that follow.
    fn repeat_last(&self, values: &mut Values, num_distinct: usize) {
        let Some(last) = num_distinct.checked_sub(1) else {
            return;
        };
        let Self {
            prologue, block, ..
        } = self;
        let position = |index| prologue.num_aux + index * block.num_aux;
        let bits = bits_at(&values.plane, position(last), block.num_aux);
        for index in num_distinct..self.num_blocks {
            set_bits_at(&mut values.plane, position(index), &bits);
        }
        let wide = &mut values.wide[prologue.num_wide..];
        repeat_chunk(wide, block.num_wide, last);
        let inputs = &mut values.inputs[prologue.num_inputs..];
        repeat_chunk(inputs, block.num_inputs, last);
    }
}

/// Copies the chunk number `last` of `size` values to all chunks that follow.
fn repeat_chunk(values: &mut [Fr], size: usize, last: usize) {
    let (head, rest) = values.split_at_mut((last + 1) * size);
    let chunk = &head[last * size..];
    rest.par_chunks_exact_mut(size.max(1))
        .for_each(|copy| copy.copy_from_slice(chunk));
}

/// `count` bits from bit `start` of a plane on.
fn bits_at(plane: &[u64], start: usize, count: usize) -> Vec<u64> {
    let (first, shift) = (start / 64, start % 64);
    let word = |index: usize| plane.get(index).copied().unwrap_or(0);
    (0..count.div_ceil(64))
        .map(|index| {
            let low = word(first + index) >> shift;
            // In two steps, because a shift by 64 is none.
            let high = (word(first + index + 1) << 1) << (63 - shift);
            let remaining = count - index * 64;
            let mask = u64::MAX >> (64 - remaining.min(64));
            (low | high) & mask
        })
        .collect()
}

/// Sets the bits of a plane, from bit `start` on, that are set in `bits`.
fn set_bits_at(plane: &mut [u64], start: usize, bits: &[u64]) {
    let (first, shift) = (start / 64, start % 64);
    for (index, &word) in bits.iter().enumerate() {
        let parts = [word << shift, (word >> 1) >> (63 - shift)];
        for (slot, part) in plane[first + index..].iter_mut().zip(parts) {
            *slot |= part;
        }
    }
}

/// What has not been given to a segment yet.
struct Rest<'a> {
    /// Position of the next bit.
    next: usize,
    /// Index of the first word of `plane`.
    first_word: usize,
    plane: &'a mut [u64],
    wide: &'a mut [Fr],
    inputs: &'a mut [Fr],
}

impl<'a> Rest<'a> {
    /// The next segment and the position of its end.
    fn take(&mut self, kinds: &SegmentKinds) -> (Segment<'a>, usize) {
        const ENOUGH: &str = "the vectors were made for the variables of all segments";
        let start = self.next;
        let end = start + kinds.num_aux;
        let first = start.div_ceil(64);
        let last = (end / 64).max(first);
        self.plane
            .split_off_mut(..first - self.first_word)
            .expect(ENOUGH);
        let words = self.plane.split_off_mut(..last - first).expect(ENOUGH);
        self.first_word = last;
        self.next = end;
        let wide = self.wide.split_off_mut(..kinds.num_wide).expect(ENOUGH);
        let inputs = self.inputs.split_off_mut(..kinds.num_inputs).expect(ENOUGH);
        (Segment::new(start, words, wide, inputs), end)
    }
}
