//! The templates of a file, each checked against those before it.

use crate::compiled::file::bytes::Reader;
use crate::compiled::file::encode::{KIND_AUX, KIND_EXTERNAL, KIND_INPUT};
use crate::compiled::file::error::{CircuitFileError, CircuitSection};
use crate::compiled::file::limits;
use crate::compiled::template::{
    Child, Extent, Referent, Template, Term, VariableRef, own_aux_runs,
};

type Decoded<T> = Result<T, CircuitFileError>;

/// Reads templates, children before those they stand in.
pub(super) struct TemplateDecoder<'a, 'b> {
    reader: &'b mut Reader<'a>,
    num_coefficients: usize,
    templates: Vec<Template>,
    /// What each template and everything in it amount to.
    weights: Vec<Weight>,
}

/// What the limits limit.
#[derive(Clone, Copy, Debug)]
struct Weight {
    /// Levels of templates.
    depth: u32,
    /// Instances and their external variables.
    instances: u64,
    /// Terms of all rows.
    terms: u64,
}

impl<'a, 'b> TemplateDecoder<'a, 'b> {
    pub(super) fn new(reader: &'b mut Reader<'a>, num_coefficients: usize) -> Self {
        Self {
            reader,
            num_coefficients,
            templates: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// All templates; the last one is the whole circuit.
    pub(super) fn templates(mut self) -> Decoded<Vec<Template>> {
        self.reader.at(CircuitSection::Templates, 0);
        // Five counts make the shortest template.
        let count = self.reader.count("number of templates", 5)?;
        self.reader.expect_within(
            "number of templates",
            [1, u64::from(u32::MAX)],
            count as u64,
        )?;
        for index in 0..count {
            let mut template = self.counts(index)?;
            let weight = self.children(index, &mut template)?;
            self.rows(index, &mut template)?;
            self.own_kinds(index, &mut template)?;
            self.accept(index, template, weight)?;
        }
        let externals = self.templates[count - 1].num_externals;
        self.reader.expect_within(
            "external variables of the whole circuit",
            [0, 0],
            u64::from(externals),
        )?;
        Ok(self.templates)
    }

    /// The counts of a template, the rows of its children not among them yet.
    fn counts(&mut self, index: usize) -> Decoded<Template> {
        let max = limits::MAX_ROWS_OR_VARIABLES;
        self.reader.at(CircuitSection::Templates, index);
        // An own row has three lengths of a byte at least.
        let own_rows = self.reader.count("own rows", 3)? as u32;
        Ok(Template {
            extent: Extent {
                num_rows: own_rows,
                num_aux: self.reader.within("private variables", 0, max)?,
                num_inputs: self.reader.within("public variables", 0, max)?,
            },
            num_externals: self.reader.within("external variables", 0, max)?,
            ..Template::default()
        })
    }

    /// The children; afterwards the template's rows are those of the children too.
    fn children(&mut self, index: usize, template: &mut Template) -> Decoded<Weight> {
        self.reader.at(CircuitSection::Children, index);
        let count = self.reader.count("number of children", 4)?;
        let mut weight = Weight {
            depth: 1,
            instances: 1 + u64::from(template.num_externals),
            terms: 0,
        };
        let mut end = Extent::default();
        let mut references = References::default();
        template.children.reserve_exact(count);
        for _ in 0..count {
            self.reader.at(CircuitSection::Children, index);
            let child = self.child(template, &mut end)?;
            let inner = self.weights[child.template as usize];
            weight.depth = weight.depth.max(inner.depth + 1);
            weight.instances += inner.instances;
            weight.terms += inner.terms;
            self.expect_limits(weight)?;
            template.children.push(child);
            self.reader.at(CircuitSection::Externals, index);
            for _ in 0..self.templates[child.template as usize].num_externals {
                let variable = references.read(self.reader, template)?;
                template.child_externals.push(variable);
            }
        }
        template.extent.num_rows += end.num_rows;
        Ok(weight)
    }

    /// The next child of a template; `end` is where the previous one ends, its rows being those of children alone.
    fn child(&mut self, template: &Template, end: &mut Extent) -> Decoded<Child> {
        let reader = &mut *self.reader;
        let own_rows = template.extent.num_rows;
        let room = template.extent;
        let before = self.templates.len() as u32;
        reader.expect_within("number of templates before", [1, u64::MAX], before.into())?;
        let index = reader.within("template", 0, before - 1)?;
        let previous = template
            .children
            .last()
            .map_or(0, |child| child.own_rows_before);
        let own_rows_before =
            previous + reader.within("own rows before", 0, own_rows - previous)?;
        let aux = reader.within("private variables before", 0, room.num_aux - end.num_aux)?;
        let inputs = reader.within(
            "public variables before",
            0,
            room.num_inputs - end.num_inputs,
        )?;
        let first = Extent {
            num_rows: end.num_rows + own_rows_before,
            num_aux: end.num_aux + aux,
            num_inputs: end.num_inputs + inputs,
        };
        let extent = self.templates[index as usize].extent;
        let max_rows = limits::MAX_ROWS_OR_VARIABLES.saturating_sub(own_rows);
        end.num_rows = self.checked_end(end.num_rows, extent.num_rows, max_rows)?;
        end.num_aux = self.checked_end(first.num_aux, extent.num_aux, room.num_aux)?;
        end.num_inputs = self.checked_end(first.num_inputs, extent.num_inputs, room.num_inputs)?;
        Ok(Child {
            template: index,
            own_rows_before,
            first,
            externals_start: template.child_externals.len() as u32,
        })
    }

    /// `first + count`, which must not exceed `max`.
    fn checked_end(&self, first: u32, count: u32, max: u32) -> Decoded<u32> {
        let end = u64::from(first) + u64::from(count);
        self.reader
            .expect_within("end of a child", [0, u64::from(max)], end)?;
        Ok(end as u32)
    }

    fn rows(&mut self, index: usize, template: &mut Template) -> Decoded<()> {
        self.reader.at(CircuitSection::Rows, index);
        let own_rows = template
            .children
            .iter()
            .fold(template.extent.num_rows, |rows, child| {
                rows - self.templates[child.template as usize].extent.num_rows
            });
        template.side_ends.reserve_exact(3 * own_rows as usize);
        let mut end = 0;
        for _ in 0..3 * own_rows {
            // A term takes two bytes, and the file at most 2^28: the sum fits 32 bits when it passes.
            end += self.reader.count("length of a side", 2)?;
            self.reader.expect_items_left("terms", end, 2)?;
            template.side_ends.push(end as u32);
        }
        self.reader.at(CircuitSection::Terms, index);
        template.terms.reserve_exact(end);
        let mut references = References::default();
        for _ in 0..end {
            let variable = references.read(self.reader, template)?;
            let coefficient_index = self.reader.number()?;
            if coefficient_index as usize >= self.num_coefficients {
                let max = (self.num_coefficients as u64).saturating_sub(1);
                return Err(self
                    .reader
                    .value("coefficient", [0, max], coefficient_index.into()));
            }
            template.terms.push(Term {
                variable,
                coefficient_index,
            });
        }
        Ok(())
    }

    fn own_kinds(&mut self, index: usize, template: &mut Template) -> Decoded<()> {
        self.reader.at(CircuitSection::Kinds, index);
        let num_own: u32 = own_aux_runs(template, |child| self.templates[child as usize].extent)
            .map(|(_, count)| count)
            .sum();
        let bytes = self.reader.bytes(num_own.div_ceil(8) as usize)?;
        template.wide = bytes
            .chunks(8)
            .map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            })
            .collect();
        let used = num_own % 64;
        match template.wide.last() {
            Some(last) if used > 0 && last >> used != 0 => Err(self
                .reader
                .malformed("kinds of the template's own variables alone")),
            _ => Ok(()),
        }
    }

    fn accept(&mut self, index: usize, template: Template, mut weight: Weight) -> Decoded<()> {
        self.reader.at(CircuitSection::Templates, index);
        weight.terms += template.terms.len() as u64;
        self.expect_limits(weight)?;
        self.templates.push(template);
        self.weights.push(weight);
        Ok(())
    }

    fn expect_limits(&self, weight: Weight) -> Decoded<()> {
        for (what, max, found) in [
            (
                "depth",
                u64::from(limits::MAX_DEPTH),
                u64::from(weight.depth),
            ),
            (
                "number of instances with external variables",
                limits::MAX_INSTANCES,
                weight.instances,
            ),
            ("number of expanded terms", limits::MAX_TERMS, weight.terms),
        ] {
            self.reader.expect_within(what, [0, max], found)?;
        }
        Ok(())
    }
}

/// The last offset of each kind.
#[derive(Debug, Default)]
struct References([u32; 3]);

impl References {
    /// A reference to something that the template has.
    #[inline]
    fn read(&mut self, reader: &mut Reader<'_>, template: &Template) -> Decoded<VariableRef> {
        let coded = reader.reference()?;
        let kind = (coded & 3) as u32;
        let (what, count) = match kind {
            KIND_INPUT => ("offset of a public variable", template.extent.num_inputs),
            KIND_EXTERNAL => ("slot", template.num_externals),
            KIND_AUX => ("offset of a private variable", template.extent.num_aux),
            _ => return Ok(VariableRef::new(Referent::One)),
        };
        let alternating = coded >> 2;
        let difference = (alternating >> 1).cast_signed() ^ -((alternating & 1).cast_signed());
        let last = &mut self.0[kind as usize];
        let offset = i64::from(*last) + difference;
        let Some(offset) = u32::try_from(offset).ok().filter(|&offset| offset < count) else {
            let max = u64::from(count).saturating_sub(1);
            return Err(reader.value(what, [0, max], offset.cast_unsigned()));
        };
        *last = offset;
        Ok(VariableRef::new(match kind {
            KIND_INPUT => Referent::Input(offset),
            KIND_EXTERNAL => Referent::External(offset),
            _ => Referent::Aux(offset),
        }))
    }
}
