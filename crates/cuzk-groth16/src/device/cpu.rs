//! The processor as a device: all cores in `start`, a few in `finish`.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuzk_r1cs::{CompiledCircuit, Densities, Fr, PackedWitness, TemplateEvaluator};
use rayon::ThreadPool;

use super::bases::KeyBases;
use super::error::DeviceError;
use super::partition::{
    Footprint, LoadedCircuit, LoadedKey, Partition, PendingProof, StartTimes, num_b,
};
use super::teams::Teams;
use super::{DeviceDescription, ProverDevice};
use crate::assembly::{G1Sums, assemble};
use crate::curve::CurveField;
use crate::field::{Fp, Fp2};
use crate::key::{ProvingKey, Section};
use crate::msm::{MsmSettings, ScalarSegment, msm, scratch_bytes};
use crate::ntt::{quotient, quotient_bytes};

const NAME: &str = "cpu";

/// How a [`CpuDevice`] uses the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSettings {
    /// Threads that `start` uses; twice as many for a small proof beside a large one.
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
    start: Teams,
    tail: Arc<Teams>,
}

impl CpuDevice {
    /// A device with its own threads.
    ///
    /// # Errors
    /// [`DeviceError::Threads`] when the system does not start them.
    pub fn new(settings: CpuSettings) -> Result<Self, DeviceError> {
        Ok(Self {
            settings,
            start: Teams::start("start", settings.threads)?,
            tail: Arc::new(Teams::start("tail", settings.tail_threads)?),
        })
    }
}

impl ProverDevice for CpuDevice {
    fn describe(&self) -> DeviceDescription {
        DeviceDescription {
            name: NAME,
            threads: self.settings.threads,
            tail_threads: self.settings.tail_threads,
            arithmetic: self.settings.msm.arithmetic.name(),
            card: None,
        }
    }

    fn load_circuit(
        &self,
        key: &LoadedKey,
        circuit: Arc<CompiledCircuit>,
    ) -> Result<LoadedCircuit, DeviceError> {
        key.form::<ProvingKey>(NAME)?;
        LoadedCircuit::new(key, circuit, |circuit| Ok(TemplateEvaluator::new(circuit)))
    }

    fn start(&self, partition: Partition) -> Result<PendingProof, DeviceError> {
        partition.check()?;
        let Partition {
            circuit,
            witness,
            blinding,
        } = partition;
        let log_domain = circuit.circuit().shape().log_domain();
        let team = self.start.join(log_domain);
        let queries = Queries {
            pool: team.pool(),
            key: circuit.key().form(NAME)?,
            settings: self.settings.msm,
        };
        let densities = circuit.circuit().densities();
        let mut watch = Stopwatch::start();
        let evaluator: &TemplateEvaluator = circuit.form(NAME)?;
        let evaluations = team.pool().install(|| {
            let evaluations = evaluator.evaluate(&witness)?;
            // The quotient of violated rows would be no polynomial.
            match evaluations.first_unsatisfied() {
                Some(row) => Err(DeviceError::Unsatisfied { row }),
                None => Ok(evaluations),
            }
        })?;
        let evaluate = watch.lap();
        // Row values are freed on the way.
        let quotient = team
            .pool()
            .install(|| quotient(evaluations, log_domain, self.settings.msm.arithmetic));
        let quotient_time = watch.lap();
        let h = queries.sum(Section::H, &[ScalarSegment::all(&quotient)])?;
        drop(quotient);
        let l = queries.sum(Section::L, &[ScalarSegment::packed(&witness)])?;
        let a = queries.sum(Section::A, &variables_of_a(&witness, densities)?)?;
        let b_inputs = inputs_of_b(&witness, densities);
        let segments = variables_of_b(Section::BG1, &b_inputs, &witness, densities)?;
        let b = queries.sum(Section::BG1, &segments)?;
        let sums = G1Sums { h, l, a, b };
        let times = StartTimes {
            evaluate,
            quotient: quotient_time,
            sums: watch.lap(),
        };

        let (tail, settings) = (Arc::clone(&self.tail), self.settings.msm);
        Ok(PendingProof::new(times, move || {
            let team = tail.join(log_domain);
            let queries = Queries {
                pool: team.pool(),
                key: circuit.key().form(NAME)?,
                settings,
            };
            let densities = circuit.circuit().densities();
            let segments = variables_of_b(Section::BG2, &b_inputs, &witness, densities)?;
            let b_g2 = queries.sum_over::<Fp2>(Section::BG2, &segments)?;
            Ok(assemble(
                circuit.key().verifying_key(),
                &sums,
                &b_g2,
                blinding,
            ))
        }))
    }

    fn starts_beside(&self) -> bool {
        true
    }

    fn footprint(&self, circuit: &CompiledCircuit) -> Footprint {
        const SCALAR: usize = size_of::<Fr>();
        let shape = circuit.shape();
        let domain = shape.domain_size();
        let settings = self.settings;
        let num_b = num_b(circuit.densities());
        let num_wide = circuit.kinds().num_wide();
        let threads = Teams::most_threads(settings.threads, shape.log_domain());
        let tail_threads = Teams::most_threads(settings.tail_threads, shape.log_domain());
        let scratch_g1 = |num| scratch_bytes::<Fp>(num, threads, settings.msm);
        let scratch_g2 = scratch_bytes::<Fp2>(
            num_b.min(num_wide + shape.num_inputs),
            tail_threads,
            settings.msm,
        );

        let witness = SCALAR * (shape.num_inputs + num_wide) + shape.num_aux.div_ceil(64) * 8;
        let evaluations = 3 * SCALAR * shape.num_rows();
        let transforms =
            witness + quotient_bytes(shape.log_domain(), threads, settings.msm.arithmetic);
        let h_sum = witness + SCALAR * domain + scratch_g1(domain);
        let other_sums = witness + scratch_g1(shape.num_inputs + num_wide);
        Footprint {
            partition_bytes: witness,
            evaluation_bytes: evaluations,
            start_bytes: (witness + evaluations)
                .max(transforms)
                .max(h_sum)
                .max(other_sums),
            pending_bytes: witness,
            finish_bytes: witness + scratch_g2,
        }
    }
}

/// Times one thing after the other.
struct Stopwatch(Instant);

impl Stopwatch {
    fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the last lap.
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
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

/// The variables that have a base in the query over A: every input, and the others where they occur in A.
fn variables_of_a<'a>(
    witness: &'a PackedWitness,
    densities: &'a Densities,
) -> Result<[ScalarSegment<'a>; 2], DeviceError> {
    Ok([
        ScalarSegment::all(witness.inputs()),
        selected(Section::A, witness, densities.a_aux.words())?,
    ])
}

/// The variables that have a base in a query over B: those that occur in B, `b_inputs` first.
fn variables_of_b<'a>(
    section: Section,
    b_inputs: &'a [Fr],
    witness: &'a PackedWitness,
    densities: &'a Densities,
) -> Result<[ScalarSegment<'a>; 2], DeviceError> {
    Ok([
        ScalarSegment::all(b_inputs),
        selected(section, witness, densities.b_aux.words())?,
    ])
}

fn selected<'a>(
    section: Section,
    witness: &'a PackedWitness,
    words: &'a [u64],
) -> Result<ScalarSegment<'a>, DeviceError> {
    ScalarSegment::packed_selected(witness, words)
        .map_err(|source| DeviceError::Msm { section, source })
}

/// Values of the inputs that occur in B.
fn inputs_of_b(witness: &PackedWitness, densities: &Densities) -> Vec<Fr> {
    let inputs = densities.b_input.iter_ones();
    inputs.map(|index| witness.inputs()[index]).collect()
}
