//! `cuzk bench witness`: the variables of one partition, emitted by us and synthesized by upstream.

use std::{num::NonZeroU32, time::Duration};

use bellpepper_core::{Circuit, SynthesisError};
use clap::Args;
use cuzk_circuits::{CircuitId, CircuitVisitor, Statement, WitnessLayout};
use cuzk_r1cs::{Fr, PackedWitness, WitnessDifference};
use serde::Serialize;

use crate::{
    cpu_time::ThreadTimer,
    environment::Concern,
    exit::{ExitClass, OrExit as _, classed},
    inputs::{check_sectors, synthetic_request},
    memory::PeakMeter,
    option_values::{circuit, count},
    output::Page,
    request_args::decode,
    session::Session,
    units,
};

/// The partition whose witness is made; all partitions of a proof have the same circuit.
const PARTITION: usize = 0;

/// Make the witness of one partition about a synthetic sector, by us and by upstream's synthesis, and compare all variables
///
/// Both get the same statement, in one process, ours first and on one thread, so that times are processor time: what the
/// kernel counts for the thread, or elapsed time where it does not count. Upstream synthesizes the circuit without calling a
/// constraint closure; its variables are compared with ours as they come, where its provers would store them. Ours includes
/// everything from the decoded statement on; what is made once per circuit does not count. Peak memory is resident memory of
/// the process while ours was made (`VmHWM`, set back through `/proc/self/clear_refs`, else sampled), the decoded statement
/// included. A WindowPoSt circuit covers up to 2,349 sectors and repeats the last one; upstream synthesizes the repetitions.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk bench witness --circuit porep-32g --json\n  cuzk bench witness --circuit wpost-32g \
                  --sectors 100"
)]
pub(super) struct WitnessArgs {
    /// The circuit
    #[arg(long, value_name = "ID", value_parser = circuit)]
    circuit: CircuitId,
    /// Sectors of a WindowPoSt; other kinds have one
    #[arg(long, value_name = "N", value_parser = count::<NonZeroU32>, default_value = "1")]
    sectors: NonZeroU32,
    /// Runs of ours, of which the fastest counts
    #[arg(long, value_name = "N", value_parser = count::<NonZeroU32>, default_value = "3")]
    repeat: NonZeroU32,
}

#[derive(Debug, Serialize)]
struct WitnessResult {
    circuit: String,
    num_aux: u64,
    num_wide: u64,
    ours_core_s: f64,
    upstream_core_s: f64,
    ratio: f64,
    packed_bytes: u64,
    upstream_bytes: u64,
    peak_rss_bytes: Option<u64>,
    exact: bool,
}

pub(super) fn run(args: &WitnessArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Threads, Concern::Sealing, Concern::Synthesis])?;
    session.start_threads()?;
    let id = args.circuit;
    let num_sectors = args.sectors.get() as usize;
    check_sectors(id, num_sectors)?;
    let statement = decode(&synthetic_request(id, num_sectors, &session.output)?)?;
    let layout = WitnessLayout::new(id);
    let step = session.output.step(&format!("{id}: cuzk"));
    let one_thread = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .or_exit(ExitClass::Resource, || "starting a thread".to_owned())?;
    let ours = one_thread.install(|| Ours::measure(&statement, &layout, args.repeat))?;
    step.rename(&format!("{id}: upstream"));
    let upstream_core = one_thread.install(|| synthesize(&statement, &ours.witness))?;
    drop(step);
    let num_variables = layout.kinds().num_aux() + ours.witness.inputs().len();
    let result = WitnessResult {
        circuit: id.to_string(),
        num_aux: layout.kinds().num_aux() as u64,
        num_wide: layout.kinds().num_wide() as u64,
        ours_core_s: ours.core.as_secs_f64(),
        upstream_core_s: upstream_core.as_secs_f64(),
        ratio: ours.core.as_secs_f64() / upstream_core.as_secs_f64(),
        packed_bytes: ours.witness.num_bytes() as u64,
        upstream_bytes: (num_variables * size_of::<Fr>()) as u64,
        peak_rss_bytes: ours.peak_rss_bytes,
        exact: true,
    };
    session.output.result(&result, |page| result.write(page))
}

/// Our side.
struct Ours {
    witness: PackedWitness,
    core: Duration,
    peak_rss_bytes: Option<u64>,
}

impl Ours {
    /// The fastest of some runs, on this thread, which has the current pool for itself.
    fn measure(
        statement: &Statement,
        layout: &WitnessLayout,
        repeat: NonZeroU32,
    ) -> anyhow::Result<Self> {
        let mut best: Option<Self> = None;
        for _ in 0..repeat.get() {
            let meter = PeakMeter::start();
            let timer = ThreadTimer::start();
            let witness = statement.packed_witness(PARTITION, layout);
            let core = timer.finish();
            let peak_rss_bytes = meter.finish();
            let witness = witness.or_exit(ExitClass::Internal, || {
                format!("the witness of {}", statement.circuit_id())
            })?;
            let peak_rss_bytes = match &best {
                Some(best) => best.peak_rss_bytes.min(peak_rss_bytes),
                None => peak_rss_bytes,
            };
            match &mut best {
                Some(best) if best.core <= core => best.peak_rss_bytes = peak_rss_bytes,
                _ => {
                    best = Some(Self {
                        witness,
                        core,
                        peak_rss_bytes,
                    });
                }
            }
        }
        Ok(best.expect("at least one run was made"))
    }
}

/// Synthesizes whatever circuit it is shown, and compares its variables.
struct Compare<'a>(&'a PackedWitness);

impl CircuitVisitor for Compare<'_> {
    type Output = (Result<Option<WitnessDifference>, SynthesisError>, Duration);

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        let timer = ThreadTimer::start();
        let difference = self.0.first_difference(circuit);
        (difference, timer.finish())
    }
}

/// Upstream's side, on this thread, which has the current pool for itself.
fn synthesize(statement: &Statement, witness: &PackedWitness) -> anyhow::Result<Duration> {
    let id = statement.circuit_id();
    let (difference, core) = statement
        .with_circuit(PARTITION, Compare(witness))
        .or_exit(ExitClass::Internal, || format!("the circuit of {id}"))?;
    match difference.or_exit(ExitClass::Internal, || format!("synthesizing {id}"))? {
        None => Ok(core),
        Some(difference) => Err(classed(
            ExitClass::Internal,
            format!("the witness of {id}"),
            difference,
        )),
    }
}

impl WitnessResult {
    fn write(&self, page: &mut Page) {
        let time = |seconds: f64| units::time(Duration::from_secs_f64(seconds));
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        page.table(&[
            row(["", "processor time", "witness"]),
            row([
                "cuzk",
                &time(self.ours_core_s),
                &units::bytes(self.packed_bytes),
            ]),
            row([
                "upstream",
                &time(self.upstream_core_s),
                &units::bytes(self.upstream_bytes),
            ]),
        ]);
        page.line(&format!(
            "\n{}: {} variables, {} of them wide; {:.4} of upstream's time, peak memory {}; all variables are equal.",
            self.circuit,
            units::count(self.num_aux),
            units::count(self.num_wide),
            self.ratio,
            units::bytes_or_unknown(self.peak_rss_bytes)
        ));
    }
}
