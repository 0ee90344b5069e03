//! `cuzk bench load`: many proofs at the same time, through an engine in this process or a daemon.

mod back_to_back;
mod gaps;
mod keys;
mod mix;
mod observed;
mod record;
mod report;
mod target;
mod traffic;

use std::{collections::BTreeMap, num::NonZeroUsize, path::PathBuf, sync::Arc};

use clap::Args;
use cuzk_circuits::{CircuitId, ProofRequest};
use cuzk_engine::{Engine, EngineSettings};
use cuzk_groth16::{PreparedVerifyingKey, ProverDevice};
use cuzk_server::listen::Address;

use self::{
    back_to_back::{BackToBack, Spent},
    gaps::Gaps,
    keys::OpenKeys,
    mix::Mix,
    record::Record,
    report::{LoadResult, Measured},
    target::Target,
    traffic::{Answer, Answered, Traffic},
};
use crate::{
    client::{CredentialArgs, DaemonArgs},
    config::{Layers, Settings, engine_settings},
    development_keys::make_missing_key,
    device_choice::{DeviceChoice, DeviceOptions},
    environment::Concern,
    exit::{ExitClass, OrExit as _, failure},
    inputs::request_for,
    keys::KeyStore,
    local::{start_device, start_engine, start_runtime, unless_lost},
    memory::PeakMeter,
    option_values::{bytes, circuit, count, key_and_value},
    request_args::decode,
    result_file::ResultFile,
    session::Session,
    verification::verify_statement,
};

/// Ask for many proofs, so many at a time, and measure latency, throughput, memory and idle devices
///
/// In this process the same proofs are also made back to back, without an engine, on the same device with the same key: half
/// of them before the load and half after it, so that a machine that grows slower or faster does so for both. Each circuit is
/// proved once beforehand, unmeasured. Every answer is verified once more when the load is over. A daemon is compared with
/// nothing unless --keys names keys that this process can prove and verify with, on the same machine.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk bench load -c 8 -j 4 --circuit winning-2k --json\n  cuzk bench load -c 18 -j 9 \
                  --mix porep=8,winning=1 --out record.json\n  cuzk bench load -c 20 -j 15 --circuit porep-2k --addr \
                  127.0.0.1:9820"
)]
pub(super) struct LoadArgs {
    /// Proofs to ask for [default: as many as the weights of --mix add up to]
    #[arg(long, short, value_name = "N", value_parser = count::<NonZeroUsize>)]
    count: Option<NonZeroUsize>,
    /// Proofs that are asked for at the same time
    #[arg(long, short, value_name = "N", value_parser = count::<NonZeroUsize>, default_value = "1")]
    jobs: NonZeroUsize,
    /// The circuit of all proofs; at 2 KiB about sealed sectors, at other sizes about synthetic ones
    #[arg(
        long,
        value_name = "ID",
        value_parser = circuit,
        required_unless_present = "mix",
        conflicts_with = "mix"
    )]
    circuit: Option<CircuitId>,
    /// Kinds at 2 KiB or circuits, with weights, such as porep=8,winning=1; each is spread evenly
    #[arg(long, value_name = "MIX")]
    mix: Option<Mix>,
    /// The folder of keys [default: the folder of development keys, where a missing key is made; none with --addr]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// What proves: `cpu`, `cuda`, or `cuda:N` for the card of number N
    #[arg(
        long,
        value_name = "DEVICE",
        default_value = "cpu",
        conflicts_with = "addr"
    )]
    device: DeviceChoice,
    /// Bytes of the card's memory to stay within, such as 16GiB [default: what is free]
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = bytes,
        allow_hyphen_values = true,
        conflicts_with = "addr"
    )]
    device_memory_limit: Option<u64>,
    /// A setting of the section engine; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value, conflicts_with = "addr")]
    set: Vec<(String, String)>,
    /// Write a record of the run to this file: result, settings, every latency, memory over time, every step
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Load the daemon at HOST:PORT or unix:PATH
    #[arg(long, value_name = "ADDR", help_heading = "Daemon")]
    addr: Option<Address>,
    #[command(flatten)]
    credentials: CredentialArgs,
}

pub(super) fn run(args: &LoadArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&concerns(args))?;
    let threads = session.start_threads()?;
    let mix = match (&args.mix, args.circuit) {
        (Some(mix), _) => mix.clone(),
        (None, Some(id)) => Mix::only(id),
        (None, None) => return Err(failure(ExitClass::Usage, "neither --circuit nor --mix")),
    };
    let settings = args.settings()?;
    let out = args.out.as_deref().map(ResultFile::prepare).transpose()?;
    let options = DeviceOptions::new(args.device, threads);
    // Who proves must be there before keys and sectors are made.
    let device = start_device(options.limited(args.device_memory_limit, "--device-memory-limit")?)?;
    if args.addr.is_some() {
        start_runtime()?.block_on(async { args.daemon(session).await?.observe().await })?;
    }
    let keys = open_keys(args, &mix, session)?;
    let bench = Bench {
        args,
        session,
        traffic: Arc::new(traffic(args, &mix, session)?),
        device,
        keys,
    };
    let measured = match &args.addr {
        Some(_) => bench.load_daemon()?,
        None => bench.load_engine(settings.clone())?,
    };
    let result = LoadResult::new(&measured);
    if let Some(file) = &out {
        let record = Record {
            mix: mix.to_string(),
            settings: args.addr.is_none().then_some(&settings),
            threads,
            device: bench.device.describe(),
            result: &result,
            measured: &measured,
        };
        record.write(file)?;
    }
    session.output.result(&result, |page| result.write(page))?;
    if result.failed == 0 {
        return Ok(());
    }
    Err(failure(
        ExitClass::Internal,
        format!("{} of {} proofs failed", result.failed, result.proofs),
    ))
}

fn concerns(args: &LoadArgs) -> Vec<Concern> {
    let mut concerns = vec![Concern::Threads, Concern::Sealing, Concern::Synthesis];
    if args.addr.is_some() {
        concerns.push(Concern::Client);
    } else if args.keys.is_none() {
        concerns.extend([Concern::DevelopmentKeys, Concern::CacheFolder]);
    }
    concerns
}

impl LoadArgs {
    /// The engine's settings; others have no effect here and are refused.
    fn settings(&self) -> anyhow::Result<EngineSettings> {
        let other = |(key, _): &&(String, String)| !key.starts_with("engine.");
        if let Some((key, value)) = self.set.iter().find(other) {
            let instead = match key.as_str() {
                "device.kind" => "; --device chooses the device",
                "device.memory_limit" => "; --device-memory-limit limits its memory",
                "device.threads" => "; --threads chooses the threads",
                _ => "",
            };
            let words = format!(
                "--set {key}={value}: only settings of the section engine count here{instead}"
            );
            return Err(failure(ExitClass::Usage, words));
        }
        let options = self.set.iter();
        engine_settings(&Settings::load(&Layers {
            options: options
                .map(|(key, value)| ("--set", key.clone(), value.clone()))
                .collect(),
            ..Layers::default()
        })?)
    }

    /// The daemon that is loaded.
    ///
    /// # Errors
    /// Daemon, when it does not answer; usage, when a file of a certificate or token cannot be read.
    async fn daemon(&self, session: &Session) -> anyhow::Result<Target> {
        let daemon = DaemonArgs {
            addr: self.addr.clone(),
            credentials: self.credentials.clone(),
        };
        daemon.connect(session).await.map(Target::Daemon)
    }
}

/// The keys that this process proves or verifies with; `None` where only a daemon has any.
fn open_keys(args: &LoadArgs, mix: &Mix, session: &Session) -> anyhow::Result<Option<OpenKeys>> {
    if args.addr.is_some() && args.keys.is_none() {
        return Ok(None);
    }
    let store = KeyStore::new(session.environment.development_keys(args.keys.as_deref())?);
    if args.keys.is_none() {
        for id in mix.circuits() {
            make_missing_key(&store, id, &session.output)?;
        }
    }
    OpenKeys::open(store, mix.circuits()).map(Some)
}

fn traffic(args: &LoadArgs, mix: &Mix, session: &Session) -> anyhow::Result<Traffic> {
    let requests = mix
        .circuits()
        .map(|id| anyhow::Ok((id, request_for(id, &session.output)?)));
    let count = args.count.map_or_else(|| mix.total(), NonZeroUsize::get);
    Ok(Traffic {
        schedule: mix.schedule(count),
        requests: requests.collect::<anyhow::Result<_>>()?,
        num_jobs: args.jobs.get().min(count),
    })
}

/// One run.
struct Bench<'a> {
    args: &'a LoadArgs,
    session: &'a Session,
    traffic: Arc<Traffic>,
    device: Arc<dyn ProverDevice>,
    keys: Option<OpenKeys>,
}

/// What a target did under the load.
struct Loaded {
    answered: Answered,
    before: observed::Observed,
    after: observed::Observed,
}

impl Bench<'_> {
    fn load_engine(&self, settings: EngineSettings) -> anyhow::Result<Measured> {
        let keys = self.keys.clone();
        let keys = keys.ok_or_else(|| failure(ExitClass::Key, "no keys were opened"))?;
        let (first, second) = self.halves();
        let before = self.back_to_back(&keys, first, true)?;
        let runtime = start_runtime()?;
        let (loaded, engine, peak_rss_bytes) = runtime.block_on(async {
            let output = &self.session.output;
            let folder = keys.folder().to_owned();
            let engine = start_engine(
                settings,
                &self.device,
                Arc::new(keys.clone()),
                &folder,
                output,
            )?;
            preload(&engine, &self.traffic.requests).await?;
            let meter = PeakMeter::start();
            let target = Target::Engine(engine.clone());
            let loaded = unless_lost(&engine, self.load(&target)).await?;
            anyhow::Ok((loaded, engine, meter.finish()))
        })?;
        let steps = engine.timeline();
        let devices = 0..engine.snapshot().devices.len();
        drop(engine);
        drop(runtime);
        let after = self.back_to_back(&keys, second, false)?;
        Ok(Measured {
            gaps: devices.map(|device| Gaps::of(&steps, device)).collect(),
            steps,
            peak_rss_bytes,
            back_to_back: Some(before + after),
            ..self.measured(loaded)?
        })
    }

    fn load_daemon(&self) -> anyhow::Result<Measured> {
        let (first, second) = self.halves();
        let compare = |schedule, warm_up| match &self.keys {
            Some(keys) => self.back_to_back(keys, schedule, warm_up).map(Some),
            None => Ok(None),
        };
        let before = compare(first, true)?;
        let loaded = start_runtime()?.block_on(async {
            let daemon = self.args.daemon(self.session).await?;
            self.load(&daemon).await
        })?;
        let after = compare(second, false)?;
        Ok(Measured {
            back_to_back: before.zip(after).map(|(before, after)| before + after),
            ..self.measured(loaded)?
        })
    }

    async fn load(&self, target: &Target) -> anyhow::Result<Loaded> {
        let step = self
            .session
            .output
            .bar("load", self.traffic.schedule.len() as u64);
        let before = target.observe().await?;
        let answered = Arc::clone(&self.traffic).run(target, step).await?;
        target.idle().await;
        let after = target.observe().await?;
        Ok(Loaded {
            answered,
            before,
            after,
        })
    }

    /// The proofs that are made back to back before and after the load.
    fn halves(&self) -> (&[CircuitId], &[CircuitId]) {
        let schedule = &self.traffic.schedule;
        schedule.split_at(schedule.len().div_ceil(2))
    }

    fn back_to_back(
        &self,
        keys: &OpenKeys,
        schedule: &[CircuitId],
        warm_up: bool,
    ) -> anyhow::Result<Spent> {
        let back_to_back = BackToBack {
            device: &self.device,
            keys,
            requests: &self.traffic.requests,
            output: &self.session.output,
        };
        back_to_back.run(schedule, warm_up)
    }

    /// What was measured, with the answers verified.
    fn measured(&self, loaded: Loaded) -> anyhow::Result<Measured> {
        let mut answered = loaded.answered;
        if let Some(keys) = &self.keys {
            verify(&mut answered.answers, keys, &self.traffic.requests)?;
        }
        Ok(Measured {
            answered,
            peak_rss_bytes: loaded.after.peak_resident_bytes,
            before: loaded.before,
            after: loaded.after,
            gaps: Vec::new(),
            steps: Vec::new(),
            back_to_back: None,
            num_jobs: self.traffic.num_jobs,
        })
    }
}

/// Makes the circuits resident: what is loaded once is no part of what many proofs cost.
async fn preload(
    engine: &Engine,
    requests: &BTreeMap<CircuitId, ProofRequest>,
) -> anyhow::Result<()> {
    for &id in requests.keys() {
        let loaded = engine.preload(id).await;
        loaded.or_exit(ExitClass::Key, || format!("loading {id}"))?;
    }
    Ok(())
}

/// Verifies every proof; one that proves nothing becomes a failure.
fn verify(
    answers: &mut [Answer],
    keys: &OpenKeys,
    requests: &BTreeMap<CircuitId, ProofRequest>,
) -> anyhow::Result<()> {
    for (&id, request) in requests {
        let statement = decode(request)?;
        let key = PreparedVerifyingKey::new(keys.key(id)?.verifying_key());
        for answer in answers.iter_mut().filter(|answer| answer.circuit == id) {
            let Ok(proof) = &answer.proof else { continue };
            if let Err(error) = verify_statement(&statement, &key, proof) {
                answer.proof = Err(format!("{error:#}"));
            }
        }
    }
    Ok(())
}
