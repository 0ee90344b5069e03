//! Cutting a stream of rows into templates at namespace boundaries.
//!
//! Gadgets open a namespace around what they enforce, so repetition has the boundaries of namespaces. Rows are pushed with
//! the columns of the whole circuit. When a namespace closes that is large and sees little of its surroundings, its
//! rows and the instances within become one instance; any other leaves them to the namespace around it. So what a
//! circuit repeats inside what it repeats is found without looking for it, and no more than the open namespaces are held.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use bellpepper_core::Index;

use crate::Column;
use crate::compiled::library::Library;
use crate::compiled::template::{
    Child, Extent, Referent, Template, Term, VariableRef, own_aux_runs,
};
use crate::matrix::Entry;
use crate::packed::KindInference;

/// Which namespaces become instances.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutRule {
    /// A namespace with fewer rows is left to the one around it: an instance costs as much as some rows.
    pub(super) min_rows: u32,
    /// Most variables of its surroundings that a template sees, for each 1,024 rows.
    pub(super) externals_per_1024_rows: u32,
}

impl Default for CutRule {
    fn default() -> Self {
        Self {
            min_rows: 64,
            // Hashes see 4 to 30. A round of SHA-256 sees a thousand, and would be stored as a list of variables.
            externals_per_1024_rows: 128,
        }
    }
}

/// Rows and instances of the namespaces that are open.
#[derive(Debug, Default)]
pub(super) struct Stack {
    rule: CutRule,
    entries: Vec<Entry>,
    /// Where the sides of each row end among the entries.
    side_ends: Vec<u32>,
    children: Vec<PlacedChild>,
    externals: Vec<Column>,
    frames: Vec<Frame>,
    slots: Slots,
}

/// An instance on the stack, its place counted from the start of the circuit.
#[derive(Clone, Copy, Debug)]
struct PlacedChild {
    template: u32,
    rows_before: usize,
    first: Extent,
    externals_start: usize,
}

/// An open namespace: the heights of the stack and the counts of the circuit when it was opened.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    entries: usize,
    rows: usize,
    children: usize,
    externals: usize,
    first: Extent,
}

impl Stack {
    pub(super) fn new(rule: CutRule) -> Self {
        Self {
            rule,
            ..Self::default()
        }
    }

    pub(super) fn push_entry(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Ends a side of the row that is being pushed.
    pub(super) fn end_side(&mut self) {
        // Entries of 8 bytes: 2^32 of them are never held.
        self.side_ends.push(self.entries.len() as u32);
    }

    /// The sides of the last row.
    pub(super) fn last_row(&self) -> [&[Entry]; 3] {
        self.row(self.num_rows() - 1)
    }

    /// Opens a namespace when the circuit has the given counts.
    pub(super) fn open(&mut self, first: Extent) {
        self.frames.push(Frame {
            entries: self.entries.len(),
            rows: self.num_rows(),
            children: self.children.len(),
            externals: self.externals.len(),
            first,
        });
    }

    /// Closes the last namespace, and makes it an instance when that is worth it.
    pub(super) fn close(&mut self, now: Extent, library: &mut Library, kinds: &KindInference) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let num_rows = now.num_rows - frame.first.num_rows;
        let holds_one_child_only =
            self.num_rows() == frame.rows && self.children.len() == frame.children + 1;
        if num_rows < self.rule.min_rows || holds_one_child_only {
            return;
        }
        let max_externals =
            u64::from(num_rows) * u64::from(self.rule.externals_per_1024_rows) / 1024;
        if let Some(template) = self.template(&frame, now, max_externals as usize, (library, kinds))
        {
            self.replace(&frame, library.intern(template));
        }
    }

    /// Everything that was never made an instance, as the template of the whole circuit.
    ///
    /// Namespaces that a circuit left open count as closed by its end.
    pub(super) fn finish(
        mut self,
        now: Extent,
        library: &Library,
        kinds: &KindInference,
    ) -> Template {
        let outermost = Frame::default();
        self.template(&outermost, now, usize::MAX, (library, kinds))
            .expect("the number of external variables is not limited here")
    }

    fn num_rows(&self) -> usize {
        self.side_ends.len() / 3
    }

    fn row(&self, index: usize) -> [&[Entry]; 3] {
        let start = match index {
            0 => 0,
            _ => self.side_ends[3 * index - 1] as usize,
        };
        let [a, b, c] = [0, 1, 2].map(|side| self.side_ends[3 * index + side] as usize);
        [
            &self.entries[start..a],
            &self.entries[a..b],
            &self.entries[b..c],
        ]
    }

    /// What lies above a frame as a template; `None` when it sees more of its surroundings than `max_externals`.
    fn template(
        &mut self,
        frame: &Frame,
        now: Extent,
        max_externals: usize,
        (library, kinds): (&Library, &KindInference),
    ) -> Option<Template> {
        let mut slots = std::mem::take(&mut self.slots);
        slots.start(frame.first);
        let template = self.relative(frame, now, max_externals, &mut slots);
        self.slots = slots;
        let mut template = template?;
        let mut bits = BitWriter::default();
        for (first, count) in own_aux_runs(&template, |index| library.extent(index)) {
            for offset in first..first + count {
                let index = (frame.first.num_aux + offset) as usize;
                bits.push(!kinds.is_boolean(Column::aux(index)));
            }
        }
        template.wide = bits.words;
        Some(template)
    }

    fn relative(
        &self,
        frame: &Frame,
        now: Extent,
        max_externals: usize,
        slots: &mut Slots,
    ) -> Option<Template> {
        let mut template = Template {
            extent: now.since(frame.first),
            side_ends: Vec::with_capacity(self.side_ends.len() - 3 * frame.rows),
            terms: Vec::with_capacity(self.entries.len() - frame.entries),
            ..Template::default()
        };
        let mut next_child = frame.children;
        for row in frame.rows..self.num_rows() {
            while self
                .children
                .get(next_child)
                .is_some_and(|child| child.rows_before <= row)
            {
                self.place_child(next_child, frame, slots, &mut template);
                next_child += 1;
            }
            for side in self.row(row) {
                push_side(side, slots, &mut template);
            }
            if slots.externals.len() > max_externals {
                return None;
            }
        }
        for child in next_child..self.children.len() {
            self.place_child(child, frame, slots, &mut template);
        }
        template.num_externals = slots.externals.len() as u32;
        (slots.externals.len() <= max_externals).then_some(template)
    }

    fn place_child(&self, index: usize, frame: &Frame, slots: &mut Slots, template: &mut Template) {
        let child = self.children[index];
        template.children.push(Child {
            template: child.template,
            own_rows_before: (child.rows_before - frame.rows) as u32,
            first: child.first.since(frame.first),
            externals_start: template.child_externals.len() as u32,
        });
        let end = match self.children.get(index + 1) {
            Some(next) => next.externals_start,
            None => self.externals.len(),
        };
        let externals = &self.externals[child.externals_start..end];
        template
            .child_externals
            .extend(externals.iter().map(|&column| slots.reference(column)));
    }

    /// Puts an instance in the place of what lies above a frame; its external variables are those last numbered.
    fn replace(&mut self, frame: &Frame, template: u32) {
        self.entries.truncate(frame.entries);
        self.side_ends.truncate(3 * frame.rows);
        self.children.truncate(frame.children);
        self.externals.truncate(frame.externals);
        self.children.push(PlacedChild {
            template,
            rows_before: frame.rows,
            first: frame.first,
            externals_start: self.externals.len(),
        });
        self.externals.extend_from_slice(&self.slots.externals);
    }
}

/// Writes one side of a row, its terms in the order of their references.
fn push_side(side: &[Entry], slots: &mut Slots, template: &mut Template) {
    let start = template.terms.len();
    template.terms.extend(side.iter().map(|entry| Term {
        variable: slots.reference(entry.column),
        coefficient_index: entry.coefficient_index,
    }));
    let terms = &mut template.terms[start..];
    if !terms.is_sorted_by_key(|term| term.variable) {
        terms.sort_unstable_by_key(|term| term.variable);
    }
    template.side_ends.push(template.terms.len() as u32);
}

impl Extent {
    fn since(self, first: Self) -> Self {
        Self {
            num_rows: self.num_rows - first.num_rows,
            num_aux: self.num_aux - first.num_aux,
            num_inputs: self.num_inputs - first.num_inputs,
        }
    }
}

/// Numbers the variables of the surroundings in the order in which rows name them.
#[derive(Debug, Default)]
struct Slots {
    first: Extent,
    externals: Vec<Column>,
    numbers: HashMap<Column, u32, BuildHasherDefault<ColumnHasher>>,
}

impl Slots {
    const KEPT_CAPACITY: usize = 1 << 11;

    fn start(&mut self, first: Extent) {
        self.first = first;
        self.externals.clear();
        // Clearing takes time in proportion to the capacity, which one large namespace would leave to all small ones.
        if self.numbers.capacity() > Self::KEPT_CAPACITY {
            self.numbers = HashMap::default();
        } else {
            self.numbers.clear();
        }
    }

    fn reference(&mut self, column: Column) -> VariableRef {
        if column == Column::ONE {
            return VariableRef::new(Referent::One);
        }
        let local = match column.index() {
            Index::Aux(index) => (index as u32)
                .checked_sub(self.first.num_aux)
                .map(Referent::Aux),
            // Extents do not count ONE.
            Index::Input(index) => (index as u32 - 1)
                .checked_sub(self.first.num_inputs)
                .map(Referent::Input),
        };
        VariableRef::new(local.unwrap_or_else(|| self.external(column)))
    }

    fn external(&mut self, column: Column) -> Referent {
        let next = self.externals.len() as u32;
        let slot = *self.numbers.entry(column).or_insert(next);
        if slot == next {
            self.externals.push(column);
        }
        Referent::External(slot)
    }
}

/// One multiplication: columns are numbers that the circuit's program chose.
#[derive(Debug, Default)]
struct ColumnHasher(u64);

impl Hasher for ColumnHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, word: u32) {
        let mixed = (self.0 ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed.rotate_left(26);
    }
}

/// Bits in order, 64 a word.
#[derive(Debug, Default)]
struct BitWriter {
    words: Vec<u64>,
    len: usize,
}

impl BitWriter {
    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.words[self.len / 64] |= u64::from(bit) << (self.len % 64);
        self.len += 1;
    }
}
