//! `cuzk demo --witness-only`: the values of real circuits of any size, without keys.

use std::{
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use cuzk_circuits::{CircuitId, Family, SectorSize, Statement, WitnessLayout};
use cuzk_r1cs::Fr;
use serde::Serialize;

use super::{explanation, smallest_first};
use crate::{
    environment::Concern,
    exit::{ExitClass, OrExit as _, failure},
    inputs::SectorSource,
    memory::PeakMeter,
    output::Page,
    request_args::decode,
    session::Session,
    units,
    verification::public_inputs,
};

/// A kind that nobody named is left out when one of its witnesses takes more.
const MOST_UNASKED_BYTES: usize = 1 << 30;

#[derive(Debug, Serialize)]
struct WitnessDemo {
    size: &'static str,
    threads: NonZeroUsize,
    kinds: Vec<KindWitness>,
    /// Kinds with very large witnesses that were not asked for.
    left_out: Vec<&'static str>,
    total_s: f64,
}

#[derive(Debug, Serialize)]
struct KindWitness {
    kind: &'static str,
    circuit: String,
    constraints: Option<u64>,
    partitions: u64,
    /// Of one partition.
    num_aux: u64,
    num_wide: u64,
    /// Making the sector and its vanilla proofs.
    sector_s: f64,
    /// All partitions.
    witness_s: f64,
    /// Of one partition.
    packed_bytes: u64,
    plain_bytes: u64,
    /// While the witnesses were made.
    peak_rss_bytes: Option<u64>,
    public_inputs_equal: bool,
}

pub(super) fn run(asked: &[Family], size: SectorSize, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Threads, Concern::Sealing])?;
    let start = Instant::now();
    let threads = session.start_threads()?;
    let sectors = SectorSource::new(size, &session.output)?;
    let mut kinds = Vec::new();
    let mut left_out = Vec::new();
    for family in smallest_first(asked) {
        let layout = WitnessLayout::new(CircuitId::new(family, size));
        if asked.is_empty() && packed_bytes(&layout) > MOST_UNASKED_BYTES {
            left_out.push(family.prefix());
        } else {
            kinds.push(witnesses(&layout, &sectors, session)?);
        }
    }
    let result = WitnessDemo {
        size: size.label(),
        threads,
        kinds,
        left_out,
        total_s: start.elapsed().as_secs_f64(),
    };
    session.output.result(&result, |page| result.write(page))
}

/// Of one witness, public inputs not counted.
fn packed_bytes(layout: &WitnessLayout) -> usize {
    layout.kinds().num_aux().div_ceil(8) + layout.kinds().num_wide() * size_of::<Fr>()
}

/// Makes a sector and the witnesses of all partitions, one after the other.
fn witnesses(
    layout: &WitnessLayout,
    sectors: &SectorSource,
    session: &Session,
) -> anyhow::Result<KindWitness> {
    let id = layout.circuit();
    let output = &session.output;
    let start = Instant::now();
    let (request, _) = sectors.request(id.family, output)?;
    let statement = decode(&request)?;
    let sector = start.elapsed();
    drop(request);
    let meter = PeakMeter::start();
    let num_partitions = statement.num_partitions();
    let step = output.bar(&format!("{id}: witnesses"), num_partitions as u64);
    let mut time = Duration::ZERO;
    let (mut packed_bytes, mut num_inputs) = (0, 0);
    for partition in 0..num_partitions {
        let start = Instant::now();
        let witness = statement
            .packed_witness(partition, layout)
            .or_exit(ExitClass::Internal, || {
                format!("{id} partition {partition}")
            })?;
        time += start.elapsed();
        expect_public_inputs(&statement, partition, witness.inputs())?;
        (packed_bytes, num_inputs) = (witness.num_bytes(), witness.inputs().len());
        step.set(partition as u64 + 1, num_partitions as u64);
    }
    drop(step);
    let kinds = layout.kinds();
    Ok(KindWitness {
        kind: id.family.prefix(),
        circuit: id.to_string(),
        constraints: id.info().num_constraints.map(|count| count as u64),
        partitions: num_partitions as u64,
        num_aux: kinds.num_aux() as u64,
        num_wide: kinds.num_wide() as u64,
        sector_s: sector.as_secs_f64(),
        witness_s: time.as_secs_f64(),
        packed_bytes: packed_bytes as u64,
        plain_bytes: ((kinds.num_aux() + num_inputs) * size_of::<Fr>()) as u64,
        peak_rss_bytes: meter.finish(),
        public_inputs_equal: true,
    })
}

/// The witness is about what a verifier would verify.
fn expect_public_inputs(
    statement: &Statement,
    partition: usize,
    inputs: &[Fr],
) -> anyhow::Result<()> {
    let expected = public_inputs(statement, partition)?;
    if inputs.get(1..) == Some(expected.as_slice()) {
        return Ok(());
    }
    Err(failure(
        ExitClass::Internal,
        format!(
            "{} partition {partition}: the witness has other public inputs than a verifier computes",
            statement.circuit_id()
        ),
    ))
}

impl WitnessDemo {
    fn write(&self, page: &mut Page) {
        let heading = [
            "kind",
            "circuit",
            "constraints",
            "partitions",
            "sector made",
            "all witnesses",
            "packed",
            "plain",
            "peak memory",
        ];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        rows.extend(self.kinds.iter().map(KindWitness::row));
        page.table(&rows);
        page.line(&format!(
            "\n{} in all on {} threads.",
            units::time(Duration::from_secs_f64(self.total_s)),
            self.threads
        ));
        explanation::of_witnesses(page, self.size, &self.left_out);
        if let Some(kind) = self.kinds.last() {
            let id = &kind.circuit;
            page.line(&format!(
                "\nNext:\n  cuzk bench witness --circuit {id}      every value beside the one that the network's own code \
                 computes\n  cuzk circuit inspect {id}              the equations, counted"
            ));
        }
    }
}

impl KindWitness {
    fn row(&self) -> Vec<String> {
        let time = |seconds: f64| units::time(Duration::from_secs_f64(seconds));
        vec![
            self.kind.to_owned(),
            self.circuit.clone(),
            self.constraints
                .map_or_else(|| "not counted".to_owned(), units::count),
            self.partitions.to_string(),
            time(self.sector_s),
            time(self.witness_s),
            units::bytes(self.packed_bytes),
            units::bytes(self.plain_bytes),
            units::bytes_or_unknown(self.peak_rss_bytes),
        ]
    }
}
