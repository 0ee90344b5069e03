//! `cuzk key setup --ephemeral`: a key that lives on a card as long as this command.

use std::time::Instant;

use cuzk_circuits::CircuitId;
use cuzk_groth16::setup::{KeyScalars, ToxicWaste};
use serde::Serialize;

use super::Counts;
use crate::{
    cards::{CardPoints, ResidentKey, ephemeral_needs_a_card},
    circuits::load_or_compile,
    device_choice::DeviceChoice,
    environment::Folder,
    exit::{ExitClass, OrExit as _},
    memory::PeakMeter,
    output::Page,
    session::Session,
    units,
};

#[derive(Debug, Serialize)]
struct EphemeralResult {
    circuit: String,
    counts: Counts,
    circuit_s: f64,
    scalars_s: f64,
    points_s: f64,
    check_s: f64,
    key_bytes: u64,
    peak_device_bytes: u64,
    peak_rss_bytes: Option<u64>,
}

pub(super) fn run(
    id: CircuitId,
    device: DeviceChoice,
    circuits: &Folder,
    waste: &ToxicWaste,
    session: &Session,
) -> anyhow::Result<()> {
    let DeviceChoice::Cuda(ordinal) = device else {
        return Err(ephemeral_needs_a_card());
    };
    let card = CardPoints::open(ordinal)?;
    let output = &session.output;
    let meter = PeakMeter::start();
    let start = Instant::now();
    let circuit = load_or_compile(&circuits.path, id, output)?;
    let circuit_s = start.elapsed().as_secs_f64();

    let step = output.step(&format!("{id}: polynomials at tau"));
    let start = Instant::now();
    let scalars = KeyScalars::evaluate(&circuit, waste, &|_| ())
        .or_exit(ExitClass::Internal, || format!("making the key of {id}"))?;
    let scalars_s = start.elapsed().as_secs_f64();
    step.rename(&format!("{id}: points on the card"));
    let made = card.resident_key(&scalars)?;
    drop(step);
    let result = EphemeralResult::new(id, &scalars, made, [circuit_s, scalars_s], meter.finish());
    output.result(&result, |page| result.write(page))
}

impl EphemeralResult {
    fn new(
        id: CircuitId,
        scalars: &KeyScalars,
        made: ResidentKey,
        [circuit_s, scalars_s]: [f64; 2],
        peak_rss_bytes: Option<u64>,
    ) -> Self {
        Self {
            circuit: id.to_string(),
            counts: scalars.counts().into(),
            circuit_s,
            scalars_s,
            points_s: made.points_s,
            check_s: made.check_s,
            key_bytes: made.key_bytes,
            peak_device_bytes: made.peak_device_bytes,
            peak_rss_bytes,
        }
    }

    fn write(&self, page: &mut Page) {
        page.fields(&[
            ("circuit", self.circuit.clone()),
            ("points", self.counts.text()),
            (
                "made in",
                format!(
                    "{:.1} s: circuit {:.1} s, polynomials {:.1} s, points {:.1} s",
                    self.circuit_s + self.scalars_s + self.points_s,
                    self.circuit_s,
                    self.scalars_s,
                    self.points_s
                ),
            ),
            ("checked in", format!("{:.1} s", self.check_s)),
            (
                "device memory",
                format!(
                    "{} for the key, {} at most",
                    units::bytes(self.key_bytes),
                    units::bytes(self.peak_device_bytes)
                ),
            ),
            ("peak memory", units::bytes_or_unknown(self.peak_rss_bytes)),
        ]);
    }
}
