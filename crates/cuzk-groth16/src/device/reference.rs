//! The oracle: a device in which every step is done the obvious way.
//!
//! Transforms are sums over all powers, products are double-and-add. Small circuits only.

use std::num::NonZeroUsize;

use super::bases::KeyBases;
use super::cpu::selected;
use super::error::DeviceError;
use super::partition::{CircuitData, Footprint, LoadedCircuit, LoadedKey, Partition, PendingProof};
use super::{DeviceDescription, ProverDevice};
use crate::assembly::{G1Sums, assemble};
use crate::curve::CurveField;
use crate::field::{Fp, Fp2};
use crate::key::Section;
use crate::msm::{ScalarSegment, msm_naive};
use crate::ntt::quotient_naive;

/// A slow prover to compare the others with.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceDevice;

impl ReferenceDevice {
    const NAME: &'static str = "reference";

    /// Largest domain: its transforms take a second or so, and four times as long per doubling.
    pub const MAX_LOG_DOMAIN: u32 = 12;
}

impl ProverDevice for ReferenceDevice {
    fn describe(&self) -> DeviceDescription {
        DeviceDescription {
            name: Self::NAME,
            threads: NonZeroUsize::MIN,
            tail_threads: NonZeroUsize::MIN,
            arithmetic: "blst",
        }
    }

    fn load_circuit(
        &self,
        key: &LoadedKey,
        circuit: CircuitData,
    ) -> Result<LoadedCircuit, DeviceError> {
        let log_domain = circuit.shape.log_domain();
        if log_domain > Self::MAX_LOG_DOMAIN {
            return Err(DeviceError::TooLarge {
                device: Self::NAME,
                log_domain,
                max_log_domain: Self::MAX_LOG_DOMAIN,
            });
        }
        LoadedCircuit::new(key, circuit)
    }

    fn start(&self, partition: Partition) -> Result<PendingProof, DeviceError> {
        partition.check()?;
        Ok(PendingProof::new(move || {
            let circuit = &partition.circuit;
            let densities = &circuit.circuit().densities;
            let (inputs, aux) = (&partition.witness.inputs, &partition.witness.aux);
            let h = quotient_naive(&partition.evaluations, circuit.circuit().shape.log_domain());
            let of_b = [
                selected(Section::BG1, inputs, &densities.b_input)?,
                selected(Section::BG1, aux, &densities.b_aux)?,
            ];
            let of_a = [
                ScalarSegment::all(inputs),
                selected(Section::A, aux, &densities.a_aux)?,
            ];
            let sums = G1Sums {
                h: sum::<Fp>(circuit, Section::H, &[ScalarSegment::all(&h)])?,
                l: sum::<Fp>(circuit, Section::L, &[ScalarSegment::all(aux)])?,
                a: sum::<Fp>(circuit, Section::A, &of_a)?,
                b: sum::<Fp>(circuit, Section::BG1, &of_b)?,
            };
            let b_g2 = sum::<Fp2>(circuit, Section::BG2, &of_b)?;
            let key = circuit.key().verifying_key();
            Ok(assemble(key, &sums, &b_g2, partition.blinding))
        }))
    }

    fn footprint(&self, circuit: &CircuitData) -> Footprint {
        const SCALAR: usize = 32;
        let shape = circuit.shape;
        let partition = SCALAR * (shape.num_inputs + shape.num_aux + 3 * shape.num_rows());
        Footprint {
            partition_bytes: partition,
            start_bytes: partition,
            pending_bytes: partition,
            finish_bytes: partition + 8 * SCALAR * shape.domain_size(),
        }
    }
}

fn sum<F: CurveField>(
    circuit: &LoadedCircuit,
    section: Section,
    segments: &[ScalarSegment<'_>],
) -> Result<F::Projective, DeviceError> {
    let bases = KeyBases::new(circuit.key(), section);
    msm_naive::<F>(&bases, segments).map_err(|source| DeviceError::Msm { section, source })
}
