//! `cuzk bench proof`: whole proofs on one device, with several partitions in flight, and nothing but the device between
//! witness and proof.

mod device;
mod free_memory;
mod pipeline;
mod report;

use std::{
    num::{NonZeroU32, NonZeroUsize},
    path::PathBuf,
    sync::Arc,
};

use clap::Args;
use cuzk_circuits::{CircuitId, Statement, WitnessLayout};
use cuzk_groth16::{Blinding, PreparedVerifyingKey, Proof, VerifyingKey, verify_batch};
use cuzk_server::process;

use self::device::{BenchDevice, KeySource};
use self::free_memory::FreeMemory;
use self::pipeline::Pipeline;
use self::report::{ProofResult, Used};
use crate::{
    bellperson_prover,
    cards::ephemeral_needs_a_card,
    circuits::load_or_compile,
    device_choice::{DeviceChoice, DeviceOptions},
    environment::Concern,
    exit::{ExitClass, OrExit as _, failure},
    inputs::{check_sectors, request_for, synthetic_request},
    keys::KeyStore,
    memory::PeakMeter,
    option_values::{bytes, circuit, count},
    output::Output,
    request_args::decode,
    session::Session,
    units,
    verification::public_inputs,
};

/// Partitions in flight, unless a device computes more of them together: one that is computed and one that is queued.
const DEFAULT_IN_FLIGHT: usize = 2;

/// Prove about a synthetic sector (a sealed one at 2 KiB), partition after partition, and verify every proof
///
/// The witness of the next partition is made while the device works on the ones in flight. The clock runs from the first
/// witness to the last proof; circuit, sector, key and one proof to warm up come before it. Device time is what the device
/// spent on the proofs, from its own clock where it has one; the busy share is device time over elapsed time. Every proof is
/// verified, by us and by bellperson, after the clock has stopped. Peak memory is resident memory while the clock ran. A card's
/// free memory is what its driver reports, read after every proof; that it shrinks is a warning.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk bench proof --circuit winning-2k\n  cuzk bench proof --circuit porep-32g --device cuda \
                  --ephemeral -n 3 -j 2 --json\n  cuzk bench proof --circuit porep-32g --device cuda --ephemeral \
                  --partitions 1"
)]
pub(super) struct ProofArgs {
    /// The circuit
    #[arg(long, value_name = "ID", value_parser = circuit)]
    circuit: CircuitId,
    /// What proves: `cpu`, `cuda`, or `cuda:N` for the card of number N
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceChoice,
    /// Proofs
    #[arg(short = 'n', long, value_name = "N", value_parser = count::<NonZeroUsize>, default_value = "1")]
    proofs: NonZeroUsize,
    /// Partitions that the device has at a time [default: 2, or as many as share a pass over a key that is streamed]
    #[arg(short = 'j', long, value_name = "N", value_parser = count::<NonZeroUsize>)]
    in_flight: Option<NonZeroUsize>,
    /// Only the first N partitions of each proof
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>)]
    partitions: Option<NonZeroUsize>,
    /// Sectors of a WindowPoSt; other kinds have one
    #[arg(long, value_name = "N", value_parser = count::<NonZeroU32>, default_value = "1")]
    sectors: NonZeroU32,
    /// Make a development key on the card for this run, and no file
    #[arg(long)]
    ephemeral: bool,
    /// Prove one partition on the processor, too, with the same blinding, and compare the bytes; needs the key's file
    #[arg(long, conflicts_with = "ephemeral")]
    same_as_cpu: bool,
    /// Bytes of the card's memory to stay within, such as 16GiB [default: what is free]
    #[arg(long, value_name = "BYTES", value_parser = bytes, allow_hyphen_values = true)]
    device_memory_limit: Option<u64>,
    /// The folder of keys and compiled circuits [default: the folder of development keys]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
}

impl ProofArgs {
    /// One partition at a time, `repeat` times; without keys, with one that is made on the card.
    pub(super) fn of_partition(
        (circuit, device): (CircuitId, DeviceChoice),
        repeat: NonZeroUsize,
        keys: Option<PathBuf>,
    ) -> Self {
        Self {
            circuit,
            device,
            proofs: repeat,
            in_flight: Some(NonZeroUsize::MIN),
            partitions: Some(NonZeroUsize::MIN),
            sectors: NonZeroU32::MIN,
            ephemeral: keys.is_none(),
            same_as_cpu: false,
            device_memory_limit: None,
            keys,
        }
    }

    /// Refuses what cannot be measured, before anything is done.
    fn check(&self) -> anyhow::Result<()> {
        if self.ephemeral && self.device == DeviceChoice::Cpu {
            return Err(ephemeral_needs_a_card());
        }
        check_sectors(self.circuit, self.sectors.get() as usize)?;
        let rule = self.circuit.info().partitions;
        let most = rule.num_partitions(self.sectors.get() as usize);
        match self.partitions {
            Some(asked) if asked.get() > most => Err(failure(
                ExitClass::Usage,
                format!(
                    "--partitions {asked}: a proof of {} has {}",
                    self.circuit,
                    units::counted(most as u64, "partition")
                ),
            )),
            _ => Ok(()),
        }
    }
}

pub(super) fn run(args: &ProofArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[
        Concern::Threads,
        Concern::Sealing,
        Concern::Synthesis,
        Concern::DevelopmentKeys,
        Concern::CacheFolder,
    ])?;
    args.check()?;
    let threads = session.start_threads()?;
    let output = &session.output;
    let id = args.circuit;
    let store = KeyStore::new(session.environment.development_keys(args.keys.as_deref())?);
    let options = DeviceOptions::new(args.device, threads);
    let device =
        BenchDevice::open(options.limited(args.device_memory_limit, "--device-memory-limit")?)?;
    let source = if args.ephemeral {
        KeySource::Ephemeral
    } else {
        KeySource::File(store.open(id)?)
    };
    let statement = statement(id, args.sectors, output)?;
    let circuit = load_or_compile(&store.folder().path, id, output)?;
    let layout = WitnessLayout::of_compiled(id, &circuit)
        .or_exit(ExitClass::Internal, || format!("the witness of {id}"))?;
    let loaded = device.load(id, circuit, &source, output)?;
    let pipeline = Pipeline {
        statement: &statement,
        layout: &layout,
        device: &device,
        circuit: &loaded,
        in_flight: args.in_flight.map_or_else(
            || device.proofs_per_pass(&loaded).max(DEFAULT_IN_FLIGHT),
            NonZeroUsize::get,
        ),
    };
    let result = measure(args, pipeline, output)?;
    if args.same_as_cpu {
        let _step = output.step(&format!("{id}: the same proof on the processor"));
        let cpu = BenchDevice::open(DeviceOptions::cpu(threads))?;
        let on_cpu = cpu.load(id, Arc::clone(loaded.circuit()), &source, output)?;
        let blinding = Blinding::random();
        let ours = pipeline.prove_one(blinding)?;
        let on_cpu = Pipeline {
            device: &cpu,
            circuit: &on_cpu,
            ..pipeline
        };
        expect_same(&ours, &on_cpu.prove_one(blinding)?)?;
    }
    output.result(&result, |page| result.write(page))
}

fn statement(id: CircuitId, sectors: NonZeroU32, output: &Output) -> anyhow::Result<Statement> {
    let request = match sectors.get() {
        1 => request_for(id, output)?,
        sectors => synthetic_request(id, sectors as usize, output)?,
    };
    decode(&request)
}

/// Proves what was asked for, with the clock running, and verifies it.
fn measure(
    args: &ProofArgs,
    pipeline: Pipeline<'_>,
    output: &Output,
) -> anyhow::Result<ProofResult> {
    let (id, statement) = (args.circuit, pipeline.statement);
    let all = statement.num_partitions();
    let num_partitions = args.partitions.map_or(all, NonZeroUsize::get);
    let step = output.step(&format!("{id}: warming up"));
    // What a pass needs is allocated by its first proofs.
    let num_warm = pipeline.device.proofs_per_pass(pipeline.circuit);
    pipeline.run(&vec![0; num_warm.min(pipeline.in_flight)])?;
    step.rename(&format!("{id}: {} proofs", args.proofs));
    let order: Vec<usize> = (0..args.proofs.get())
        .flat_map(|_| 0..num_partitions)
        .collect();
    let memory_before = pipeline.device.card_memory();
    let meter = PeakMeter::start();
    let cpu_before = process::cpu_time();
    let run = pipeline.run(&order)?;
    let cpu = process::cpu_time()
        .zip(cpu_before)
        .map(|(now, before)| now.saturating_sub(before));
    let peak_rss_bytes = meter.finish();
    let memory = memory_before.zip(pipeline.device.card_memory());
    let memory = memory.map(|(before, end)| {
        // A proof is finished with its last partition.
        let last = run.memory.iter().skip(num_partitions - 1);
        let after_each: Vec<_> = last.step_by(num_partitions).copied().collect();
        FreeMemory::new(before, &after_each, end)
    });
    for warning in memory.iter().flat_map(FreeMemory::warnings) {
        output.warning(&warning);
    }
    step.rename(&format!("{id}: verifying"));
    let key = pipeline.circuit.key().verifying_key();
    verify_all(statement, key, &order, &run.proofs)?;
    let what = (id, args, num_partitions);
    Ok(ProofResult::new(
        what,
        (pipeline.device, pipeline.in_flight),
        &run,
        Used {
            cpu,
            peak_rss_bytes,
            memory,
        },
    ))
}

/// Verifies the proof of each partition of `order`, by us and by bellperson.
fn verify_all(
    statement: &Statement,
    key: &VerifyingKey,
    order: &[usize],
    proofs: &[Proof],
) -> anyhow::Result<()> {
    let id = statement.circuit_id();
    let statements = order
        .iter()
        .zip(proofs)
        .map(|(&partition, proof)| Ok((public_inputs(statement, partition)?, *proof)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    verify_batch(&PreparedVerifyingKey::new(key), &statements)
        .or_exit(ExitClass::NotVerified, || format!("a proof of {id}"))?;
    if bellperson_prover::accepts(key, &statements)? {
        return Ok(());
    }
    Err(failure(
        ExitClass::NotVerified,
        format!("bellperson does not accept a proof of {id} that we accept"),
    ))
}

fn expect_same(ours: &Proof, on_cpu: &Proof) -> anyhow::Result<()> {
    if ours.to_bytes() == on_cpu.to_bytes() {
        return Ok(());
    }
    Err(failure(
        ExitClass::Internal,
        "with the same blinding, the processor's proof has other bytes",
    ))
}
