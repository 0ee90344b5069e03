//! A circuit's queries in the parts in which a pass takes them.
//!
//! Parts are cut when the circuit is loaded, large ones by what is free then. Memory that others have taken by the time of a pass
//! must not keep it from being made, so a circuit with large parts has small ones, too.

use std::ops::Range;

use super::circuit::window_bytes;
use crate::{
    PassPlan, ProofSizes,
    driver::Transfers,
    elements::Base,
    host_field::{Coordinate, Fp, Fp2},
    tables::{QueryPart, QueryTables},
};

/// The pass of one proof over whole queries.
pub(super) const WHOLE: PassPlan = PassPlan {
    max_g1: usize::MAX,
    quotients: 1,
    proofs: 1,
};

/// The tables of a circuit's queries.
pub(super) struct Tables {
    pub(super) l: QueryTables,
    pub(super) a: QueryTables,
    pub(super) b: QueryTables,
}

/// Queries in parts.
pub(super) struct Cut {
    /// What a pass over such parts holds.
    pub(super) plan: PassPlan,
    /// The quotient's coefficients.
    pub(super) h: Vec<Range<usize>>,
    pub(super) l: Vec<QueryPart>,
    pub(super) a: Vec<QueryPart>,
    pub(super) b_g1: Vec<QueryPart>,
    pub(super) b_g2: Vec<QueryPart>,
}

impl Cut {
    /// Parts as large as the plan says, of queries of a circuit whose domain has `domain_size` rows.
    pub(super) fn new(plan: PassPlan, domain_size: usize, tables: &Tables) -> Self {
        Self {
            plan,
            h: ranges(domain_size - 1, plan.max_g1),
            l: tables.l.parts(plan.max_g1),
            a: tables.a.parts(plan.max_g1),
            b_g1: tables.b.parts(plan.max_g1),
            b_g2: tables.b.parts(plan.max_g2()),
        }
    }

    /// The pass that `available` bytes allow; none where they are too few for parts of this size.
    pub(super) fn fitting(&self, sizes: ProofSizes, available: u64) -> Option<PassPlan> {
        let plan = self.plan.refitted(sizes, available);
        (plan.bytes(sizes) <= available).then_some(plan)
    }

    /// Whether all coefficients of the quotient are summed up at once.
    pub(super) fn h_is_whole(&self) -> bool {
        self.h.len() == 1
    }

    /// Page-locked bytes of a proof's sums.
    pub(super) fn result_bytes(&self) -> usize {
        let h = self.h.iter().map(|range| window_bytes::<Fp>(range.len()));
        let in_g1 = [&self.l, &self.a, &self.b_g1].map(|parts| bytes_of_parts::<Fp>(parts));
        h.sum::<usize>() + in_g1.iter().sum::<usize>() + bytes_of_parts::<Fp2>(&self.b_g2)
    }
}

fn bytes_of_parts<C: Coordinate>(parts: &[QueryPart]) -> usize {
    let parts = parts.iter();
    parts
        .map(|part| Transfers::rounded(size_of::<Base<C>>()) + window_bytes::<C>(part.wide.len()))
        .sum()
}

/// Consecutive ranges of at most `max` numbers.
fn ranges(count: usize, max: usize) -> Vec<Range<usize>> {
    let firsts = (0..count).step_by(max);
    firsts
        .map(|first| first..count.min(first.saturating_add(max)))
        .collect()
}
