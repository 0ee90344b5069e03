//! Row values by template. The kernel computes little and writes three values for each row, so its measure is what a copy on
//! the same card writes.

use cuzk_r1cs::{CompiledCircuit, PackedWitness};

use super::copies::Copies;
use crate::{
    CudaError, Device, Evaluation, EvaluationLine, RawScalar, RowOutputs, WitnessBuffers,
    driver::{DeviceBuffer, as_bytes, raw_scalars},
    evaluation::NO_ROW,
};

/// Values of a row: of the left-hand side, the right-hand side and the product.
const VALUES: usize = 3;

/// A circuit, and a witness that satisfies it.
#[derive(Debug, Clone, Copy)]
pub struct EvaluatedCircuit<'a> {
    /// Its rows.
    pub circuit: &'a CompiledCircuit,
    /// Values of its variables.
    pub witness: &'a PackedWitness,
}

pub(super) fn measure(
    device: &Device,
    evaluated: EvaluatedCircuit<'_>,
    copies: Copies,
) -> Result<EvaluationLine, CudaError> {
    let EvaluatedCircuit { circuit, witness } = evaluated;
    let session = device.session();
    let shape = circuit.shape();
    let evaluation = Evaluation::new(device, circuit)?;
    let mut plane = session.allocate(2 * witness.plane().len())?;
    session.upload_bytes(&mut plane, 0, as_bytes(witness.plane()))?;
    let (inputs, wide) = (witness.inputs(), witness.wide());
    let mut values = session.allocate(inputs.len() + wide.len())?;
    session.upload_bytes(&mut values, 0, raw_scalars(inputs).bytes())?;
    session.upload_bytes(&mut values, inputs.len(), raw_scalars(wide).bytes())?;
    let mut violated = device.uploaded(&[NO_ROW])?;
    let mut sides: [DeviceBuffer<RawScalar>; VALUES] = [
        session.allocate(shape.domain_size())?,
        session.allocate(shape.domain_size())?,
        session.allocate(shape.domain_size())?,
    ];
    let [a, b, c] = sides.each_mut();
    let mut outputs = RowOutputs {
        a: Some(a),
        b: Some(b),
        c: Some(c),
    };
    let buffers = WitnessBuffers {
        plane: &plane,
        values: &values,
    };
    let ms = device.repeated(|| evaluation.run(device, buffers, &mut outputs, &mut violated))?;
    let written = VALUES * shape.domain_size() * size_of::<RawScalar>();
    let (rows, per_second) = (shape.num_rows() as u64, 1e3 / ms);
    let bytes_written_per_second = written as f64 * per_second;
    Ok(EvaluationLine {
        num_rows: rows,
        log_domain: shape.log_domain(),
        ms,
        rows_per_second: rows as f64 * per_second,
        bytes_written_per_second,
        ratio_to_device_copy: bytes_written_per_second / copies.on_device,
        satisfied: session.download(&violated)? == [NO_ROW],
    })
}
