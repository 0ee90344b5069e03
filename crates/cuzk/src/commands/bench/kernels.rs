//! `cuzk bench kernels`: the operations of a card beside its ceilings.

use std::{ops::RangeInclusive, path::PathBuf, sync::Arc};

use clap::Args;
use cuzk_circuits::{CircuitId, WitnessLayout};
use cuzk_cuda::{BenchPlan, CopyLine, DeviceInfo, KernelTable, RateLine, TimeLine};
use cuzk_r1cs::{CompiledCircuit, PackedWitness};
use serde::Serialize;

use super::COMMIT;
use super::peer::{PeerTime, find_peer, run_peer};
use crate::{
    cards::{CardNumber, MeasuredCard},
    circuits::load_or_compile,
    environment::Concern,
    exit::{ExitClass, OrExit as _, failure},
    inputs::synthetic_request,
    option_values::circuit,
    output::Page,
    request_args::decode,
    session::Session,
};

/// Logarithms of the sizes that are measured.
const MEASURED: RangeInclusive<u32> = 20..=27;

/// Measure the operations of an NVIDIA card beside what it can do at most
///
/// The ceilings are measured in the same run. The floor of an operation is its field multiplications at the rate of a card
/// that does nothing else. Row values are those of one partition about a synthetic sector; what they write is compared with what a
/// copy on the card writes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk bench kernels\n  cuzk bench kernels --largest 24 --json\n  cuzk bench \
                  kernels --peer ./sppark_g1 --peer ./sppark_g2 --json"
)]
pub(super) struct KernelsArgs {
    /// The card: cuda, or cuda:N for the card of number N
    #[arg(long, value_name = "DEVICE", default_value = "cuda")]
    device: CardNumber,
    /// Leave out operations on fewer than 2^N elements
    #[arg(long, value_name = "N", default_value_t = *MEASURED.start(), value_parser = log_size)]
    smallest: u32,
    /// Leave out operations on more than 2^N elements
    #[arg(long, value_name = "N", default_value_t = *MEASURED.end(), value_parser = log_size)]
    largest: u32,
    /// Multiply with digits of one bit less and one bit more, too: what the tuning table is chosen by
    #[arg(long)]
    sweep: bool,
    /// The circuit whose rows are evaluated
    #[arg(long, value_name = "ID", default_value = "snap-2k", value_parser = circuit)]
    circuit: CircuitId,
    /// The folder of compiled circuits, where this one is kept [default: the folder of development keys]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// A program that measures another library on the same card, such as those that `cargo xtask gpu --peer` builds;
    /// may be given several times
    #[arg(long, value_name = "PROGRAM")]
    peer: Vec<PathBuf>,
}

#[derive(Debug, Serialize)]
struct KernelsResult {
    scenario: &'static str,
    device: String,
    uuid: String,
    driver_version: i32,
    kernels: Option<String>,
    /// Whose rows were evaluated.
    circuit: String,
    #[serde(flatten)]
    table: KernelTable,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    peer: Vec<PeerTime>,
    commit: Option<&'static str>,
}

pub(super) fn run(args: &KernelsArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[
        Concern::Threads,
        Concern::Synthesis,
        Concern::DevelopmentKeys,
        Concern::CacheFolder,
    ])?;
    let plan = args.plan()?;
    let card = MeasuredCard::open(args.device.0)?;
    session.start_threads()?;
    let (circuit, witness) = evaluated(args, session)?;
    let step = session.output.step("measuring the card");
    let rows = (circuit.as_ref(), &witness);
    let table = card.kernel_table(plan, rows, &|operation| step.rename(operation))?;
    if !table.evaluation.satisfied {
        return Err(failure(
            ExitClass::Internal,
            format!(
                "the card finds a row of {} that does not hold",
                args.circuit
            ),
        ));
    }
    let mut peer = Vec::new();
    for program in &args.peer {
        step.rename(&program.display().to_string());
        peer.extend(run_peer(program, args.device.0, plan, &table.times)?);
    }
    drop(step);
    let result = KernelsResult::new(card.info(), args.circuit, table, peer);
    session.output.result(&result, |page| result.write(page))
}

fn log_size(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|log_size| MEASURED.contains(log_size))
        .ok_or_else(|| {
            let (least, most) = MEASURED.into_inner();
            format!("expected a whole number from {least} to {most}, found {text:?}")
        })
}

impl KernelsArgs {
    /// What is measured, if the sizes and the other programs are there.
    ///
    /// # Errors
    /// Usage, when no size is left; resource, when a program is no file.
    fn plan(&self) -> anyhow::Result<BenchPlan> {
        let (smallest, largest) = (self.smallest, self.largest);
        if smallest > largest {
            let words = format!("--smallest {smallest} is more than --largest {largest}");
            return Err(failure(ExitClass::Usage, words));
        }
        self.peer
            .iter()
            .try_for_each(|program| find_peer(program))?;
        Ok(BenchPlan {
            smallest,
            largest,
            sweep: self.sweep,
        })
    }
}

/// The circuit whose rows are evaluated, and values that satisfy it.
fn evaluated(
    args: &KernelsArgs,
    session: &Session,
) -> anyhow::Result<(Arc<CompiledCircuit>, PackedWitness)> {
    let (id, output) = (args.circuit, &session.output);
    let folder = session.environment.development_keys(args.keys.as_deref())?;
    let circuit = load_or_compile(&folder.path, id, output)?;
    let internal = || format!("the witness of {id}");
    let layout = WitnessLayout::of_compiled(id, &circuit).or_exit(ExitClass::Internal, internal)?;
    let statement = decode(&synthetic_request(id, 1, output)?)?;
    let _step = output.step(&internal());
    let witness = statement
        .packed_witness(0, &layout)
        .or_exit(ExitClass::Internal, internal)?;
    Ok((circuit, witness))
}

impl KernelsResult {
    fn new(info: &DeviceInfo, circuit: CircuitId, table: KernelTable, peer: Vec<PeerTime>) -> Self {
        Self {
            scenario: "kernels",
            kernels: info.code().map(|code| code.to_string()),
            device: info.name.clone(),
            uuid: info.uuid.clone(),
            driver_version: info.driver_version,
            circuit: circuit.to_string(),
            table,
            peer,
            commit: COMMIT,
        }
    }

    fn write(&self, page: &mut Page) {
        let kernels = self.kernels.as_deref().unwrap_or("no kernels");
        page.line(&format!("{} ({kernels})", self.device));
        page.line("");
        let heading = ["rate", "G/s", "bound", "ratio"]
            .map(str::to_owned)
            .to_vec();
        let rates = self.table.rates.iter().map(rate_row);
        page.table(&std::iter::once(heading).chain(rates).collect::<Vec<_>>());
        page.line("");
        page.table(&self.copy_rows());
        page.line("");
        let rows = &self.table.evaluation;
        page.line(&format!(
            "rows of {}: {:.2} G/s in {:.2} ms; {:.1} GB/s written, {:.2} of what a copy on the device writes",
            self.circuit,
            rows.rows_per_second / 1e9,
            rows.ms,
            rows.bytes_written_per_second / 1e9,
            rows.ratio_to_device_copy
        ));
        page.line("");
        let heading = [
            "operation",
            "ms",
            "floor",
            "ratio",
            "peer ms",
            "ours / peer",
        ];
        let times = self.table.times.iter().map(|time| self.time_row(time));
        let heading = heading.map(str::to_owned).to_vec();
        page.table(&std::iter::once(heading).chain(times).collect::<Vec<_>>());
    }

    /// A row for each copy, and a column for each that it is compared with.
    fn copy_rows(&self) -> Vec<Vec<String>> {
        let copies = &self.table.copies;
        let mut heading = vec!["copy".to_owned(), "GB/s".to_owned()];
        heading.extend(copies.iter().map(|other| format!("/ {}", other.copy)));
        let row = |line: &CopyLine| {
            let mut row = vec![
                line.copy.to_owned(),
                format!("{:.1}", line.bytes_per_second / 1e9),
            ];
            row.extend(copies.iter().map(|other| {
                let ratio = line.ratio_to.get(other.copy);
                ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}"))
            }));
            row
        };
        std::iter::once(heading)
            .chain(copies.iter().map(row))
            .collect()
    }

    fn time_row(&self, time: &TimeLine) -> Vec<String> {
        let width = time
            .width
            .map_or_else(String::new, |bits| format!(", {bits} bits"));
        let peer = self
            .peer
            .iter()
            .find(|peer| peer.operation == time.operation && peer.log_size == time.log_size);
        let of_peer = |number: &dyn Fn(&PeerTime) -> String| peer.map_or_else(String::new, number);
        vec![
            format!("{} 2^{}{width}", time.operation, time.log_size),
            format!("{:.2}", time.ms),
            format!("{:.2}", time.floor_ms),
            format!("{:.2}", time.ratio),
            of_peer(&|peer| format!("{:.2}", peer.ms)),
            of_peer(&|peer| format!("{:.2}", time.ms / peer.ms)),
        ]
    }
}

fn rate_row(rate: &RateLine) -> Vec<String> {
    let giga = |value: f64| format!("{:.1}", value / 1e9);
    vec![
        rate.rate.to_owned(),
        giga(rate.per_second),
        rate.bound_per_second.map_or_else(String::new, giga),
        rate.ratio
            .map_or_else(String::new, |ratio| format!("{ratio:.2}")),
    ]
}
