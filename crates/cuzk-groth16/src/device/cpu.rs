//! The processor as a device: all cores in `start`, a few in `finish`.

use std::num::NonZeroUsize;
use std::sync::Arc;

use cuzk_r1cs::{Densities, Density, Evaluations, Fr, Witness};
use rayon::ThreadPool;

use super::bases::KeyBases;
use super::error::DeviceError;
use super::partition::{CircuitData, Footprint, LoadedCircuit, LoadedKey, Partition, PendingProof};
use super::{DeviceDescription, ProverDevice};
use crate::assembly::{G1Sums, assemble};
use crate::curve::CurveField;
use crate::field::{Fp, Fp2};
use crate::key::{ProvingKey, Section};
use crate::msm::{MsmSettings, ScalarSegment, msm, scratch_bytes};
use crate::ntt::{quotient, quotient_bytes};

/// How a [`CpuDevice`] uses the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSettings {
    /// Threads that `start` uses.
    pub threads: NonZeroUsize,
    /// Threads that `finish` uses, beside those of the next `start`.
    pub tail_threads: NonZeroUsize,
    /// Choices of the multi-scalar multiplications.
    pub msm: MsmSettings,
}

impl Default for CpuSettings {
    /// As many threads as the process may use, in `start` and in `finish`.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self {
            threads,
            tail_threads: threads,
            msm: MsmSettings::default(),
        }
    }
}

/// A multithreaded prover that streams the key from its file.
///
/// `start` computes the quotient and the sums in G1; the sum in G2, the dearest per point, is left to `finish`.
pub struct CpuDevice {
    settings: CpuSettings,
    start: ThreadPool,
    tail: Arc<ThreadPool>,
}

impl CpuDevice {
    /// A device with its own threads.
    ///
    /// # Errors
    /// [`DeviceError::Threads`] when the system does not start them.
    pub fn new(settings: CpuSettings) -> Result<Self, DeviceError> {
        Ok(Self {
            settings,
            start: threads("start", settings.threads)?,
            tail: Arc::new(threads("tail", settings.tail_threads)?),
        })
    }
}

fn threads(pool: &'static str, threads: NonZeroUsize) -> Result<ThreadPool, DeviceError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.get())
        .thread_name(move |index| format!("cuzk-{pool}-{index}"))
        .build()
        .map_err(|source| DeviceError::Threads {
            pool,
            threads: threads.get(),
            source,
        })
}

impl ProverDevice for CpuDevice {
    fn describe(&self) -> DeviceDescription {
        DeviceDescription {
            name: "cpu",
            threads: self.settings.threads,
            tail_threads: self.settings.tail_threads,
            arithmetic: self.settings.msm.arithmetic.name(),
        }
    }

    fn load_circuit(
        &self,
        key: &LoadedKey,
        circuit: CircuitData,
    ) -> Result<LoadedCircuit, DeviceError> {
        LoadedCircuit::new(key, circuit)
    }

    fn start(&self, partition: Partition) -> Result<PendingProof, DeviceError> {
        partition.check()?;
        let Partition {
            circuit,
            witness,
            evaluations,
            blinding,
        } = partition;
        let queries = Queries {
            pool: &self.start,
            key: circuit.key(),
            settings: self.settings.msm,
        };
        let densities = &circuit.circuit().densities;
        let h = self.sum_of_quotient(&queries, evaluations, circuit.circuit())?;
        let l = queries.sum(Section::L, &[ScalarSegment::all(&witness.aux)])?;
        let a = queries.sum(
            Section::A,
            &[
                ScalarSegment::all(&witness.inputs),
                selected(Section::A, &witness.aux, &densities.a_aux)?,
            ],
        )?;
        let b_scalars = variables_of_b(witness, densities);
        let b = queries.sum(Section::BG1, &[ScalarSegment::all(&b_scalars)])?;
        let sums = G1Sums { h, l, a, b };

        let (tail, settings) = (Arc::clone(&self.tail), self.settings.msm);
        Ok(PendingProof::new(move || {
            let queries = Queries {
                pool: &tail,
                key: circuit.key(),
                settings,
            };
            let b_g2 = queries.sum_over::<Fp2>(Section::BG2, &[ScalarSegment::all(&b_scalars)])?;
            Ok(assemble(
                circuit.key().verifying_key(),
                &sums,
                &b_g2,
                blinding,
            ))
        }))
    }

    fn footprint(&self, circuit: &CircuitData) -> Footprint {
        const SCALAR: usize = size_of::<Fr>();
        let shape = circuit.shape;
        let domain = shape.domain_size();
        let settings = self.settings;
        let scratch_g1 = |num| scratch_bytes::<Fp>(num, settings.threads.get(), settings.msm);
        let scratch_g2 =
            scratch_bytes::<Fp2>(circuit.num_b(), settings.tail_threads.get(), settings.msm);

        let witness = SCALAR * (shape.num_inputs + shape.num_aux);
        let pending = SCALAR * circuit.num_b();
        let partition = witness + 3 * SCALAR * shape.num_rows();
        let transforms = witness
            + quotient_bytes(
                shape.log_domain(),
                settings.threads.get(),
                settings.msm.arithmetic,
            );
        let h_sum = witness + SCALAR * domain + scratch_g1(domain);
        let other_sums = witness + pending + scratch_g1(shape.num_inputs + shape.num_aux);
        Footprint {
            partition_bytes: partition,
            start_bytes: transforms.max(h_sum).max(other_sums),
            pending_bytes: pending,
            finish_bytes: pending + scratch_g2,
        }
    }
}

impl CpuDevice {
    /// The sum over h; row values and quotient are freed as soon as they have been used.
    fn sum_of_quotient(
        &self,
        queries: &Queries<'_>,
        evaluations: Evaluations,
        circuit: &CircuitData,
    ) -> Result<<Fp as CurveField>::Projective, DeviceError> {
        let log_domain = circuit.shape.log_domain();
        let arithmetic = self.settings.msm.arithmetic;
        let h = self
            .start
            .install(|| quotient(evaluations, log_domain, arithmetic));
        queries.sum(Section::H, &[ScalarSegment::all(&h)])
    }
}

/// A key's queries, multiplied on one pool.
struct Queries<'a> {
    pool: &'a ThreadPool,
    key: &'a ProvingKey,
    settings: MsmSettings,
}

impl Queries<'_> {
    fn sum(
        &self,
        section: Section,
        segments: &[ScalarSegment<'_>],
    ) -> Result<<Fp as CurveField>::Projective, DeviceError> {
        self.sum_over::<Fp>(section, segments)
    }

    fn sum_over<F: CurveField>(
        &self,
        section: Section,
        segments: &[ScalarSegment<'_>],
    ) -> Result<F::Projective, DeviceError> {
        let bases = KeyBases::new(self.key, section);
        msm::<F>(self.pool, &bases, segments, self.settings)
            .map_err(|source| DeviceError::Msm { section, source })
    }
}

/// The scalars of the variables that `density` selects.
pub(super) fn selected<'a>(
    section: Section,
    scalars: &'a [Fr],
    density: &'a Density,
) -> Result<ScalarSegment<'a>, DeviceError> {
    ScalarSegment::selected(scalars, density.words())
        .map_err(|source| DeviceError::Msm { section, source })
}

/// Values of the variables that occur in B, inputs first: all that `finish` needs of a witness.
fn variables_of_b(witness: Witness, densities: &Densities) -> Vec<Fr> {
    let Witness { inputs, aux } = witness;
    let mut values =
        Vec::with_capacity(densities.b_input.count_ones() + densities.b_aux.count_ones());
    values.extend(densities.b_input.iter_ones().map(|index| inputs[index]));
    values.extend(densities.b_aux.iter_ones().map(|index| aux[index]));
    values
}
