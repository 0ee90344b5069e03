//! `cuzk demo`: everything in one run. Seals real sectors, makes development keys (or reuses them),
//! starts a daemon, lets it prove one proof of each kind over gRPC, verifies what comes back, and prints what each took.

mod explanation;
mod witness_only;

use std::{
    num::NonZeroUsize,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Args;
use cuzk_circuits::{CircuitId, Family, SectorSize};
use serde::Serialize;

use super::{family_parser, size_parser};
use crate::{
    daemon::InProcessDaemon,
    development_keys::make_missing_key,
    environment::Concern,
    exit::{ExitClass, failure},
    inputs::SectorSource,
    keys::KeyStore,
    memory::PeakMeter,
    output::Page,
    request_args::decode,
    saved::SavedRequest,
    session::Session,
    units,
    verification::verify_statement,
};

/// Prove and verify all four kinds about small sectors, and print what each took and what it means
///
/// Sectors of 2 KiB are sealed for real. Larger ones are synthetic: nobody seals them, only what a proof looks at is computed,
/// and the circuits are those of real sectors. Keys for development are made in the first run and reused afterwards: 1.7 GiB
/// at 2 KiB and 7 GiB at 8 MiB, below the user's cache folder, never in the folder of production keys unless --keys names it.
/// At 32 GiB keys are tens of GiB; --witness-only shows the half of the work that needs none.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk demo\n  cuzk demo --kind winning --kind wpost --json\n  \
                        cuzk demo --kind winning --save ./winning\n  cuzk demo --size 8MiB\n  \
                        cuzk demo --size 32GiB --witness-only"
)]
pub(crate) struct DemoArgs {
    /// Only this kind; may be repeated [default: all four]
    #[arg(long, value_name = "KIND", value_parser = family_parser())]
    kind: Vec<Family>,
    /// Size of the sectors
    #[arg(long, value_name = "SIZE", default_value = "2KiB", value_parser = size_parser())]
    size: SectorSize,
    /// Make the witnesses of all partitions and prove nothing: no key, seconds, at any size
    #[arg(long, conflicts_with_all = ["keys", "save"])]
    witness_only: bool,
    /// The folder of development keys [default: `CUZK_DEVELOPMENT_KEYS`, else below the cache
    /// folder]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// Write requests, public data and proofs to this folder, and print the commands that use them; at 2 KiB
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct DemoResult {
    size: &'static str,
    threads: NonZeroUsize,
    keys: PathBuf,
    kinds: Vec<KindResult>,
    total_s: f64,
    peak_rss_bytes: Option<u64>,
    commands: Vec<String>,
}

#[derive(Debug, Serialize)]
struct KindResult {
    kind: &'static str,
    circuit: String,
    /// `None` where the circuit was never counted.
    constraints: Option<u64>,
    partitions: u64,
    /// Seconds to make the key; `None` when it was there.
    setup_s: Option<f64>,
    witness_s: f64,
    evaluate_s: f64,
    prove_s: f64,
    verify_s: f64,
    peak_rss_bytes: Option<u64>,
    proof_bytes: u64,
    verified: bool,
}

pub(crate) fn run(args: &DemoArgs, session: &Session) -> anyhow::Result<()> {
    if args.witness_only {
        return witness_only::run(&args.kind, args.size, session);
    }
    expect_provable(args)?;
    session.announce(&[
        Concern::Threads,
        Concern::DevelopmentKeys,
        Concern::CacheFolder,
        Concern::Sealing,
        Concern::Synthesis,
    ])?;
    let start = Instant::now();
    let threads = session.start_threads()?;
    let store = KeyStore::new(session.environment.development_keys(args.keys.as_deref())?);
    session
        .output
        .message(&format!("development keys: {}", store.folder()));
    let sectors = SectorSource::new(args.size, &session.output)?;
    let mut daemon = InProcessDaemon::start(threads, store.clone(), &session.output)?;
    let mut kinds = Vec::new();
    let mut commands = Vec::new();
    for family in smallest_first(&args.kind) {
        let demo = KindDemo {
            id: CircuitId::new(family, args.size),
            store: &store,
            sectors: &sectors,
            session,
        };
        let (kind, saved) = demo.run(&mut daemon, args.save.as_deref())?;
        if let Some(saved) = saved {
            commands.extend(saved.commands(&store.folder().path));
        }
        kinds.push(kind);
    }
    daemon.stop()?;
    let result = DemoResult {
        size: args.size.label(),
        threads,
        keys: store.folder().path.clone(),
        total_s: start.elapsed().as_secs_f64(),
        peak_rss_bytes: kinds.iter().filter_map(|kind| kind.peak_rss_bytes).max(),
        kinds,
        commands,
    };
    session.output.result(&result, |page| result.write(page))
}

/// The largest sectors whose keys are made in a minute or two.
const LARGEST_PROVABLE: SectorSize = SectorSize::Mib8;

fn expect_provable(args: &DemoArgs) -> anyhow::Result<()> {
    let size = args.size.label();
    let refusal = if args.size > LARGEST_PROVABLE {
        format!(
            "no keys are made here for sectors of {size}, those of 32GiB would be tens of GiB: --witness-only shows the work \
             up to there, and cuzk prove takes the keys of the public ceremony"
        )
    } else if args.size != SectorSize::Kib2 && args.save.is_some() {
        format!(
            "--save is for sealed sectors of 2KiB; cuzk sector synth --size {size} writes requests about synthetic ones"
        )
    } else {
        return Ok(());
    };
    Err(failure(ExitClass::Usage, refusal))
}

/// The kinds asked for, all four if none was named, by size of their circuits: what a large one
/// leaves in the heap would otherwise count in the peak of the next.
fn smallest_first(asked: &[Family]) -> Vec<Family> {
    let mut families: Vec<Family> = Family::ALL
        .into_iter()
        .filter(|family| asked.is_empty() || asked.contains(family))
        .collect();
    families.sort_by_key(|&family| {
        let info = CircuitId::new(family, SectorSize::Kib2).info();
        info.num_constraints
    });
    families
}

/// One kind of the demonstration; what it allocates, here and in the daemon, is given back when it returns.
struct KindDemo<'a> {
    id: CircuitId,
    store: &'a KeyStore,
    sectors: &'a SectorSource,
    session: &'a Session,
}

impl KindDemo<'_> {
    fn run(
        &self,
        daemon: &mut InProcessDaemon,
        save: Option<&std::path::Path>,
    ) -> anyhow::Result<(KindResult, Option<SavedRequest>)> {
        let id = self.id;
        let meter = PeakMeter::start();
        let output = &self.session.output;
        let setup = make_missing_key(self.store, id, output)?;
        let (request, public) = self.sectors.request(id.family, output)?;
        let statement = decode(&request)?;
        let proved = daemon.prove(request.clone())?;
        let (proof, timings) = (&proved.answer.proof, proved.timings);
        verify_statement(&statement, &self.store.verifying_key(id)?, proof)?;
        daemon.evict(id)?;
        let result = KindResult {
            kind: id.family.prefix(),
            circuit: id.to_string(),
            constraints: id.info().num_constraints.map(|count| count as u64),
            partitions: statement.num_partitions() as u64,
            setup_s: setup.map(|made| (made.circuit_time + made.generate_time).as_secs_f64()),
            witness_s: timings.witness.as_secs_f64(),
            evaluate_s: timings.evaluate.as_secs_f64(),
            prove_s: timings.proving().as_secs_f64(),
            verify_s: timings.verify.as_secs_f64(),
            peak_rss_bytes: meter.finish(),
            proof_bytes: proof.len() as u64,
            verified: true,
        };
        output.message(&format!(
            "{}: proved in {} and verified in {}",
            id.family,
            units::time(timings.witness + timings.device),
            units::time(timings.verify)
        ));
        let saved = save
            .zip(public)
            .map(|(folder, public)| SavedRequest::write(folder, &request, &public, proof))
            .transpose()?;
        Ok((result, saved))
    }
}

impl DemoResult {
    fn write(&self, page: &mut Page) {
        let heading = [
            "kind",
            "circuit",
            "constraints",
            "partitions",
            "setup",
            "witness",
            "evaluate",
            "prove",
            "verify",
            "peak memory",
            "proof",
        ];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        rows.extend(self.kinds.iter().map(KindResult::row));
        page.table(&rows);
        page.line(&format!(
            "\nAll proofs verified. {} in all on {} threads, peak memory {}.",
            units::time(Duration::from_secs_f64(self.total_s)),
            self.threads,
            units::bytes_or_unknown(self.peak_rss_bytes)
        ));
        explanation::of_proofs(page, self.size);
        if !self.commands.is_empty() {
            page.line("\nThe same proofs from the saved files:");
            for command in &self.commands {
                page.line(&format!("  {command}"));
            }
        }
    }
}

impl KindResult {
    fn row(&self) -> Vec<String> {
        let time = |seconds: f64| units::time(Duration::from_secs_f64(seconds));
        vec![
            self.kind.to_owned(),
            self.circuit.clone(),
            self.constraints
                .map_or_else(|| "unknown".to_owned(), units::count),
            self.partitions.to_string(),
            self.setup_s.map_or_else(|| "reused".to_owned(), time),
            time(self.witness_s),
            time(self.evaluate_s),
            time(self.prove_s),
            time(self.verify_s),
            units::bytes_or_unknown(self.peak_rss_bytes),
            units::bytes(self.proof_bytes),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_choice_means_all_kinds_and_a_kind_named_twice_runs_once() {
        let all = smallest_first(&[]);
        assert_eq!(all.first(), Some(&Family::WindowPoSt));
        assert_eq!(all.last(), Some(&Family::PoRep));
        assert_eq!(all.len(), Family::ALL.len());
        let twice = smallest_first(&[Family::PoRep, Family::PoRep]);
        assert_eq!(twice, [Family::PoRep]);
    }
}
