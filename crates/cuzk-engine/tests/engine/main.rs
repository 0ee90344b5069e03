//! The engine on a fake device and virtual time. Every test ends with counters at zero and a next job that succeeds.

mod cancelling;
mod crowding;
mod devices;
mod failures;
mod history;
mod leaders;
mod losses;
mod memory;
mod order;
mod passes;
mod residents;
mod threads;
mod twins;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cuzk_circuits::CircuitId;
use cuzk_engine::{
    BufferClass, Engine, EngineParts, EngineSettings, Event, JobId, JobOutcome, JobRequest,
    JobStatus, Stage, Stamped,
};
use cuzk_testkit::fake::{FakeCircuit, FakeWorld, request};
use tokio::sync::broadcast::Receiver;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Longer than any test takes on its clock.
const LONG: Duration = Duration::from_hours(240);

fn circuit(name: &str) -> CircuitId {
    name.parse().expect("a circuit id")
}

fn porep() -> CircuitId {
    circuit("porep-2k")
}

fn winning() -> CircuitId {
    circuit("winning-2k")
}

/// PoRep in four partitions of 8 MiB, WinningPoSt in one of 4 MiB.
fn world() -> Arc<FakeWorld> {
    FakeWorld::new(&[
        FakeCircuit::new(porep(), 4, 8 << 20),
        FakeCircuit::new(winning(), 1, 4 << 20),
    ])
}

/// Settings with which a test says what it is about and nothing else.
fn settings() -> EngineSettings {
    EngineSettings {
        budget_bytes: Some(GIB),
        partition_workers: 2,
        device_workers: 2,
        cpu_tail_threads: 2,
        lookahead: 1,
        max_queued_bytes: Some(MIB),
        ..EngineSettings::default()
    }
}

/// Every step of a proof takes so long.
fn all_stages_take(world: &FakeWorld, duration: Duration) {
    for stage in Stage::ALL {
        world.script.takes(stage, duration);
    }
}

fn start(settings: EngineSettings, parts: EngineParts) -> Engine {
    Engine::start(settings, parts).expect("the engine starts")
}

async fn submit(engine: &Engine, circuit: CircuitId, payload: &str) -> JobId {
    let request = JobRequest::new(request(circuit, payload));
    engine.submit(request).await.expect("admitted").job
}

async fn outcome(engine: &Engine, job: JobId) -> Arc<JobOutcome> {
    match engine.wait(job, Some(LONG)).await.expect("it is known") {
        JobStatus::Ended(outcome) => outcome,
        running @ JobStatus::Running { .. } => {
            panic!("{job} does not end: {running:?}, {:?}", engine.snapshot())
        }
    }
}

/// Waits for a proof of as many partitions.
async fn completed(engine: &Engine, job: JobId, num_partitions: usize) {
    let outcome = outcome(engine, job).await;
    let JobOutcome::Completed { proof, .. } = &*outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(proof.bytes().len(), 192 * num_partitions);
}

/// Waits for a failure and returns its text.
async fn failure(engine: &Engine, job: JobId) -> String {
    let outcome = outcome(engine, job).await;
    let JobOutcome::Failed { error, .. } = &*outcome else {
        panic!("{outcome:?}")
    };
    format!("{}: {error}", error.class())
}

/// Nothing is in flight, and nothing is held but keys, circuits and kept results.
async fn at_zero(engine: &Engine) {
    tokio::time::timeout(LONG, engine.idle())
        .await
        .unwrap_or_else(|_| panic!("never idle: {:?}", engine.snapshot()));
    let snapshot = engine.snapshot();
    let resident: u64 = snapshot.residents.iter().map(|one| one.budget_bytes).sum();
    assert_eq!(snapshot.budget.used_bytes, resident);
    assert_eq!(snapshot.budget.num_waiting, 0);
    assert_eq!(snapshot.budget.queued_bytes, 0);
    assert_eq!(snapshot.ready.0, 0);
    assert!(snapshot.running.is_empty(), "{:?}", snapshot.running);
    for device in &snapshot.devices {
        assert!(device.in_flight.is_empty(), "{device:?}");
    }
    for (class, buffer) in &snapshot.buffers {
        if !matches!(class, BufferClass::Resident | BufferClass::Result) {
            assert_eq!((buffer.count, buffer.bytes), (0, 0), "{class}");
        }
    }
    assert!(snapshot.residents.iter().all(|one| one.num_leases == 0));
}

/// Counters are at zero, and the engine proves the next job.
async fn serves_on(engine: &Engine) {
    at_zero(engine).await;
    let next = submit(engine, porep(), "the next one").await;
    completed(engine, next, 4).await;
    at_zero(engine).await;
}

/// All events so far.
fn events(receiver: &mut Receiver<Stamped>) -> Vec<Stamped> {
    let mut events = Vec::new();
    while let Ok(event) = receiver.try_recv() {
        events.push(event);
    }
    events
}

/// Jobs and partitions in the order in which a stage began.
fn order_in(stage: Stage, events: &[Stamped]) -> Vec<(JobId, usize)> {
    let steps = events.iter().filter_map(|stamped| match stamped.event {
        Event::StepBegan { step } if step.stage == stage => Some((step.job?, step.partition?)),
        _ => None,
    });
    steps.collect()
}

/// When each job ended, since the engine started.
fn ends(events: &[Stamped]) -> BTreeMap<JobId, Duration> {
    let ends = events.iter().filter_map(|stamped| match stamped.event {
        Event::JobEnded { job, .. } => Some((job, stamped.at)),
        _ => None,
    });
    ends.collect()
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
