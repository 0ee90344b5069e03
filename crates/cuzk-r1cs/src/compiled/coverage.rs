//! Bitmaps over all variables, put together from the templates.
//!
//! Densities and kinds have a bit per variable, more than all templates. They need not be stored: a template knows which of
//! its variables its rows name and which of its own are wide, and an instance puts these words in place.

use bellpepper_core::Index;

use crate::compiled::template::{Referent, own_aux_runs};
use crate::compiled::{CompiledCircuit, Extent, Template};
use crate::density::bits_from;
use crate::{Column, Densities, Density};

/// A bitmap that is filled by words at any bit.
#[derive(Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn zeros(len: usize) -> Self {
        // One word more, so that a word put at any bit has a place for its upper part.
        Self(vec![0; len.div_ceil(64) + 1])
    }

    fn set(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    /// Sets the ones of `word` at `first` and after.
    fn or(&mut self, first: usize, word: u64) {
        let (place, offset) = (first / 64, first % 64);
        self.0[place] |= word << offset;
        if offset > 0 {
            self.0[place + 1] |= word >> (64 - offset);
        }
    }

    /// The words of `len` bits.
    fn into_words(mut self, len: usize) -> Vec<u64> {
        self.0.truncate(len.div_ceil(64));
        self.0
    }
}

/// Variables that a template's own rows name on one side.
#[derive(Debug, Default)]
struct Named {
    /// Words of the bitmap over its private variables that have ones.
    words: Vec<(u32, u64)>,
    slots: Vec<u32>,
    inputs: Vec<u32>,
    one: bool,
}

impl Named {
    fn of(template: &Template, side: usize) -> Self {
        let mut named = Self::default();
        let mut aux = Vec::new();
        for row in 0..template.num_own_rows() {
            for term in template.own_row(row)[side] {
                match term.variable.referent() {
                    Referent::One => named.one = true,
                    Referent::Input(offset) => named.inputs.push(offset),
                    Referent::External(slot) => named.slots.push(slot),
                    Referent::Aux(offset) => aux.push(offset),
                }
            }
        }
        for list in [&mut aux, &mut named.slots, &mut named.inputs] {
            list.sort_unstable();
            list.dedup();
        }
        for offset in aux {
            let (index, bit) = (offset / 64, 1 << (offset % 64));
            match named.words.last_mut() {
                Some((last, word)) if *last == index => *word |= bit,
                _ => named.words.push((index, bit)),
            }
        }
        named
    }
}

/// Bitmaps of one side over the variables of the circuit.
struct Side {
    aux: Bits,
    inputs: Bits,
    named: Vec<Named>,
}

impl Side {
    fn new(templates: &[Template], side: usize, whole: Extent) -> Self {
        Self {
            aux: Bits::zeros(whole.num_aux as usize),
            inputs: Bits::zeros(whole.num_inputs as usize + 1),
            named: templates
                .iter()
                .map(|template| Named::of(template, side))
                .collect(),
        }
    }

    fn mark(&mut self, template: usize, first: Extent, externals: &[Column]) {
        let named = &self.named[template];
        for &(index, word) in &named.words {
            self.aux
                .or(first.num_aux as usize + 64 * index as usize, word);
        }
        for &slot in &named.slots {
            match externals[slot as usize].index() {
                Index::Aux(index) => self.aux.set(index),
                Index::Input(index) => self.inputs.set(index),
            }
        }
        for &offset in &named.inputs {
            self.inputs.set(1 + (first.num_inputs + offset) as usize);
        }
        if named.one {
            self.inputs.set(0);
        }
    }
}

impl CompiledCircuit {
    /// The densities that the templates imply.
    pub(super) fn implied_densities(&self) -> Densities {
        let whole = self.whole().extent;
        let mut a = Side::new(&self.templates, 0, whole);
        let mut b = Side::new(&self.templates, 1, whole);
        self.for_each_instance(&mut |instance| {
            a.mark(instance.template, instance.first, instance.externals);
            b.mark(instance.template, instance.first, instance.externals);
        });
        let num_aux = whole.num_aux as usize;
        let num_inputs = whole.num_inputs as usize + 1;
        Densities {
            a_aux: Density::from_words(a.aux.into_words(num_aux), num_aux),
            b_input: Density::from_words(b.inputs.into_words(num_inputs), num_inputs),
            b_aux: Density::from_words(b.aux.into_words(num_aux), num_aux),
        }
    }

    /// The mask of wide variables as it was when each instance ended.
    ///
    /// A variable that a row behind its instance forces to be a bit is wide in here.
    pub(super) fn wide_at_the_end_of_instances(&self) -> Vec<u64> {
        let num_aux = self.whole().extent.num_aux as usize;
        let mut wide = Bits::zeros(num_aux);
        let extent = |index: u32| self.templates[index as usize].extent;
        let runs: Vec<Vec<(u32, u32)>> = self
            .templates
            .iter()
            .map(|template| {
                own_aux_runs(template, extent)
                    .filter(|&(_, count)| count > 0)
                    .collect()
            })
            .collect();
        self.for_each_instance(&mut |instance| {
            let template = &self.templates[instance.template];
            let mut taken = 0;
            for &(first, count) in &runs[instance.template] {
                let first = (instance.first.num_aux + first) as usize;
                for done in (0..count as usize).step_by(64) {
                    let kept = (count as usize - done).min(64);
                    let word = bits_from(&template.wide, taken + done) & (u64::MAX >> (64 - kept));
                    wide.or(first + done, word);
                }
                taken += count as usize;
            }
        });
        wide.into_words(num_aux)
    }
}
