//! What a run is reported as.

use std::{collections::BTreeMap, time::Duration};

use cuzk_circuits::CircuitId;
use serde::Serialize;

use super::{ProofArgs, device::BenchDevice, free_memory::FreeMemory, pipeline::Run};
use crate::{commands::bench::COMMIT, output::Page, units};

/// What a run took besides time.
pub(super) struct Used {
    pub(super) cpu: Option<Duration>,
    pub(super) peak_rss_bytes: Option<u64>,
    /// Of a card.
    pub(super) memory: Option<FreeMemory>,
}

#[derive(Debug, Serialize)]
pub(super) struct ProofResult {
    scenario: &'static str,
    circuit: String,
    device: String,
    proofs: usize,
    partitions: usize,
    in_flight: usize,
    s_per_proof: f64,
    device_s: f64,
    /// Share of the elapsed time in which the device computed.
    device_busy_share: f64,
    stages_s: BTreeMap<&'static str, f64>,
    witness_s: f64,
    host_core_s: Option<f64>,
    peak_host_rss_bytes: Option<u64>,
    peak_device_bytes: Option<u64>,
    #[serde(flatten)]
    free_memory: Option<FreeMemory>,
    verified: bool,
    commit: Option<&'static str>,
}

impl ProofResult {
    /// Times are of one partition, the mean of all; `s_per_proof` of one proof.
    pub(super) fn new(
        (id, args, partitions): (CircuitId, &ProofArgs, usize),
        (device, in_flight): (&BenchDevice, usize),
        run: &Run,
        used: Used,
    ) -> Self {
        let num_partitions = run.proofs.len().max(1) as f64;
        let mut stages_s = BTreeMap::new();
        for (stage, time) in run.times.iter().flatten() {
            *stages_s.entry(*stage).or_insert(0.0) += time.as_secs_f64() / num_partitions;
        }
        let device_s: f64 = stages_s.values().sum();
        let elapsed = run.elapsed.as_secs_f64();
        Self {
            scenario: if run.proofs.len() == 1 {
                "partition"
            } else {
                "proof"
            },
            circuit: id.to_string(),
            device: device.name(),
            proofs: args.proofs.get(),
            partitions,
            in_flight,
            s_per_proof: elapsed / args.proofs.get() as f64,
            device_s,
            device_busy_share: device_s * num_partitions / elapsed,
            stages_s,
            witness_s: run.witness.as_secs_f64() / num_partitions,
            host_core_s: used.cpu.map(|cpu| cpu.as_secs_f64() / num_partitions),
            peak_host_rss_bytes: used.peak_rss_bytes,
            peak_device_bytes: device.peak_bytes(),
            free_memory: used.memory,
            verified: true,
            commit: COMMIT,
        }
    }

    pub(super) fn write(&self, page: &mut Page) {
        let time = |seconds: f64| units::time(Duration::from_secs_f64(seconds));
        let mut rows = vec![["of one partition".to_owned(), "time".to_owned()].to_vec()];
        for (stage, seconds) in &self.stages_s {
            rows.push(vec![(*stage).to_owned(), time(*seconds)]);
        }
        rows.push(vec!["device, all".to_owned(), time(self.device_s)]);
        rows.push(vec!["witness".to_owned(), time(self.witness_s)]);
        let cpu = self.host_core_s.map_or_else(|| "unknown".to_owned(), time);
        rows.push(vec!["processor, all threads".to_owned(), cpu]);
        page.table(&rows);
        page.line(&format!(
            "\n{} on {}: {} per proof of {}, {} in flight, the device busy {:.0} % of the time; peak memory {} \
             on the host, {} on the device; every proof verifies.",
            self.circuit,
            self.device,
            time(self.s_per_proof),
            units::counted(self.partitions as u64, "partition"),
            self.in_flight,
            self.device_busy_share * 100.0,
            units::bytes_or_unknown(self.peak_host_rss_bytes),
            units::bytes_or_unknown(self.peak_device_bytes),
        ));
        if let Some(memory) = &self.free_memory {
            memory.write(page);
        }
    }
}
