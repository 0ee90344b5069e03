//! Rows of templates and where their instances stand.

use cuzk_r1cs::{
    Column, CompiledCircuit, Extent, Index, Placements, Referent, Template, VariableKinds,
    VariableRef,
};

use crate::CudaError;

/// Kinds of a variable's code, as in `kernels/rows.cuh`.
#[derive(Clone, Copy)]
enum Kind {
    One = 0,
    Input = 1,
    Bit = 2,
    Wide = 3,
    External = 4,
}

const KIND_SHIFT: u32 = 29;
/// Numbers that a variable's code has room for.
const MAX_NUMBER: usize = 1 << KIND_SHIFT;

fn code(kind: Kind, number: usize) -> u32 {
    (kind as u32) << KIND_SHIFT | number as u32
}

/// The rows of all templates one after the other, and the places of all instances, as the kernels read them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowTables {
    /// Where each side of each row ends among the terms.
    pub side_ends: Vec<u32>,
    /// Place of each row among all rows of its template, those of children included.
    pub places: Vec<u32>,
    /// A variable's code and the number of a coefficient, the code in the low half.
    pub terms: Vec<u64>,
    /// Rows, private, wide and public variables before each instance.
    pub placements: Vec<[u32; 4]>,
    /// Codes of the external variables of all instances.
    pub externals: Vec<u32>,
    /// The templates that have rows of their own.
    pub templates: Vec<TemplateRows>,
}

/// Where a template's part of the tables begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateRows {
    /// Its first row.
    pub first_row: usize,
    /// Number of rows.
    pub num_rows: usize,
    /// Its first term.
    pub first_term: u32,
    /// Its first instance.
    pub first_placement: usize,
    /// Number of instances.
    pub num_instances: usize,
    /// The first external variable of its first instance.
    pub first_external: usize,
    /// External variables of an instance.
    pub num_externals: usize,
}

impl RowTables {
    /// The tables of a circuit.
    ///
    /// # Errors
    /// [`CudaError::TooManyVariables`] from 2^29 variables or rows on.
    pub fn new(circuit: &CompiledCircuit) -> Result<Self, CudaError> {
        let shape = circuit.shape();
        let largest = shape.num_aux.max(shape.num_inputs).max(shape.num_rows());
        if largest >= MAX_NUMBER {
            return Err(CudaError::TooManyVariables {
                variables: largest,
                max: MAX_NUMBER - 1,
            });
        }
        let mut tables = Self::default();
        for (template, placements) in circuit.templates().iter().zip(circuit.placements()) {
            if let Some(&first) = placements.firsts().first()
                && template.num_own_rows() > 0
            {
                tables.add(circuit.kinds(), template, first, &placements);
            }
        }
        Ok(tables)
    }

    /// Adds a template whose first instance stands at `first`: which of its variables are wide is the same in all.
    fn add(
        &mut self,
        kinds: &VariableKinds,
        template: &Template,
        first: Extent,
        placements: &Placements,
    ) {
        self.templates.push(TemplateRows {
            first_row: self.places.len(),
            num_rows: template.num_own_rows(),
            first_term: self.terms.len() as u32,
            first_placement: self.placements.len(),
            num_instances: placements.len(),
            first_external: self.externals.len(),
            num_externals: template.num_externals(),
        });
        for row in 0..template.num_own_rows() {
            for side in template.own_row(row) {
                self.terms.extend(side.iter().map(|term| {
                    let variable = relative(kinds, first, term.variable);
                    u64::from(variable) | u64::from(term.coefficient_index) << 32
                }));
                self.side_ends.push(self.terms.len() as u32);
            }
        }
        for run in template.runs() {
            self.places
                .extend((0..run.num_rows as u32).map(|row| run.first_row + row));
        }
        for first in placements.firsts() {
            self.placements.push([
                first.num_rows,
                first.num_aux,
                wide_before(kinds, first.num_aux as usize) as u32,
                first.num_inputs,
            ]);
        }
        let externals = placements.externals().iter();
        self.externals
            .extend(externals.map(|&column| absolute(kinds, column)));
    }
}

/// Wide variables before private variable `index`, which may be one past the last.
fn wide_before(kinds: &VariableKinds, index: usize) -> usize {
    if index == kinds.num_aux() {
        kinds.num_wide()
    } else {
        kinds.wide_rank(index)
    }
}

/// The code of a variable relative to an instance, given one of the instances.
fn relative(kinds: &VariableKinds, first: Extent, variable: VariableRef) -> u32 {
    match variable.referent() {
        Referent::One => code(Kind::One, 0),
        // The instance's inputs lie behind those before it, and ONE is the very first.
        Referent::Input(offset) => code(Kind::Input, 1 + offset as usize),
        Referent::External(slot) => code(Kind::External, slot as usize),
        Referent::Aux(offset) => {
            let (first, index) = (first.num_aux as usize, (first.num_aux + offset) as usize);
            if kinds.is_wide(index) {
                let before = wide_before(kinds, first);
                code(Kind::Wide, kinds.wide_rank(index) - before)
            } else {
                code(Kind::Bit, index - first)
            }
        }
    }
}

/// The code of a variable that no instance moves.
fn absolute(kinds: &VariableKinds, column: Column) -> u32 {
    if column == Column::ONE {
        return code(Kind::One, 0);
    }
    match column.index() {
        Index::Input(index) => code(Kind::Input, index),
        Index::Aux(index) if kinds.is_wide(index) => code(Kind::Wide, kinds.wide_rank(index)),
        Index::Aux(index) => code(Kind::Bit, index),
    }
}
