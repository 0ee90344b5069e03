//! The body of a circuit file.
//!
//! A template is: own rows, private and public variables (its children's included), external variables, children; per
//! child its template, own rows since the previous child, private and public variables since the end of the previous child, and
//! a reference per external variable; the lengths of the sides of each own row; per term a reference and the coefficient's
//! index; the kinds of its own private variables, eight a byte. A reference is the difference to the last one of its kind, signs
//! alternating, with the kind in its two low bits: most take one byte.

use ff::PrimeField as _;

use crate::compiled::CompiledCircuit;
use crate::compiled::file::CircuitLabel;
use crate::compiled::file::bytes::Writer;
use crate::compiled::template::{Extent, Referent, Template, VariableRef, own_aux_runs};
use crate::density::ones_of;

pub(super) const KIND_INPUT: u32 = 0;
pub(super) const KIND_EXTERNAL: u32 = 1;
pub(super) const KIND_AUX: u32 = 2;
pub(super) const KIND_ONE: u32 = 3;

pub(super) fn body(circuit: &CompiledCircuit, label: &CircuitLabel) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.text(&label.name);
    writer.text(&label.built_from);
    writer.0.extend_from_slice(circuit.digest.as_bytes());
    writer.count(circuit.coefficients.len());
    for coefficient in &circuit.coefficients {
        writer.0.extend_from_slice(&coefficient.to_repr());
    }
    writer.count(circuit.templates.len());
    for template in &circuit.templates {
        write_template(&mut writer, template, &circuit.templates);
    }
    write_late_bits(&mut writer, circuit);
    writer.0
}

fn write_template(writer: &mut Writer, template: &Template, templates: &[Template]) {
    writer.count(template.num_own_rows());
    writer.number(template.extent.num_aux);
    writer.number(template.extent.num_inputs);
    writer.number(template.num_externals);
    writer.count(template.children.len());
    let mut references = References::default();
    let mut end = Extent::default();
    let mut own_rows = 0;
    for (index, child) in template.children.iter().enumerate() {
        writer.number(child.template);
        writer.number(child.own_rows_before - own_rows);
        writer.number(child.first.num_aux - end.num_aux);
        writer.number(child.first.num_inputs - end.num_inputs);
        own_rows = child.own_rows_before;
        end = child.first.after(templates[child.template as usize].extent);
        for &variable in template.externals_of(index) {
            references.write(writer, variable);
        }
    }
    for row in 0..template.num_own_rows() {
        for side in template.own_row(row) {
            writer.count(side.len());
        }
    }
    let mut references = References::default();
    for term in &template.terms {
        references.write(writer, term.variable);
        writer.number(term.coefficient_index);
    }
    let num_own: u32 = own_aux_runs(template, |index| templates[index as usize].extent)
        .map(|(_, count)| count)
        .sum();
    let bytes = template.wide.iter().flat_map(|word| word.to_le_bytes());
    writer.0.extend(bytes.take(num_own.div_ceil(8) as usize));
}

/// The last offset of each kind.
#[derive(Debug, Default)]
struct References([u32; 3]);

impl References {
    fn write(&mut self, writer: &mut Writer, variable: VariableRef) {
        let (kind, offset) = match variable.referent() {
            Referent::One => return writer.number(KIND_ONE),
            Referent::Input(offset) => (KIND_INPUT, offset),
            Referent::External(slot) => (KIND_EXTERNAL, slot),
            Referent::Aux(offset) => (KIND_AUX, offset),
        };
        let last = std::mem::replace(&mut self.0[kind as usize], offset);
        // Offsets have 30 bits: a difference with its sign has 31, and 33 with the kind.
        let difference = i64::from(offset) - i64::from(last);
        let alternating = (difference << 1 ^ difference >> 63).cast_unsigned();
        writer.reference(alternating << 2 | u64::from(kind));
    }
}

/// Variables that were wide when their instance ended and are bits by the whole circuit.
fn write_late_bits(writer: &mut Writer, circuit: &CompiledCircuit) {
    let mut late = circuit.wide_at_the_end_of_instances();
    for (word, wide) in late.iter_mut().zip(circuit.kinds.wide_mask()) {
        *word &= !wide;
    }
    writer.count(ones_of(&late).count());
    let mut next = 0;
    for index in ones_of(&late) {
        writer.count(index - next);
        next = index + 1;
    }
}
