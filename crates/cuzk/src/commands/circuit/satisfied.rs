//! `cuzk circuit check --satisfied`: does a vanilla proof satisfy every row of the real circuit?

use std::{path::Path, time::Instant};

use bellpepper_core::Circuit;
use cuzk_circuits::{CircuitId, CircuitVisitor};
use cuzk_r1cs::{Fr, SatisfactionError, check_satisfied};
use serde::Serialize;

use crate::{
    exit::{ExitClass, OrExit as _, failure},
    memory::PeakMeter,
    output::Page,
    request_args::{MinerId, synthetic_or_own},
    rows::RowProgress,
    session::Session,
    units,
};

/// A partition of a vanilla proof in a file.
pub(super) struct VanillaValues<'a> {
    pub(super) circuit: CircuitId,
    pub(super) c1: &'a Path,
    pub(super) miner_id: Option<MinerId>,
    pub(super) partition: usize,
}

#[derive(Debug, Serialize)]
struct CheckResult {
    circuit: String,
    partition: u64,
    rows: u64,
    satisfied: bool,
    seconds: f64,
    peak_rss_bytes: Option<u64>,
}

/// Evaluates all rows.
///
/// # Errors
/// Invalid input, when the vanilla proof is of another circuit, has no such partition, or a row does not hold.
pub(super) fn run(values: &VanillaValues<'_>, session: &Session) -> anyhow::Result<()> {
    let meter = PeakMeter::start();
    let start = Instant::now();
    let request = synthetic_or_own(values.c1, values.miner_id)?;
    let statement = request.decode()?;
    let (id, partition) = (values.circuit, values.partition);
    if statement.circuit_id() != id {
        return Err(failure(
            ExitClass::InvalidInput,
            format!(
                "the C1 output is of {}, not of {id}",
                statement.circuit_id()
            ),
        ));
    }
    let what = format!("{id} partition {partition}");
    let expected = id.info().num_constraints;
    let progress = RowProgress::start(what.clone(), expected, &session.output);
    let rows = statement
        .with_circuit(partition, CheckRows(&progress))
        .or_exit(ExitClass::InvalidInput, || what.clone())?
        .or_exit(ExitClass::InvalidInput, || what.clone())?;
    drop(progress);
    let result = CheckResult {
        circuit: id.to_string(),
        partition: partition as u64,
        rows: rows as u64,
        satisfied: true,
        seconds: start.elapsed().as_secs_f64(),
        peak_rss_bytes: meter.finish(),
    };
    session.output.result(&result, |page| result.write(page))
}

/// Evaluates all rows of whatever circuit it is shown.
struct CheckRows<'a>(&'a RowProgress);

impl CircuitVisitor for CheckRows<'_> {
    type Output = Result<usize, SatisfactionError>;

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        check_satisfied(circuit, &|rows| self.0.set(rows))
    }
}

impl CheckResult {
    fn write(&self, page: &mut Page) {
        page.line(&format!(
            "{} partition {}: all {} rows hold, checked in {:.1} s, peak memory {}",
            self.circuit,
            self.partition,
            units::count(self.rows),
            self.seconds,
            units::bytes_or_unknown(self.peak_rss_bytes)
        ));
    }
}
