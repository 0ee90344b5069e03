//! The rows of one run of a template, ready to be evaluated.

use crate::Fr;
use crate::compiled::CompiledCircuit;
use crate::compiled::evaluation::frame::{Frame, Layout, Names};
use crate::compiled::evaluation::side::{Side, SideProgram};
use crate::compiled::template::{Instance, Referent, Run, Template};

/// Rows over the variables of a frame.
#[derive(Debug)]
pub(super) struct RunProgram {
    pub(super) layout: Layout,
    rows: Vec<[Side; 3]>,
    sides: SideProgram,
}

impl RunProgram {
    /// The program of a run for instances whose named variables have the kinds `key`; `instance` is one of them.
    pub(super) fn new(
        circuit: &CompiledCircuit,
        (instance, run): (&Instance<'_>, &Run),
        names: &Names,
        key: &[u64],
    ) -> Self {
        let template = &circuit.templates()[instance.template];
        let layout = Layout::new(names, key, instance.externals);
        let slots = layout.slot_positions();
        let mut sides = SideProgram::default();
        let rows = (run.first_own_row..run.first_own_row + run.num_rows)
            .map(|row| {
                template.own_row(row).map(|side| {
                    sides.add(side.iter().map(|term| {
                        let place = layout.place(term.variable, &slots);
                        let coefficient = circuit.coefficients()[term.coefficient_index as usize];
                        (place, coefficient)
                    }))
                })
            })
            .collect();
        Self {
            layout,
            rows,
            sides,
        }
    }

    pub(super) fn num_rows(&self) -> usize {
        self.rows.len()
    }

    /// Writes the values of all rows.
    pub(super) fn run(&self, frame: &Frame, [a, b, c]: [&mut [Fr]; 3]) {
        let values = a.iter_mut().zip(b).zip(c);
        for (row, ((a, b), c)) in self.rows.iter().zip(values) {
            *a = self.sides.value(&row[0], frame);
            *b = self.sides.value(&row[1], frame);
            *c = self.sides.value(&row[2], frame);
        }
    }
}

/// The variables that each run of each template names.
pub(super) fn named_by_runs(templates: &[Template]) -> Vec<Vec<Names>> {
    templates
        .iter()
        .map(|template| {
            template
                .runs()
                .map(|run| names_of(template, &run))
                .collect()
        })
        .collect()
}

fn names_of(template: &Template, run: &Run) -> Names {
    let (mut inputs, mut slots, mut aux) = (Vec::new(), Vec::new(), Vec::new());
    for row in run.first_own_row..run.first_own_row + run.num_rows {
        for term in template.own_row(row).into_iter().flatten() {
            match term.variable.referent() {
                Referent::One => {}
                Referent::Input(offset) => inputs.push(offset),
                Referent::External(slot) => slots.push(slot),
                Referent::Aux(offset) => aux.push(offset),
            }
        }
    }
    for list in [&mut inputs, &mut slots, &mut aux] {
        list.sort_unstable();
        list.dedup();
    }
    let mut words: Vec<(u32, u64)> = Vec::new();
    for offset in aux {
        let (index, bit) = (offset / 64, 1 << (offset % 64));
        match words.last_mut() {
            Some((last, word)) if *last == index => *word |= bit,
            _ => words.push((index, bit)),
        }
    }
    Names {
        inputs,
        slots,
        words,
    }
}
