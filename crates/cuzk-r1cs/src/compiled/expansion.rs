//! From templates back to rows: the oracle for everything that works on templates.

use crate::MatrixDigest;
use crate::compiled::CompiledCircuit;
use crate::compiled::template::{Extent, Instance};
use crate::digest::MatrixHasher;
use crate::matrix::Entry;

/// Takes a row's index in the circuit and its sides A, B, C.
type VisitRow<'a> = dyn FnMut(usize, [&[Entry]; 3]) + 'a;

impl CompiledCircuit {
    /// Calls `visit` for every constraint in circuit order, with the entries that a recording has: merged, ascending, and
    /// with coefficients of [`CompiledCircuit::coefficients`].
    pub fn for_each_row(&self, visit: &mut VisitRow<'_>) {
        let whole = Instance {
            template: self.templates.len() - 1,
            first: Extent::default(),
            externals: &[],
        };
        self.expand(&whole, visit);
    }

    fn expand(&self, instance: &Instance<'_>, visit: &mut VisitRow<'_>) {
        let template = &self.templates[instance.template];
        let mut sides = [const { Vec::new() }; 3];
        let mut externals = Vec::new();
        let mut row = instance.first.num_rows as usize;
        let mut next_child = 0;
        for own_row in 0..=template.num_own_rows() {
            while let Some(child) = template.children.get(next_child)
                && child.own_rows_before as usize == own_row
            {
                let child = instance.child(template, next_child, &mut externals);
                self.expand(&child, visit);
                row += self.templates[child.template].extent.num_rows as usize;
                next_child += 1;
            }
            if own_row == template.num_own_rows() {
                break;
            }
            for (side, terms) in sides.iter_mut().zip(template.own_row(own_row)) {
                side.clear();
                side.extend(terms.iter().map(|term| Entry {
                    column: instance.column(term.variable),
                    coefficient_index: term.coefficient_index,
                }));
                side.sort_unstable_by_key(|entry| entry.column);
            }
            visit(row, sides.each_ref().map(Vec::as_slice));
            row += 1;
        }
    }

    /// Digest of the rows that the templates expand to; equal to [`CompiledCircuit::digest`] for a sound circuit.
    ///
    /// `progress` is called with the number of rows hashed, about every million rows.
    pub fn expanded_digest(&self, progress: &dyn Fn(u64)) -> MatrixDigest {
        const ROWS_BETWEEN_REPORTS: usize = 1 << 20;
        let mut hasher = MatrixHasher::new();
        self.for_each_row(&mut |row, sides| {
            for side in sides {
                hasher.row(side);
            }
            if row.is_multiple_of(ROWS_BETWEEN_REPORTS) {
                progress(row as u64);
            }
        });
        hasher.finish(&self.coefficients, self.shape())
    }
}
