//! Rows that repeat, written so that they are equal wherever they stand.
//!
//! Two SHA-256 blocks of a circuit have the same rows over different variables. A template writes variables relative to its
//! place: those that it allocates by their offset, those of its surroundings by a slot that each instance fills.

use crate::Column;

/// A variable as a template sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableRef(u32);

/// What a [`VariableRef`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Referent {
    /// The constant ONE.
    One,
    /// The public variable this far behind the instance's first one.
    Input(u32),
    /// The variable that the instance gives for this slot.
    External(u32),
    /// The private variable this far behind the instance's first one.
    Aux(u32),
}

impl VariableRef {
    const KIND_BITS: u32 = 30;
    const MASK: u32 = (1 << Self::KIND_BITS) - 1;
    const EXTERNAL: u32 = 1 << Self::KIND_BITS;
    const AUX: u32 = 2 << Self::KIND_BITS;

    /// Largest offset or slot that can be written.
    pub(crate) const MAX_OFFSET: u32 = Self::MASK - 1;

    /// The reference to a referent; offsets and slots are at most [`Self::MAX_OFFSET`].
    pub(crate) fn new(referent: Referent) -> Self {
        Self(match referent {
            Referent::One => 0,
            Referent::Input(offset) => offset + 1,
            Referent::External(slot) => slot | Self::EXTERNAL,
            Referent::Aux(offset) => offset | Self::AUX,
        })
    }

    /// The four bytes that are stored.
    pub(crate) fn to_bits(self) -> u32 {
        self.0
    }

    /// What it stands for.
    pub fn referent(self) -> Referent {
        let value = self.0 & Self::MASK;
        match (self.0 & !Self::MASK, value) {
            (0, 0) => Referent::One,
            (0, _) => Referent::Input(value - 1),
            (Self::EXTERNAL, _) => Referent::External(value),
            _ => Referent::Aux(value),
        }
    }
}

/// One non-zero of a template's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The variable.
    pub variable: VariableRef,
    /// Index of the coefficient in the circuit's list.
    pub coefficient_index: u32,
}

/// How much of a circuit something takes up, or what lies before it. The constant ONE is never counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Rows.
    pub num_rows: u32,
    /// Private variables.
    pub num_aux: u32,
    /// Public variables.
    pub num_inputs: u32,
}

/// Another template's instance inside a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// Index of the other template, below that of the one it stands in.
    pub template: u32,
    /// Rows of the surrounding template's own that come before.
    pub own_rows_before: u32,
    /// First row, first private and first public variable, relative to those of the surrounding template.
    pub first: Extent,
    /// Where its external variables begin in the list of the surrounding template.
    pub(crate) externals_start: u32,
}

/// Rows and instances of other templates, in circuit order.
///
/// A template's extent includes its children. Terms of a side are sorted by their reference, which is another order than that
/// of columns where there are several external variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    pub(crate) extent: Extent,
    pub(crate) num_externals: u32,
    /// Where the sides A, B, C of each own row end among the terms.
    pub(crate) side_ends: Vec<u32>,
    pub(crate) terms: Vec<Term>,
    pub(crate) children: Vec<Child>,
    /// External variables of the children, one list after the other.
    pub(crate) child_externals: Vec<VariableRef>,
    /// One bit for each private variable that no child allocates, in order; a one is a wide variable.
    pub(crate) wide: Vec<u64>,
}

impl Template {
    /// Rows and variables, those of its children included.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Number of variables that an instance gives.
    pub fn num_externals(&self) -> usize {
        self.num_externals as usize
    }

    /// Number of rows that are no child's.
    pub fn num_own_rows(&self) -> usize {
        self.side_ends.len() / 3
    }

    /// The sides A, B, C of own row `index`, counted without the children's rows.
    ///
    /// # Panics
    /// When `index` is not below [`Template::num_own_rows`].
    pub fn own_row(&self, index: usize) -> [&[Term]; 3] {
        let start = match index {
            0 => 0,
            _ => self.side_ends[3 * index - 1] as usize,
        };
        let [a, b, c] = [0, 1, 2].map(|side| self.side_ends[3 * index + side] as usize);
        [&self.terms[start..a], &self.terms[a..b], &self.terms[b..c]]
    }

    /// Terms of all own rows.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Instances of other templates, in circuit order.
    pub fn children(&self) -> &[Child] {
        &self.children
    }

    /// The external variables of child `index`, as this template sees them.
    ///
    /// # Panics
    /// When there is no such child.
    pub fn externals_of(&self, index: usize) -> &[VariableRef] {
        let end = match self.children.get(index + 1) {
            Some(next) => next.externals_start as usize,
            None => self.child_externals.len(),
        };
        &self.child_externals[self.children[index].externals_start as usize..end]
    }

    /// Bytes of heap memory.
    pub(super) fn num_bytes(&self) -> usize {
        size_of_val(self.side_ends.as_slice())
            + size_of_val(self.terms.as_slice())
            + size_of_val(self.children.as_slice())
            + size_of_val(self.child_externals.as_slice())
            + size_of_val(self.wide.as_slice())
    }

    /// Own rows in runs between children: first own row, how many, and the first one's place in the template.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let ends = self
            .children
            .iter()
            .map(|child| child.own_rows_before as usize)
            .chain([self.num_own_rows()]);
        let mut own = 0;
        ends.enumerate().filter_map(move |(children_before, end)| {
            let run = Run {
                first_own_row: own,
                num_rows: end - own,
                first_row: own as u32 + self.child_rows_before(children_before),
            };
            own = end;
            (run.num_rows > 0).then_some(run)
        })
    }

    /// Rows of the first `count` children: what lies between an own row's number and its place.
    fn child_rows_before(&self, count: usize) -> u32 {
        match self.children.get(count) {
            Some(child) => child.first.num_rows - child.own_rows_before,
            None => self.extent.num_rows - self.num_own_rows() as u32,
        }
    }
}

/// Consecutive own rows of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of the first one among own rows.
    pub first_own_row: usize,
    /// How many.
    pub num_rows: usize,
    /// Place of the first one among all rows of the template.
    pub first_row: u32,
}

/// Consecutive private variables of a template that no child allocates, as (first, how many); some may be empty.
///
/// `child_extent` gives the extent of a child.
pub(crate) fn own_aux_runs<'a>(
    template: &'a Template,
    child_extent: impl Fn(u32) -> Extent + 'a,
) -> impl Iterator<Item = (u32, u32)> + 'a {
    let mut next = 0;
    template
        .children
        .iter()
        .map(move |child| {
            let first = child.first.num_aux;
            (first, first + child_extent(child.template).num_aux)
        })
        .chain([(template.extent.num_aux, template.extent.num_aux)])
        .map(move |(end, resume)| {
            let run = (next, end - next);
            next = resume;
            run
        })
}

/// Where an instance stands, and what it sees of its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance<'a> {
    /// Index of its template.
    pub template: usize,
    /// Rows and variables of the circuit before it, ONE not counted: its first public variable is `1 + first.num_inputs`.
    pub first: Extent,
    /// Its external variables by slot.
    pub externals: &'a [Column],
}

impl Instance<'_> {
    /// The column of a variable of the template in this instance.
    ///
    /// # Panics
    /// When the reference is not one of the instance's template.
    pub fn column(&self, variable: VariableRef) -> Column {
        match variable.referent() {
            Referent::One => Column::ONE,
            Referent::Input(offset) => Column::input(1 + (self.first.num_inputs + offset) as usize),
            Referent::External(slot) => self.externals[slot as usize],
            Referent::Aux(offset) => Column::aux((self.first.num_aux + offset) as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_written_and_sort_by_kind() {
        let referents = [
            Referent::One,
            Referent::Input(0),
            Referent::Input(VariableRef::MAX_OFFSET),
            Referent::External(0),
            Referent::External(VariableRef::MAX_OFFSET),
            Referent::Aux(0),
            Referent::Aux(VariableRef::MAX_OFFSET),
        ];
        let written = referents.map(VariableRef::new);
        assert!(written.is_sorted());
        assert_eq!(written.map(VariableRef::referent), referents);
    }
}
