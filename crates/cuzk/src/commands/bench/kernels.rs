//! `cuzk bench kernels`: the operations of a card beside its ceilings.

use std::path::PathBuf;

use clap::Args;
use cuzk_cuda::{BenchPlan, DeviceInfo, KernelTable, RateLine, TimeLine};
use serde::Serialize;

use super::peer::{PeerTime, run_peer};
use crate::{
    cards::{CardNumber, kernel_table},
    output::Page,
    session::Session,
};

/// Measure the operations of an NVIDIA card beside what it can do at most
///
/// The ceilings are measured in the same run. The floor of an operation is its field multiplications at the rate of a card
/// that does nothing else.
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
    #[arg(long, value_name = "N", default_value = "20")]
    smallest: u32,
    /// Leave out operations on more than 2^N elements
    #[arg(long, value_name = "N", default_value = "27")]
    largest: u32,
    /// Multiply with digits of one bit less and one bit more, too: what the tuning table is chosen by
    #[arg(long)]
    sweep: bool,
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
    #[serde(flatten)]
    table: KernelTable,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    peer: Vec<PeerTime>,
}

pub(super) fn run(args: &KernelsArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[])?;
    let plan = BenchPlan {
        smallest: args.smallest,
        largest: args.largest,
        sweep: args.sweep,
    };
    let step = session.output.step("measuring the card");
    let (info, table) = kernel_table(args.device.0, plan, &|operation| step.rename(operation))?;
    let mut peer = Vec::new();
    for program in &args.peer {
        step.rename(&program.display().to_string());
        peer.extend(run_peer(program, args.device.0, plan, &table)?);
    }
    drop(step);
    let result = KernelsResult::new(info, table, peer);
    session.output.result(&result, |page| result.write(page))
}

impl KernelsResult {
    fn new(info: DeviceInfo, table: KernelTable, peer: Vec<PeerTime>) -> Self {
        Self {
            scenario: "kernels",
            kernels: info.code().map(|code| code.to_string()),
            device: info.name,
            uuid: info.uuid,
            driver_version: info.driver_version,
            table,
            peer,
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
