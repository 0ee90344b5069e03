//! Everything about a run in one file, so that a number can be looked into after the machine is gone.

use std::num::NonZeroUsize;

use anyhow::Context as _;
use cuzk_engine::{EngineSettings, Span};
use cuzk_groth16::DeviceDescription;
use serde_json::{Value, json};

use super::report::{LoadResult, Measured};
use crate::result_file::ResultFile;

/// What a record is made from.
pub(super) struct Record<'a> {
    pub(super) mix: String,
    /// Of an engine in this process.
    pub(super) settings: Option<&'a EngineSettings>,
    pub(super) threads: NonZeroUsize,
    pub(super) device: DeviceDescription,
    pub(super) result: &'a LoadResult,
    pub(super) measured: &'a Measured,
}

impl Record<'_> {
    /// Writes it as JSON; a file of that name is replaced.
    ///
    /// # Errors
    /// Resource, when the file cannot be written.
    pub(super) fn write(&self, file: &ResultFile) -> anyhow::Result<()> {
        file.write(&serde_json::to_vec_pretty(&self.value()?)?)
    }

    fn value(&self) -> anyhow::Result<Value> {
        let answered = &self.measured.answered;
        let answers = answered.answers.iter().map(|answer| {
            json!({
                "circuit": answer.circuit.to_string(),
                "asked_s": answer.asked.as_secs_f64(),
                "latency_ms": answer.latency.as_secs_f64() * 1e3,
                "error": answer.proof.as_ref().err(),
            })
        });
        let memory = answered.memory.iter();
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "mix": self.mix,
            "machine": {
                "processor": processor(),
                "cores": std::thread::available_parallelism().map_or(0, NonZeroUsize::get),
                "memory": cuzk_engine::memory_limit().map(|limit| limit.bytes),
                "threads": self.threads,
                "arithmetic": self.device.arithmetic,
                "card": self.device.card,
            },
            "settings": self.settings.map(settings),
            "result": serde_json::to_value(self.result).context("the result as JSON")?,
            "answers": answers.collect::<Vec<_>>(),
            "resident_memory": memory
                .map(|(at, bytes)| json!([at.as_secs_f64(), bytes]))
                .collect::<Vec<_>>(),
            "steps": self.measured.steps.iter().map(step).collect::<Vec<_>>(),
        }))
    }
}

/// The settings that decide how much happens at the same time.
fn settings(settings: &EngineSettings) -> Value {
    json!({
        "budget_bytes": settings.budget_bytes,
        "partition_workers": settings.partition_workers,
        "device_workers": settings.device_workers,
        "cpu_tail_threads": settings.cpu_tail_threads,
        "lookahead": settings.lookahead,
        "ready_capacity": settings.ready_capacity,
        "winning_lane": settings.winning_lane,
    })
}

/// A step, in seconds since the engine started.
fn step(span: &Span) -> Value {
    json!({
        "stage": span.step.stage.name(),
        "circuit": span.step.circuit.map(|id| id.to_string()),
        "job": span.step.job.map(|job| job.to_string()),
        "partition": span.step.partition,
        "device": span.step.device,
        "began_s": span.began.as_secs_f64(),
        "took_s": span.took.as_secs_f64(),
    })
}

/// What the processor calls itself, where the system tells.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}
