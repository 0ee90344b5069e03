//! Where the instances of each template stand.

use crate::Column;
use crate::compiled::CompiledCircuit;
use crate::compiled::template::{Extent, Instance, Template};

/// The instances of one template in circuit order: what a kernel needs that evaluates them together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placements {
    num_externals: usize,
    firsts: Vec<Extent>,
    externals: Vec<Column>,
}

impl Placements {
    /// Number of instances.
    pub fn len(&self) -> usize {
        self.firsts.len()
    }

    /// Whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.firsts.is_empty()
    }

    /// Rows and variables of the circuit before each instance, ONE not counted.
    pub fn firsts(&self) -> &[Extent] {
        &self.firsts
    }

    /// Columns of the external variables, by slot within each instance, one instance after the other.
    pub fn externals(&self) -> &[Column] {
        &self.externals
    }

    /// Columns of the external variables of instance `index`, by slot.
    ///
    /// # Panics
    /// When `index` is not below [`Placements::len`].
    pub fn externals_of(&self, index: usize) -> &[Column] {
        assert!(index < self.len(), "instance {index} of {}", self.len());
        &self.externals[index * self.num_externals..][..self.num_externals]
    }
}

impl CompiledCircuit {
    /// Calls `visit` for every instance, the whole circuit first, each before its children, in circuit order.
    pub fn for_each_instance(&self, visit: &mut dyn FnMut(Instance<'_>)) {
        let whole = Instance {
            template: self.templates.len() - 1,
            first: Extent::default(),
            externals: &[],
        };
        self.visit_instance(&whole, visit);
    }

    fn visit_instance(&self, instance: &Instance<'_>, visit: &mut dyn FnMut(Instance<'_>)) {
        visit(*instance);
        let template = &self.templates[instance.template];
        let mut externals = Vec::new();
        for index in 0..template.children.len() {
            let child = instance.child(template, index, &mut externals);
            self.visit_instance(&child, visit);
        }
    }

    /// The instances of every template, by template.
    pub fn placements(&self) -> Vec<Placements> {
        let mut placements: Vec<Placements> = self
            .templates
            .iter()
            .map(|template| Placements {
                num_externals: template.num_externals(),
                ..Placements::default()
            })
            .collect();
        self.for_each_instance(&mut |instance| {
            let placements = &mut placements[instance.template];
            placements.firsts.push(instance.first);
            placements.externals.extend_from_slice(instance.externals);
        });
        placements
    }
}

impl Instance<'_> {
    /// Child `index` of this instance of `template`; `externals` receives its external variables.
    pub(super) fn child<'a>(
        &self,
        template: &Template,
        index: usize,
        externals: &'a mut Vec<Column>,
    ) -> Instance<'a> {
        let child = &template.children[index];
        externals.clear();
        externals.extend(
            template
                .externals_of(index)
                .iter()
                .map(|&variable| self.column(variable)),
        );
        Instance {
            template: child.template as usize,
            first: self.first.after(child.first),
            externals,
        }
    }
}

impl Extent {
    /// Where something stands that is this far behind.
    pub(super) fn after(self, offset: Self) -> Self {
        Self {
            num_rows: self.num_rows + offset.num_rows,
            num_aux: self.num_aux + offset.num_aux,
            num_inputs: self.num_inputs + offset.num_inputs,
        }
    }
}
