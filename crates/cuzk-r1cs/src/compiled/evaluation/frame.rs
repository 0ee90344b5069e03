//! The variables of one run of rows, brought together from all over the witness.

use std::collections::HashMap;

use bellpepper_core::Index;
use ff::Field;

use crate::compiled::template::{Extent, Referent, VariableRef};
use crate::density::{bits_from, ones_of};
use crate::{Column, Fr, PackedWitness, VariableKinds};

/// Where the variables that a run of rows names are found, the same for all its instances.
///
/// Boolean variables get positions in a row of bits: own ones in words of 64 with their neighbours, so that a number's bits stay
/// side by side; those of the surroundings behind them, in the order of their columns in the first instance. Wide variables
/// get positions in a list.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Words of own private variables that hold a named boolean, ascending.
    words: Vec<u32>,
    /// Slots with boolean variables, by position behind the words.
    bit_slots: Vec<u32>,
    wide: Vec<VariableRef>,
}

/// Where a variable stands in a [`Frame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nowhere: it is ONE.
    One,
    /// This bit.
    Bit(u32),
    /// This value.
    Wide(u32),
}

/// The variables of one run in one instance.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) bits: Vec<u64>,
    pub(super) wide: Vec<Fr>,
}

/// The variables that a run names, by kind of reference, each once and ascending.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) inputs: Vec<u32>,
    pub(super) slots: Vec<u32>,
    /// Words of own private variables, and which of their bits are named.
    pub(super) words: Vec<(u32, u64)>,
}

impl Names {
    /// What tells instances of the same run apart: which of the named variables are wide.
    pub(super) fn kinds(
        &self,
        first: Extent,
        externals: &[Column],
        kinds: &VariableKinds,
    ) -> Vec<u64> {
        let words = self
            .words
            .iter()
            .map(|&(index, named)| bits_from(kinds.wide_mask(), first_bit(first, index)) & named);
        let slots = self.slots.chunks(64).map(|slots| {
            slots.iter().enumerate().fold(0, |word, (place, &slot)| {
                word | u64::from(is_wide(externals[slot as usize], kinds)) << place
            })
        });
        words.chain(slots).collect()
    }
}

fn first_bit(first: Extent, word: u32) -> usize {
    first.num_aux as usize + 64 * word as usize
}

fn is_wide(column: Column, kinds: &VariableKinds) -> bool {
    match column.index() {
        Index::Input(_) => true,
        Index::Aux(index) => kinds.is_wide(index),
    }
}

impl Layout {
    /// A layout of named variables whose kinds are `key`, for instances like one that sees `externals`.
    pub(super) fn new(names: &Names, key: &[u64], externals: &[Column]) -> Self {
        let mut layout = Self::default();
        let (word_keys, slot_keys) = key.split_at(names.words.len());
        let inputs = names.inputs.iter().map(|&offset| Referent::Input(offset));
        layout.wide.extend(inputs.map(VariableRef::new));
        for (&(index, named), &wide) in names.words.iter().zip(word_keys) {
            if named & !wide != 0 {
                layout.words.push(index);
            }
            for bit in ones_of(&[wide]) {
                let offset = 64 * index + bit as u32;
                layout.wide.push(VariableRef::new(Referent::Aux(offset)));
            }
        }
        for (place, &slot) in names.slots.iter().enumerate() {
            if slot_keys[place / 64] >> (place % 64) & 1 == 1 {
                layout.wide.push(VariableRef::new(Referent::External(slot)));
            } else {
                layout.bit_slots.push(slot);
            }
        }
        layout.wide.sort_unstable();
        layout
            .bit_slots
            .sort_by_key(|&slot| externals[slot as usize]);
        layout
    }

    /// Positions of slots among the boolean ones, by slot.
    pub(super) fn slot_positions(&self) -> HashMap<u32, u32> {
        let first = 64 * self.words.len() as u32;
        let positions = self.bit_slots.iter().zip(first..);
        positions
            .map(|(&slot, position)| (slot, position))
            .collect()
    }

    /// The place of a named variable; `slots` is [`Layout::slot_positions`].
    pub(super) fn place(&self, variable: VariableRef, slots: &HashMap<u32, u32>) -> Place {
        let referent = variable.referent();
        if referent == Referent::One {
            return Place::One;
        }
        if let Ok(index) = self.wide.binary_search(&variable) {
            return Place::Wide(index as u32);
        }
        match referent {
            Referent::External(slot) => Place::Bit(slots[&slot]),
            Referent::Aux(offset) => {
                let word = self.words.partition_point(|&word| word < offset / 64);
                Place::Bit(64 * word as u32 + offset % 64)
            }
            // Public variables are wide, and ONE was found above.
            Referent::Input(_) | Referent::One => Place::One,
        }
    }

    /// Brings the variables of one instance together.
    pub(super) fn fill(
        &self,
        frame: &mut Frame,
        (first, externals): (Extent, &[Column]),
        witness: &PackedWitness,
    ) {
        let plane = witness.plane();
        frame.bits.clear();
        let words = self.words.iter();
        frame
            .bits
            .extend(words.map(|&word| bits_from(plane, first_bit(first, word))));
        for slots in self.bit_slots.chunks(64) {
            let mut word = 0;
            for (place, &slot) in slots.iter().enumerate() {
                if let Index::Aux(index) = externals[slot as usize].index() {
                    word |= (plane[index / 64] >> (index % 64) & 1) << place;
                }
            }
            frame.bits.push(word);
        }
        // A number's bits are read as two words.
        frame.bits.extend([0, 0]);
        frame.wide.clear();
        frame
            .wide
            .extend(self.wide.iter().map(|variable| match variable.referent() {
                Referent::One => Fr::ONE,
                Referent::Input(offset) => {
                    witness.inputs()[1 + (first.num_inputs + offset) as usize]
                }
                Referent::External(slot) => value(externals[slot as usize], witness),
                Referent::Aux(offset) => {
                    value(Column::aux((first.num_aux + offset) as usize), witness)
                }
            }));
    }
}

/// The value of a public or wide variable.
fn value(column: Column, witness: &PackedWitness) -> Fr {
    match column.index() {
        Index::Input(index) => witness.inputs()[index],
        Index::Aux(index) => witness.wide()[witness.kinds().wide_rank(index)],
    }
}
