//! `cuzk key setup`: makes the development key of a circuit.

use std::path::PathBuf;

use clap::Args;
use cuzk_circuits::CircuitId;
use serde::Serialize;

use super::{Counts, ephemeral};
use crate::{
    development_keys::{Existing, KeyOrder, MadeKey, make_key, toxic_waste},
    device_choice::DeviceChoice,
    encoding::Hex32,
    environment::Concern,
    keys::KeyStore,
    memory::PeakMeter,
    option_values::circuit,
    output::Page,
    session::Session,
    units,
};

/// Make a key for development: whoever makes one can forge proofs with it
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk key setup --circuit winning-2k --keys ./keys\n  cuzk key setup \
                  --circuit porep-2k --keys ./keys --force --json\n  cuzk key setup --circuit \
                  porep-32g --keys ./keys --device cuda\n  cuzk key setup --circuit porep-32g --device \
                  cuda --ephemeral"
)]
pub(super) struct SetupArgs {
    /// The circuit, such as porep-2k, snap-2k, wpost-2k or winning-2k
    #[arg(long, value_name = "ID", value_parser = circuit)]
    circuit: CircuitId,
    /// The folder that receives the .params and the .vk file, and keeps the compiled circuit; made if it is missing
    /// [default with --ephemeral: the folder of development keys, for the circuit]
    #[arg(long, value_name = "DIR", required_unless_present = "ephemeral")]
    keys: Option<PathBuf>,
    /// 32 bytes that the secret exponents are derived from, so that the same key can be made
    /// again; without it they come from the operating system and are forgotten
    #[arg(long, value_name = "HEX")]
    toxic_waste_seed: Option<Hex32>,
    /// What computes the points: cpu, cuda, or cuda:N for the NVIDIA card of number N
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceChoice,
    /// Keep the key on the card, check all its points and forget it: where the disk has no room,
    /// this tells what it takes
    #[arg(long, conflicts_with = "force")]
    ephemeral: bool,
    /// Replace files that are there already
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Serialize)]
struct SetupResult {
    circuit: String,
    development_only: bool,
    params: PathBuf,
    params_bytes: u64,
    params_digest: String,
    vk: PathBuf,
    vk_bytes: u64,
    vk_digest: String,
    counts: Counts,
    circuit_s: f64,
    generate_s: f64,
    total_s: f64,
    peak_rss_bytes: Option<u64>,
}

pub(super) fn run(args: &SetupArgs, session: &Session) -> anyhow::Result<()> {
    let mut concerns = vec![Concern::Threads];
    if args.keys.is_none() {
        concerns.extend([Concern::DevelopmentKeys, Concern::CacheFolder]);
    }
    session.announce(&concerns)?;
    session.start_threads()?;
    let waste = toxic_waste(args.toxic_waste_seed)?;
    if args.toxic_waste_seed.is_some() {
        session.output.warning(
            "the secret exponents come from a seed on the command line: whoever knows the seed \
             can forge proofs",
        );
    }
    let folder = session.environment.development_keys(args.keys.as_deref())?;
    if args.ephemeral {
        return ephemeral::run(args.circuit, args.device, &folder, &waste, session);
    }
    let store = KeyStore::new(folder);
    let order = KeyOrder {
        store: &store,
        circuit: args.circuit,
        existing: if args.force {
            Existing::Replace
        } else {
            Existing::Keep
        },
        device: args.device,
    };
    let meter = PeakMeter::start();
    let made = make_key(&order, &waste, &session.output)?;
    let result = SetupResult::new(args.circuit, made, meter.finish());
    session.output.result(&result, |page| result.write(page))
}

impl SetupResult {
    fn new(id: CircuitId, made: MadeKey, peak_rss_bytes: Option<u64>) -> Self {
        let summary = made.summary;
        Self {
            circuit: id.to_string(),
            development_only: true,
            params: made.params,
            params_bytes: summary.params_bytes,
            params_digest: summary.params_digest.to_string(),
            vk: made.verifying_key,
            vk_bytes: summary.verifying_key_bytes,
            vk_digest: summary.verifying_key_digest.to_string(),
            counts: summary.counts.into(),
            circuit_s: made.circuit_time.as_secs_f64(),
            generate_s: made.generate_time.as_secs_f64(),
            total_s: (made.circuit_time + made.generate_time).as_secs_f64(),
            peak_rss_bytes,
        }
    }

    fn write(&self, page: &mut Page) {
        let file = |path: &PathBuf, bytes: u64, digest: &str| {
            format!(
                "{} ({}, digest {digest})",
                path.display(),
                units::bytes(bytes)
            )
        };
        page.fields(&[
            ("circuit", self.circuit.clone()),
            (
                "proving key",
                file(&self.params, self.params_bytes, &self.params_digest),
            ),
            (
                "verifying key",
                file(&self.vk, self.vk_bytes, &self.vk_digest),
            ),
            ("points", self.counts.text()),
            (
                "made in",
                format!(
                    "{:.1} s ({:.1} s for the circuit), peak memory {}",
                    self.total_s,
                    self.circuit_s,
                    units::bytes_or_unknown(self.peak_rss_bytes)
                ),
            ),
        ]);
    }
}
