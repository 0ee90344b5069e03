//! Which private variables can only be 0 or 1.

use crate::density::ones_of;
use crate::packed::KindInference;
use crate::{Entry, RecordedCircuit};

/// The kind of each private variable: boolean, or wide (any field element).
///
/// A property of the circuit, the same for all its witnesses. Holds a bit per variable and, for ranks, 32 bits per 512.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableKinds {
    num_aux: usize,
    /// Bit i is one when variable i is wide; bits beyond `num_aux` are zero.
    wide: Vec<u64>,
    /// Number of wide variables before each block of [`WORDS_PER_BLOCK`] words.
    ranks: Vec<u32>,
    num_wide: usize,
}

/// Words that share an entry of the rank directory.
pub(super) const WORDS_PER_BLOCK: usize = 8;

/// Why a mask is no mask of a circuit's variables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KindsError {
    /// The mask is too long or too short.
    #[error("a mask of {num_aux} variables has {expected} words, found {found}")]
    NumWords {
        /// Variables to be covered.
        num_aux: usize,
        /// Words that cover them.
        expected: usize,
        /// Words given.
        found: usize,
    },
    /// A bit that belongs to no variable is set.
    #[error("the mask's last word {word:#018x} has bits beyond variable {num_aux}")]
    BitsBeyond {
        /// Variables covered.
        num_aux: usize,
        /// The last word.
        word: u64,
    },
    /// More variables than ranks can number.
    #[error("{num_aux} variables are more than a circuit can have")]
    TooMany {
        /// Variables to be covered.
        num_aux: usize,
    },
}

/// Whether `words` are a bitmap of exactly `len` bits with zeros behind them.
pub(super) fn stray_bits(words: &[u64], len: usize) -> Option<u64> {
    let used = len % 64;
    words
        .last()
        .copied()
        .filter(|last| used > 0 && last >> used != 0)
}

impl VariableKinds {
    /// Kinds from a mask, 64 variables a word, least significant first; a one is a wide variable.
    ///
    /// # Errors
    /// When the mask does not have exactly the words that `num_aux` variables need, or bits beyond them.
    pub fn from_wide_mask(num_aux: usize, wide: Vec<u64>) -> Result<Self, KindsError> {
        if u32::try_from(num_aux).is_err() {
            return Err(KindsError::TooMany { num_aux });
        }
        let expected = num_aux.div_ceil(64);
        if wide.len() != expected {
            return Err(KindsError::NumWords {
                num_aux,
                expected,
                found: wide.len(),
            });
        }
        if let Some(word) = stray_bits(&wide, num_aux) {
            return Err(KindsError::BitsBeyond { num_aux, word });
        }
        let mut num_wide = 0;
        let ranks = wide
            .chunks(WORDS_PER_BLOCK)
            .map(|block| {
                let before = num_wide as u32;
                num_wide += count(block);
                before
            })
            .collect();
        Ok(Self {
            num_aux,
            wide,
            ranks,
            num_wide,
        })
    }

    /// The kinds that the rows of a circuit imply; see the rule in the crate's documentation.
    pub fn of_circuit(circuit: &RecordedCircuit) -> Self {
        let mut inference = KindInference::default();
        for row in 0..circuit.shape.num_constraints {
            let sides: [&[Entry]; 3] = [&circuit.a, &circuit.b, &circuit.c].map(|m| m.row(row));
            inference.row(sides, &circuit.coefficients);
        }
        inference.finish(circuit.shape.num_aux)
    }

    /// Number of private variables.
    pub fn num_aux(&self) -> usize {
        self.num_aux
    }

    /// Number of wide variables.
    pub fn num_wide(&self) -> usize {
        self.num_wide
    }

    /// Whether private variable `index` is wide.
    ///
    /// # Panics
    /// When `index` is not below [`VariableKinds::num_aux`].
    pub fn is_wide(&self, index: usize) -> bool {
        assert!(index < self.num_aux, "variable {index} of {}", self.num_aux);
        self.wide[index / 64] >> (index % 64) & 1 == 1
    }

    /// Number of wide variables below `index`: the place of a wide variable's value in [`crate::PackedWitness::wide`].
    ///
    /// # Panics
    /// When `index` is not below [`VariableKinds::num_aux`].
    pub fn wide_rank(&self, index: usize) -> usize {
        assert!(index < self.num_aux, "variable {index} of {}", self.num_aux);
        let word = index / 64;
        let block = word / WORDS_PER_BLOCK;
        let below = self.wide[word] & ((1 << (index % 64)) - 1);
        self.ranks[block] as usize
            + count(&self.wide[block * WORDS_PER_BLOCK..word])
            + below.count_ones() as usize
    }

    /// The mask: 64 variables a word, least significant first; a one is a wide variable.
    pub fn wide_mask(&self) -> &[u64] {
        &self.wide
    }

    /// Indices of the wide variables, ascending.
    pub fn iter_wide(&self) -> impl Iterator<Item = usize> + '_ {
        ones_of(&self.wide)
    }

    /// Bytes of heap memory.
    pub(crate) fn num_bytes(&self) -> usize {
        size_of_val(self.wide.as_slice()) + size_of_val(self.ranks.as_slice())
    }

    /// Number of wide variables before each block of the mask.
    pub(super) fn block_ranks(&self) -> &[u32] {
        &self.ranks
    }
}

fn count(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_circuit_without_variables_has_no_kinds() {
        let kinds = VariableKinds::from_wide_mask(0, vec![]).expect("no words for no variables");
        assert_eq!((kinds.num_wide(), kinds.iter_wide().count()), (0, 0));
    }

    #[test]
    fn a_mask_of_another_length_or_with_bits_beyond_is_refused() {
        assert_eq!(
            VariableKinds::from_wide_mask(65, vec![0]),
            Err(KindsError::NumWords {
                num_aux: 65,
                expected: 2,
                found: 1
            })
        );
        assert_eq!(
            VariableKinds::from_wide_mask(65, vec![0, 2]),
            Err(KindsError::BitsBeyond {
                num_aux: 65,
                word: 2
            })
        );
        assert!(VariableKinds::from_wide_mask(64, vec![u64::MAX]).is_ok());
        assert!(VariableKinds::from_wide_mask(usize::MAX, vec![]).is_err());
    }

    proptest! {
        #[test]
        fn kinds_agree_with_a_list_of_flags(
            flags in proptest::collection::vec(any::<bool>(), 0..1500),
        ) {
            let mut words = vec![0; flags.len().div_ceil(64)];
            for (index, &flag) in flags.iter().enumerate() {
                words[index / 64] |= u64::from(flag) << (index % 64);
            }
            let kinds = VariableKinds::from_wide_mask(flags.len(), words).expect("a mask of all variables");
            let wide: Vec<usize> = (0..flags.len()).filter(|&index| flags[index]).collect();
            prop_assert_eq!(kinds.num_wide(), wide.len());
            prop_assert_eq!(kinds.iter_wide().collect::<Vec<_>>(), wide);
            let mut rank = 0;
            for (index, &flag) in flags.iter().enumerate() {
                prop_assert_eq!(kinds.is_wide(index), flag);
                prop_assert_eq!(kinds.wide_rank(index), rank);
                rank += usize::from(flag);
            }
        }
    }
}
