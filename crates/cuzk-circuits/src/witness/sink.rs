//! Where the variables of a circuit go, in allocation order.
//!
//! Emitters know the order and the values, not what is kept of them: a partition's witness writes
//! into its share of the planes, the layout of a circuit only remembers which variables are wide.

use blstrs::Scalar as Fr;

use super::error::SegmentOverrun;

/// Takes variables in the order in which upstream's gadgets allocate them.
pub(crate) trait Sink {
    /// Boolean variables: the lowest `count` bits of `word`, lowest first. At most 64; the bits
    /// above them are zero.
    fn push_bits(&mut self, word: u64, count: u32);

    /// A variable that may have any value.
    fn push_wide(&mut self, value: Fr);

    /// A public input.
    fn push_input(&mut self, value: Fr);

    /// The bits of `word` that `mask` selects, lowest first.
    fn push_masked(&mut self, word: u32, mask: u32) {
        if mask == u32::MAX {
            return self.push_bits(u64::from(word), 32);
        }
        let (mut word, mut mask) = (u64::from(word), u64::from(mask));
        while mask != 0 {
            let gap = mask.trailing_zeros();
            (word, mask) = (word >> gap, mask >> gap);
            let run = mask.trailing_ones();
            self.push_bits(word & ((1 << run) - 1), run);
            (word, mask) = (word >> run, mask >> run);
        }
    }
}

/// One task's share of a partition's witness.
///
/// The share of the bit plane may begin and end inside a word. Whole words are written in place;
/// what belongs into the shared words at both ends is returned by [`Segment::finish`].
pub(super) struct Segment<'a> {
    words: std::slice::IterMut<'a, u64>,
    wide: std::slice::IterMut<'a, Fr>,
    inputs: std::slice::IterMut<'a, Fr>,
    /// Bits of the word that is being filled.
    pending: u64,
    /// Position of the next bit in that word.
    position: u32,
    /// Whether the first word is shared and still being filled.
    in_head: bool,
    head: u64,
    /// A variable came for which there was no room.
    overrun: bool,
}

/// Bits of the words that a segment shares with its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SharedBits {
    /// In the word where the segment begins.
    pub(super) head: u64,
    /// In the word where it ends.
    pub(super) tail: u64,
}

impl<'a> Segment<'a> {
    /// A segment whose first bit is bit `start % 64` of a word. `words` are the words that belong
    /// to it alone.
    pub(super) fn new(
        start: usize,
        words: &'a mut [u64],
        wide: &'a mut [Fr],
        inputs: &'a mut [Fr],
    ) -> Self {
        let position = (start % 64) as u32;
        Self {
            words: words.iter_mut(),
            wide: wide.iter_mut(),
            inputs: inputs.iter_mut(),
            pending: 0,
            position,
            in_head: position != 0,
            head: 0,
            overrun: false,
        }
    }

    fn flush(&mut self) {
        if self.in_head {
            self.in_head = false;
            self.head = self.pending;
        } else {
            store(&mut self.words, self.pending, &mut self.overrun);
        }
    }

    /// The bits of shared words.
    ///
    /// # Errors
    /// When the variables that came are not as many as there is room for.
    pub(super) fn finish(self, end: usize) -> Result<SharedBits, SegmentOverrun> {
        let full = self.words.len() == 0 && self.wide.len() == 0 && self.inputs.len() == 0;
        if self.overrun || !full || self.position as usize != end % 64 {
            return Err(SegmentOverrun);
        }
        Ok(SharedBits {
            head: self.head,
            tail: self.pending,
        })
    }
}

fn store<T>(slots: &mut std::slice::IterMut<'_, T>, value: T, overrun: &mut bool) {
    match slots.next() {
        Some(slot) => *slot = value,
        None => *overrun = true,
    }
}

impl Sink for Segment<'_> {
    fn push_bits(&mut self, word: u64, count: u32) {
        debug_assert!(count <= 64 && (count == 64 || word >> count == 0));
        self.pending |= word << self.position;
        let filled = self.position + count;
        if filled < 64 {
            self.position = filled;
            return;
        }
        self.flush();
        self.pending = word.checked_shr(64 - self.position).unwrap_or(0);
        self.position = filled - 64;
    }

    fn push_wide(&mut self, value: Fr) {
        self.push_bits(0, 1);
        store(&mut self.wide, value, &mut self.overrun);
    }

    fn push_input(&mut self, value: Fr) {
        store(&mut self.inputs, value, &mut self.overrun);
    }
}

/// Which of a segment's variables are wide; their values are forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SegmentKinds {
    /// Bit i is set where auxiliary variable i is wide.
    pub(super) wide_plane: Vec<u64>,
    pub(super) num_aux: usize,
    pub(super) num_wide: usize,
    pub(super) num_inputs: usize,
}

impl SegmentKinds {
    fn grow(&mut self, count: usize) {
        self.num_aux += count;
        self.wide_plane.resize(self.num_aux.div_ceil(64), 0);
    }
}

impl Sink for SegmentKinds {
    fn push_bits(&mut self, _: u64, count: u32) {
        self.grow(count as usize);
    }

    fn push_wide(&mut self, _: Fr) {
        let index = self.num_aux;
        self.grow(1);
        self.wide_plane[index / 64] |= 1 << (index % 64);
        self.num_wide += 1;
    }

    fn push_input(&mut self, _: Fr) {
        self.num_inputs += 1;
    }
}
