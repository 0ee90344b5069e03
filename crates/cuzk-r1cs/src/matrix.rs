//! Sparse matrices whose coefficients are indices into a dictionary.
//!
//! Circuits repeat few coefficients (a 32 GiB PoRep partition has 2,466 distinct ones among
//! 722 million non-zeros), so an entry is eight bytes: a column and a dictionary index.

use bellpepper_core::{Index, LinearCombination, Variable};
use ff::Field;

use crate::dictionary::Dictionary;
use crate::{Fr, Witness};

/// A variable as a matrix column: inputs keep their index, private variables carry the top bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(u32);

impl Column {
    const AUX: u32 = 1 << 31;

    /// The column of the constant ONE.
    pub const ONE: Self = Self(0);

    /// The column of a public variable.
    pub fn input(index: usize) -> Self {
        Self(Self::checked(index))
    }

    /// The column of a private variable.
    pub fn aux(index: usize) -> Self {
        Self(Self::checked(index) | Self::AUX)
    }

    fn checked(index: usize) -> u32 {
        u32::try_from(index)
            .ok()
            .filter(|index| index & Self::AUX == 0)
            .expect("a circuit has fewer than 2^31 variables of a kind: its domain is at most 2^32")
    }

    pub(crate) fn of(variable: Variable) -> Self {
        match variable.get_unchecked() {
            Index::Input(index) => Self::input(index),
            Index::Aux(index) => Self::aux(index),
        }
    }

    /// The variable's kind and index.
    pub fn index(self) -> Index {
        if self.0 & Self::AUX == 0 {
            Index::Input(self.0 as usize)
        } else {
            Index::Aux((self.0 & !Self::AUX) as usize)
        }
    }

    /// The variable's value in a witness.
    pub fn value(self, witness: &Witness) -> Fr {
        match self.index() {
            Index::Input(index) => witness.inputs[index],
            Index::Aux(index) => witness.aux[index],
        }
    }

    /// The four bytes that digests see.
    pub(crate) fn to_bits(self) -> u32 {
        self.0
    }

    /// The same variable after its system was appended to one that already had some.
    ///
    /// The appended system's ONE is the receiver's ONE.
    pub(crate) fn shifted(self, num_inputs: usize, num_aux: usize) -> Self {
        match self.index() {
            Index::Input(0) => self,
            Index::Input(index) => Self::input(num_inputs + index - 1),
            Index::Aux(index) => Self::aux(num_aux + index),
        }
    }
}

/// One non-zero of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The variable.
    pub column: Column,
    /// Index of the coefficient in the dictionary.
    pub coefficient_index: u32,
}

/// Rows of one of A, B, C; columns of a row are unique and ascend, inputs first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    row_ends: Vec<u64>,
    entries: Vec<Entry>,
}

impl Matrix {
    pub(crate) fn new() -> Self {
        Self {
            row_ends: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// Number of rows; input rows are implicit and not among them.
    pub fn num_rows(&self) -> usize {
        self.row_ends.len()
    }

    /// Number of entries in all rows.
    pub fn num_non_zeros(&self) -> usize {
        self.entries.len()
    }

    /// The entries of row `index`.
    ///
    /// # Panics
    /// When `index` is not below [`Matrix::num_rows`].
    pub fn row(&self, index: usize) -> &[Entry] {
        let start = if index == 0 {
            0
        } else {
            self.row_ends[index - 1] as usize
        };
        &self.entries[start..self.row_ends[index] as usize]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = &[Entry]> {
        (0..self.num_rows()).map(|index| self.row(index))
    }

    pub(crate) fn push_row(&mut self, row: &LinearCombination<Fr>, dictionary: &mut Dictionary) {
        self.entries.extend(entries_of(row, dictionary));
        self.row_ends.push(self.entries.len() as u64);
    }

    /// Appends the rows of an extending system; `coefficients` maps its dictionary to ours.
    pub(crate) fn append(
        &mut self,
        other: &Self,
        num_inputs: usize,
        num_aux: usize,
        coefficients: &[u32],
    ) {
        let first = self.entries.len() as u64;
        self.entries.extend(other.entries.iter().map(|entry| Entry {
            column: entry.column.shifted(num_inputs, num_aux),
            coefficient_index: coefficients[entry.coefficient_index as usize],
        }));
        self.row_ends
            .extend(other.row_ends.iter().map(|end| first + end));
    }
}

/// The entries of a linear combination, zero coefficients left out.
pub(crate) fn entries_of<'a>(
    row: &'a LinearCombination<Fr>,
    dictionary: &'a mut Dictionary,
) -> impl Iterator<Item = Entry> + 'a {
    row.iter()
        .filter(|(_, coefficient)| **coefficient != Fr::ZERO)
        .map(|(variable, coefficient)| Entry {
            column: Column::of(variable),
            coefficient_index: dictionary.index_of(*coefficient),
        })
}
