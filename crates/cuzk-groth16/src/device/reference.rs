//! The oracle: a device in which every step is done the obvious way.
//!
//! The witness is expanded, rows are evaluated one by one, transforms are sums over all powers, products are
//! double-and-add. Small circuits only.

use std::num::NonZeroUsize;
use std::sync::Arc;

use cuzk_r1cs::{CompiledCircuit, Density, Fr};

use super::bases::KeyBases;
use super::error::DeviceError;
use super::partition::{Footprint, LoadedCircuit, LoadedKey, Partition, PendingProof, StartTimes};
use super::{DeviceDescription, ProverDevice};
use crate::assembly::{G1Sums, assemble};
use crate::curve::CurveField;
use crate::field::{Fp, Fp2};
use crate::key::{ProvingKey, Section};
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
            card: None,
        }
    }

    fn load_circuit(
        &self,
        key: &LoadedKey,
        circuit: Arc<CompiledCircuit>,
    ) -> Result<LoadedCircuit, DeviceError> {
        let log_domain = circuit.shape().log_domain();
        if log_domain > Self::MAX_LOG_DOMAIN {
            return Err(DeviceError::TooLarge {
                device: Self::NAME,
                log_domain,
                max_log_domain: Self::MAX_LOG_DOMAIN,
            });
        }
        key.form::<ProvingKey>(Self::NAME)?;
        LoadedCircuit::new(key, circuit, |_| Ok(()))
    }

    fn start(&self, partition: Partition) -> Result<PendingProof, DeviceError> {
        partition.check()?;
        let compiled = partition.circuit.circuit();
        let witness = partition.witness.expand();
        let evaluations = compiled.evaluate_row_by_row(&witness);
        if let Some(row) = evaluations.first_unsatisfied() {
            return Err(DeviceError::Unsatisfied { row });
        }
        Ok(PendingProof::new(StartTimes::default(), move || {
            let circuit = &partition.circuit;
            let compiled = circuit.circuit();
            let densities = compiled.densities();
            let (inputs, aux) = (&witness.inputs, &witness.aux);
            let h = quotient_naive(&evaluations, compiled.shape().log_domain());
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

    fn footprint(&self, circuit: &CompiledCircuit) -> Footprint {
        const SCALAR: usize = size_of::<Fr>();
        let shape = circuit.shape();
        let wide = shape.num_inputs + circuit.kinds().num_wide();
        let partition = SCALAR * wide + shape.num_aux.div_ceil(64) * 8;
        let rows = 3 * SCALAR * shape.num_rows();
        let expanded = SCALAR * (shape.num_inputs + shape.num_aux);
        Footprint {
            partition_bytes: partition,
            evaluation_bytes: rows,
            start_bytes: partition + rows + expanded,
            pending_bytes: partition + rows + expanded,
            finish_bytes: partition + rows + expanded + 8 * SCALAR * shape.domain_size(),
        }
    }
}

/// The scalars of the variables that `density` selects.
fn selected<'a>(
    section: Section,
    scalars: &'a [Fr],
    density: &'a Density,
) -> Result<ScalarSegment<'a>, DeviceError> {
    ScalarSegment::selected(scalars, density.words())
        .map_err(|source| DeviceError::Msm { section, source })
}

fn sum<F: CurveField>(
    circuit: &LoadedCircuit,
    section: Section,
    segments: &[ScalarSegment<'_>],
) -> Result<F::Projective, DeviceError> {
    let key: &ProvingKey = circuit.key().form(ReferenceDevice::NAME)?;
    let bases = KeyBases::new(key, section);
    msm_naive::<F>(&bases, segments).map_err(|source| DeviceError::Msm { section, source })
}
