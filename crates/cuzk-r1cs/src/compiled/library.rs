//! Each template once.

use std::collections::HashMap;

use crate::compiled::template::{Extent, Template};

/// Templates in the order in which they were first seen, children before the templates that they stand in.
#[derive(Debug, Default)]
pub(super) struct Library {
    templates: Vec<Template>,
    /// Templates by the hash of their rows and children.
    by_hash: HashMap<u64, Vec<u32>>,
}

impl Library {
    /// The index of a template, a new one if no equal one is there. Equal means compared, not only hashed.
    pub(super) fn intern(&mut self, template: Template) -> u32 {
        let same_hash = self.by_hash.entry(hash(&template)).or_default();
        let equal = same_hash
            .iter()
            .copied()
            .find(|&index| self.templates[index as usize] == template);
        equal.unwrap_or_else(|| {
            let index = self.templates.len() as u32;
            same_hash.push(index);
            self.templates.push(template);
            index
        })
    }

    pub(super) fn extent(&self, index: u32) -> Extent {
        self.templates[index as usize].extent
    }

    pub(super) fn into_templates(self) -> Vec<Template> {
        self.templates
    }
}

/// Mixes the terms and children. Templates come from a circuit's program, so nobody chooses them to collide.
fn hash(template: &Template) -> u64 {
    let mut state = 0_u64;
    let mut mix = |word: u64| {
        state = (state.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    };
    let extent = template.extent;
    mix(u64::from(extent.num_rows) << 32 | u64::from(extent.num_aux));
    for term in &template.terms {
        mix(u64::from(term.variable.to_bits()) << 32 | u64::from(term.coefficient_index));
    }
    for child in &template.children {
        mix(u64::from(child.template) << 32 | u64::from(child.first.num_aux));
    }
    for external in &template.child_externals {
        mix(u64::from(external.to_bits()));
    }
    state
}
