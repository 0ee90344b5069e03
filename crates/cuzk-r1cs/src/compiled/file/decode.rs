//! A compiled circuit from the body of a file, believing nothing.

use ff::PrimeField as _;

use crate::compiled::file::CircuitLabel;
use crate::compiled::file::bytes::Reader;
use crate::compiled::file::error::{CircuitFileError, CircuitSection};
use crate::compiled::file::templates::TemplateDecoder;
use crate::compiled::{CompiledCircuit, Densities, Fr};
use crate::{MatrixDigest, VariableKinds};

type Decoded<T> = Result<T, CircuitFileError>;

pub(super) fn body(body: &[u8]) -> Decoded<(CompiledCircuit, CircuitLabel)> {
    let mut reader = Reader::new(body);
    let name = reader.text()?;
    reader.at(CircuitSection::Label, 1);
    let built_from = reader.text()?;
    reader.at(CircuitSection::Digest, 0);
    let mut digest = [0; 32];
    digest.copy_from_slice(reader.bytes(32)?);
    let coefficients = coefficients(&mut reader)?;
    let templates = TemplateDecoder::new(&mut reader, coefficients.len()).templates()?;
    let num_aux = templates
        .last()
        .map_or(0, |whole| whole.extent.num_aux as usize);
    let unknown = VariableKinds::from_wide_mask(0, Vec::new())
        .expect("no words are the mask of no variables");
    let mut circuit = CompiledCircuit::new(
        templates,
        MatrixDigest::from_bytes(digest),
        coefficients,
        unknown,
        Densities::default(),
    );
    let mut wide = circuit.wide_at_the_end_of_instances();
    late_bits(&mut reader, &mut wide, num_aux)?;
    reader.finish()?;
    let kinds = VariableKinds::from_wide_mask(num_aux, wide)
        .expect("the templates' kinds cover exactly the variables");
    circuit.kinds = kinds.into();
    circuit.densities = circuit.implied_densities();
    Ok((circuit, CircuitLabel { name, built_from }))
}

fn coefficients(reader: &mut Reader<'_>) -> Decoded<Vec<Fr>> {
    reader.at(CircuitSection::Coefficients, 0);
    let count = reader.count("number of coefficients", 32)?;
    let mut coefficients = Vec::with_capacity(count);
    for index in 0..count {
        reader.at(CircuitSection::Coefficients, index);
        let mut canonical = [0; 32];
        canonical.copy_from_slice(reader.bytes(32)?);
        let coefficient = Option::from(Fr::from_repr(canonical));
        coefficients.push(coefficient.ok_or_else(|| reader.malformed("a field element"))?);
    }
    Ok(coefficients)
}

fn late_bits(reader: &mut Reader<'_>, wide: &mut [u64], num_aux: usize) -> Decoded<()> {
    reader.at(CircuitSection::LateBits, 0);
    let count = reader.count("number of late bits", 1)?;
    let mut next = 0_usize;
    for item in 0..count {
        reader.at(CircuitSection::LateBits, item);
        let index = next + reader.number()? as usize;
        if index >= num_aux {
            let max = (num_aux as u64).saturating_sub(1);
            return Err(reader.value("variable", [0, max], index as u64));
        }
        wide[index / 64] &= !(1 << (index % 64));
        next = index + 1;
    }
    Ok(())
}
