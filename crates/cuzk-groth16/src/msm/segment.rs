//! Runs of scalars as they lie in memory: field elements, or a packed witness whose booleans are bits.
//!
//! Both say which of their scalars have a base, and both are walked without the zeros, of which a witness has more than
//! anything else. In a packed run that takes a few instructions for each *non-zero* scalar and none for the others.

use blstrs::Scalar;
use cuzk_r1cs::PackedWitness;

use super::error::MsmError;
use super::scalars::{Classifier, ScalarClass};
use super::source::BaseSource;
use crate::curve::CurveField;

/// A run of scalars, all or some of which multiply the next bases.
#[derive(Clone, Copy, Debug)]
pub struct ScalarSegment<'a> {
    values: Values<'a>,
    selected: Option<&'a [u64]>,
}

#[derive(Clone, Copy, Debug)]
enum Values<'a> {
    Plain(&'a [Scalar]),
    /// Private variables of a packed witness from `start`, a multiple of 64.
    Packed {
        witness: &'a PackedWitness,
        start: usize,
        len: usize,
    },
}

/// A selected scalar that is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NonZero {
    One,
    MinusOne,
    Wide(Scalar),
}

impl<'a> ScalarSegment<'a> {
    /// Every scalar has a base.
    pub const fn all(scalars: &'a [Scalar]) -> Self {
        Self {
            values: Values::Plain(scalars),
            selected: None,
        }
    }

    /// The scalars whose bit is set have a base; bit i is bit i mod 64 of word i / 64.
    ///
    /// # Errors
    /// [`MsmError::Selection`] when there is not one word for every 64 scalars.
    pub fn selected(scalars: &'a [Scalar], words: &'a [u64]) -> Result<Self, MsmError> {
        Self::all(scalars).select(words)
    }

    /// The private variables of a witness; every one has a base.
    pub fn packed(witness: &'a PackedWitness) -> Self {
        Self {
            values: Values::Packed {
                witness,
                start: 0,
                len: witness.kinds().num_aux(),
            },
            selected: None,
        }
    }

    /// The private variables of a witness; those whose bit is set have a base.
    ///
    /// # Errors
    /// [`MsmError::Selection`] when there is not one word for every 64 variables.
    pub fn packed_selected(witness: &'a PackedWitness, words: &'a [u64]) -> Result<Self, MsmError> {
        Self::packed(witness).select(words)
    }

    fn select(self, words: &'a [u64]) -> Result<Self, MsmError> {
        let expected = self.len().div_ceil(64);
        if words.len() != expected {
            return Err(MsmError::Selection {
                words: words.len(),
                scalars: self.len(),
                expected,
            });
        }
        Ok(Self {
            selected: Some(words),
            ..self
        })
    }

    /// Number of scalars, selected or not.
    pub(crate) const fn len(&self) -> usize {
        match self.values {
            Values::Plain(scalars) => scalars.len(),
            Values::Packed { len, .. } => len,
        }
    }

    /// The part of the segment that `start` and `len`, multiples of 64 or reaching its end, cut out.
    pub(crate) fn part(&self, start: usize, len: usize) -> Self {
        let end = (start + len).min(self.len());
        let values = match self.values {
            Values::Plain(scalars) => Values::Plain(&scalars[start..end]),
            Values::Packed {
                witness,
                start: first,
                ..
            } => Values::Packed {
                witness,
                start: first + start,
                len: end - start,
            },
        };
        Self {
            values,
            selected: self
                .selected
                .map(|words| &words[start / 64..end.div_ceil(64)]),
        }
    }

    /// Number of selected scalars.
    pub(crate) fn count_selected(&self) -> usize {
        if self.selected.is_none() {
            return self.len();
        }
        (0..self.len().div_ceil(64))
            .map(|word| self.selection(word).count_ones() as usize)
            .sum()
    }

    /// The selected scalars in order, zeros among them.
    pub(crate) fn to_scalars(self) -> Vec<Scalar> {
        let is_selected = |index: usize| self.selection(index / 64) >> (index % 64) & 1 == 1;
        (0..self.len())
            .filter(|&index| is_selected(index))
            .map(|index| match self.values {
                Values::Plain(scalars) => scalars[index],
                Values::Packed { witness, start, .. } => {
                    let (variable, kinds) = (start + index, witness.kinds());
                    if kinds.is_wide(variable) {
                        witness.wide()[kinds.wide_rank(variable)]
                    } else {
                        Scalar::from(witness.plane()[variable / 64] >> (variable % 64) & 1)
                    }
                }
            })
            .collect()
    }

    /// Calls `visit` with the number of the base and the value of each selected scalar that is not zero, in order.
    pub(crate) fn for_each_non_zero(&self, mut visit: impl FnMut(usize, NonZero)) {
        match self.values {
            Values::Plain(scalars) => self.walk_plain(scalars, &mut visit),
            Values::Packed { witness, start, .. } => self.walk_packed(witness, start, &mut visit),
        }
    }

    fn walk_plain(&self, scalars: &[Scalar], visit: &mut impl FnMut(usize, NonZero)) {
        let classifier = Classifier::new();
        let mut base = 0;
        for (word, scalars) in scalars.chunks(64).enumerate() {
            let selection = self.selection(word);
            for (bit, scalar) in scalars.iter().enumerate() {
                if selection >> bit & 1 == 1 {
                    if let Some(value) = classify(&classifier, scalar) {
                        visit(base, value);
                    }
                    base += 1;
                }
            }
        }
    }

    fn walk_packed(
        &self,
        witness: &PackedWitness,
        start: usize,
        visit: &mut impl FnMut(usize, NonZero),
    ) {
        if self.len() == 0 {
            return;
        }
        let classifier = Classifier::new();
        let (mut base, mut rank) = (0, witness.kinds().wide_rank(start));
        for word in 0..self.len().div_ceil(64) {
            let selection = self.selection(word);
            let ones = witness.plane()[start / 64 + word];
            let wide = witness.kinds().wide_mask()[start / 64 + word];
            let mut rest = (ones | wide) & selection;
            while rest != 0 {
                let below = (rest & rest.wrapping_neg()) - 1;
                rest &= rest - 1;
                let index = base + (selection & below).count_ones() as usize;
                if wide & (below + 1) == 0 {
                    visit(index, NonZero::One);
                } else {
                    let value = witness.wide()[rank + (wide & below).count_ones() as usize];
                    if let Some(value) = classify(&classifier, &value) {
                        visit(index, value);
                    }
                }
            }
            base += selection.count_ones() as usize;
            rank += wide.count_ones() as usize;
        }
    }

    /// The selection of scalars 64·`word` and following; no bit is set beyond the segment's end.
    fn selection(&self, word: usize) -> u64 {
        let rest = self.len() - 64 * word;
        let within = if rest < 64 { (1 << rest) - 1 } else { u64::MAX };
        self.selected.map_or(within, |words| words[word] & within)
    }

    /// The segments, after checking that they select as many scalars as there are bases.
    pub(crate) fn checked<'s, F: CurveField>(
        bases: &dyn BaseSource<F>,
        segments: &'s [Self],
    ) -> Result<&'s [Self], MsmError> {
        let scalars = segments.iter().map(Self::count_selected).sum();
        if scalars == bases.len() {
            Ok(segments)
        } else {
            Err(MsmError::Length {
                group: F::NAME,
                bases: bases.len(),
                scalars,
            })
        }
    }
}

fn classify(classifier: &Classifier, scalar: &Scalar) -> Option<NonZero> {
    match classifier.class(scalar) {
        ScalarClass::Zero => None,
        ScalarClass::One => Some(NonZero::One),
        ScalarClass::MinusOne => Some(NonZero::MinusOne),
        ScalarClass::Wide => Some(NonZero::Wide(*scalar)),
    }
}
