//! Which variables occur in a query.
//!
//! A proving key leaves out the points of variables that never occur in A (or B), so prover and
//! key must agree on one bitmap per query. The rule is bellperson's: a variable is dense when
//! some row holds it with a coefficient other than zero.

use bellpepper_core::Index;

use crate::matrix::Entry;

/// A bitmap over variables with its number of ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Density {
    words: Vec<u64>,
    len: usize,
    count_ones: usize,
}

impl Density {
    /// A bitmap of `len` variables, none of which occurs.
    pub fn zeros(len: usize) -> Self {
        Self {
            words: vec![0; len.div_ceil(64)],
            len,
            count_ones: 0,
        }
    }

    /// A bitmap of `len` variables, all of which occur.
    pub fn ones(len: usize) -> Self {
        let mut density = Self::default();
        for first in (0..len).step_by(64) {
            let count = (len - first).min(64);
            density.push_bits(u64::MAX >> (64 - count), count);
        }
        density
    }

    /// A bitmap of `len` variables from its words, which have no ones beyond it.
    pub(crate) fn from_words(words: Vec<u64>, len: usize) -> Self {
        let count_ones = words.iter().map(|word| word.count_ones() as usize).sum();
        Self {
            words,
            len,
            count_ones,
        }
    }

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the bitmap covers no variable at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of variables that occur.
    pub fn count_ones(&self) -> usize {
        self.count_ones
    }

    /// Whether variable `index` occurs.
    ///
    /// # Panics
    /// When `index` is not below [`Density::len`].
    pub fn get(&self, index: usize) -> bool {
        assert!(index < self.len, "variable {index} of {}", self.len);
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// The bits, least significant first, 64 variables a word; bits beyond the length are zero.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Indices of the variables that occur, ascending.
    pub fn iter_ones(&self) -> impl Iterator<Item = usize> + '_ {
        ones_of(&self.words)
    }

    /// Appends one variable that does not occur yet.
    pub(crate) fn push_zero(&mut self) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.len += 1;
    }

    /// Marks variable `index` as occurring.
    pub(crate) fn set(&mut self, index: usize) {
        let word = &mut self.words[index / 64];
        let bit = 1 << (index % 64);
        if *word & bit == 0 {
            *word |= bit;
            self.count_ones += 1;
        }
    }

    /// Appends all of `other` but its first `skip` variables.
    pub(crate) fn append(&mut self, other: &Self, skip: usize) {
        for first in (skip..other.len).step_by(64) {
            self.push_bits(bits_from(&other.words, first), (other.len - first).min(64));
        }
    }

    /// Appends `count` of 1 to 64 variables; the bits beyond `count` are zero.
    fn push_bits(&mut self, bits: u64, count: usize) {
        let offset = self.len % 64;
        match self.words.last_mut() {
            Some(last) if offset > 0 => {
                *last |= bits << offset;
                if offset + count > 64 {
                    self.words.push(bits >> (64 - offset));
                }
            }
            _ => self.words.push(bits),
        }
        self.len += count;
        self.count_ones += bits.count_ones() as usize;
    }

    /// Appends the inputs of an extending system, whose first input stands for the same ONE.
    pub(crate) fn append_inputs(&mut self, other: &Self) {
        if other.len > 0 && other.get(0) {
            self.set(0);
        }
        self.append(other, 1);
    }
}

/// The 64 bits of a bitmap from `first` on, zero beyond the last word.
pub(crate) fn bits_from(words: &[u64], first: usize) -> u64 {
    let (index, offset) = (first / 64, first % 64);
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    match offset {
        0 => word(index),
        _ => word(index) >> offset | word(index + 1) << (64 - offset),
    }
}

/// Indices of the ones in a bitmap, 64 bits a word, ascending.
pub(crate) fn ones_of(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(word_index, &word)| {
        std::iter::successors((word != 0).then_some(word), |&rest| {
            let rest = rest & (rest - 1);
            (rest != 0).then_some(rest)
        })
        .map(move |rest| word_index * 64 + rest.trailing_zeros() as usize)
    })
}

/// The bitmaps that decide which points the queries of a key hold.
///
/// A over inputs is always full, because of the input rows (see [`crate::Shape::num_rows`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Densities {
    /// Private variables that occur in A.
    pub a_aux: Density,
    /// Public variables that occur in B.
    pub b_input: Density,
    /// Private variables that occur in B.
    pub b_aux: Density,
}

impl Densities {
    pub(crate) fn push_aux(&mut self) {
        self.a_aux.push_zero();
        self.b_aux.push_zero();
    }

    pub(crate) fn push_input(&mut self) {
        self.b_input.push_zero();
    }

    /// Marks the variables of one row of A and one of B.
    pub(crate) fn mark(&mut self, a: &[Entry], b: &[Entry]) {
        for entry in a {
            if let Index::Aux(index) = entry.column.index() {
                self.a_aux.set(index);
            }
        }
        for entry in b {
            match entry.column.index() {
                Index::Input(index) => self.b_input.set(index),
                Index::Aux(index) => self.b_aux.set(index),
            }
        }
    }

    /// Takes over the variables of a system that extends this one.
    pub(crate) fn append(&mut self, other: &Self) {
        self.a_aux.append(&other.a_aux, 0);
        self.b_input.append_inputs(&other.b_input);
        self.b_aux.append(&other.b_aux, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_bitmap_has_no_ones() {
        let density = Density::zeros(0);
        assert!(density.is_empty());
        assert_eq!((density.count_ones(), density.iter_ones().count()), (0, 0));
    }

    #[test]
    fn the_shared_one_is_counted_once_when_a_system_is_extended() {
        let (mut first, mut second) = (Density::zeros(2), Density::zeros(3));
        first.set(0);
        second.set(0);
        second.set(2);
        first.append_inputs(&second);
        assert_eq!(first.iter_ones().collect::<Vec<_>>(), [0, 3]);
        assert_eq!((first.len(), first.count_ones()), (4, 2));
    }

    proptest! {
        #[test]
        fn a_bitmap_agrees_with_a_list_of_flags(
            flags in proptest::collection::vec(any::<bool>(), 0..300),
            more in proptest::collection::vec(any::<bool>(), 0..200),
            skip in 0_usize..3,
        ) {
            let build = |flags: &[bool]| {
                let mut density = Density::default();
                for &flag in flags {
                    density.push_zero();
                    if flag {
                        density.set(density.len() - 1);
                        density.set(density.len() - 1);
                    }
                }
                density
            };
            let mut density = build(&flags);
            density.append(&build(&more), skip);
            let all: Vec<bool> = flags.iter().chain(more.iter().skip(skip)).copied().collect();
            prop_assert_eq!(&density, &build(&all));
            prop_assert_eq!(Density::ones(all.len()), build(&vec![true; all.len()]));
            prop_assert_eq!(density.len(), all.len());
            prop_assert_eq!((0..all.len()).map(|index| density.get(index)).collect::<Vec<_>>(), all.clone());
            let ones: Vec<usize> = (0..all.len()).filter(|&index| all[index]).collect();
            prop_assert_eq!(density.count_ones(), ones.len());
            prop_assert_eq!(density.iter_ones().collect::<Vec<_>>(), ones);
        }
    }
}
