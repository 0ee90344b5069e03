//! The direct path: the circuit synthesized by upstream's code, each row built and evaluated. It is what provers did before
//! circuits were compiled, and the oracle of the values that we use instead.

use std::time::Duration;

use bellpepper_core::{Circuit, SynthesisError};
use cuzk_circuits::{CircuitVisitor, Statement, WitnessLayout};
use cuzk_r1cs::{
    CompiledCircuit, Fr, PackedWitness, RowDigest, SynthesizedRows, TemplateEvaluator,
};
use ff::Field as _;
use serde::Serialize;

use crate::{
    cpu_time::ThreadTimer,
    exit::{ExitClass, OrExit as _, classed, failure},
    output::Page,
    units,
};

/// A point for digests of rows, from the operating system.
pub(super) fn random_point() -> Fr {
    Fr::random(rand_core::OsRng)
}

/// The rows of one partition, evaluated directly.
pub(super) struct DirectRows {
    pub(super) digest: RowDigest,
    pub(super) num_rows: usize,
    /// Synthesis, comparison of the variables, evaluation and digest.
    pub(super) core: Duration,
}

impl DirectRows {
    /// Synthesizes the circuit on this thread, compares its variables with those of `packed`, and evaluates its rows.
    ///
    /// # Errors
    /// Internal, when a variable differs.
    pub(super) fn build(
        statement: &Statement,
        partition: usize,
        packed: &PackedWitness,
        point: Fr,
    ) -> anyhow::Result<Self> {
        let place = || format!("{} partition {partition}", statement.circuit_id());
        let (rows, core) = statement
            .with_circuit(partition, Build { packed, point })
            .or_exit(ExitClass::Internal, place)?;
        let rows = rows.or_exit(ExitClass::Internal, place)?;
        match rows.difference {
            None => Ok(Self {
                digest: rows.digest,
                num_rows: rows.num_rows,
                core,
            }),
            Some(difference) => Err(classed(ExitClass::Internal, place(), difference)),
        }
    }

    /// Refuses rows of another number or with other values.
    ///
    /// # Errors
    /// Internal.
    pub(super) fn expect(&self, num_rows: usize, digest: RowDigest) -> anyhow::Result<()> {
        if (self.num_rows, self.digest) == (num_rows, digest) {
            return Ok(());
        }
        Err(failure(
            ExitClass::Internal,
            format!(
                "{num_rows} rows by templates and {} rows as they are built have not the same values",
                self.num_rows
            ),
        ))
    }
}

/// Evaluates the rows of whatever circuit it is shown.
struct Build<'a> {
    packed: &'a PackedWitness,
    point: Fr,
}

impl CircuitVisitor for Build<'_> {
    type Output = (Result<SynthesizedRows, SynthesisError>, Duration);

    fn visit<C: Circuit<Fr> + Send>(self, circuit: C) -> Self::Output {
        let timer = ThreadTimer::start();
        let rows = self.packed.synthesized_rows(circuit, self.point);
        (rows, timer.finish())
    }
}

/// The direct path to the values that were proved, on one thread, and ours.
#[derive(Debug, Serialize)]
pub(super) struct OracleResult {
    num_rows: u64,
    direct_core_s: f64,
    witness_core_s: f64,
    rows_core_s: f64,
    variables_equal: bool,
    rows_equal: bool,
}

impl OracleResult {
    /// Both paths on this thread, which has the current pool for itself.
    ///
    /// # Errors
    /// Internal, when a variable or a row differs.
    pub(super) fn compare(
        statement: &Statement,
        partition: usize,
        circuit: &CompiledCircuit,
    ) -> anyhow::Result<Self> {
        let id = statement.circuit_id();
        let context = || format!("{id} partition {partition}");
        let layout =
            WitnessLayout::of_compiled(id, circuit).or_exit(ExitClass::Internal, context)?;
        let timer = ThreadTimer::start();
        let packed = statement
            .packed_witness(partition, &layout)
            .or_exit(ExitClass::Internal, context)?;
        let witness = timer.finish();
        let evaluator = TemplateEvaluator::new(circuit);
        let point = random_point();
        let timer = ThreadTimer::start();
        let digest = evaluator
            .row_digest(&packed, point)
            .or_exit(ExitClass::Internal, context)?;
        let rows = timer.finish();
        let direct = DirectRows::build(statement, partition, &packed, point)?;
        direct.expect(circuit.shape().num_constraints, digest)?;
        Ok(Self {
            num_rows: direct.num_rows as u64,
            direct_core_s: direct.core.as_secs_f64(),
            witness_core_s: witness.as_secs_f64(),
            rows_core_s: rows.as_secs_f64(),
            variables_equal: true,
            rows_equal: true,
        })
    }

    pub(super) fn write(&self, page: &mut Page) {
        let time = |seconds: f64| units::time(Duration::from_secs_f64(seconds));
        page.line(&format!(
            "\nThe direct path gives the same variables and the same {} rows, in {} of one processor; ours took {} and {}.",
            units::count(self.num_rows),
            time(self.direct_core_s),
            time(self.witness_core_s),
            time(self.rows_core_s)
        ));
    }
}
