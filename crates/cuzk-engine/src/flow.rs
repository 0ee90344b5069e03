//! The one place where the stages are connected: each function takes a value from one queue, runs one stage, and puts what
//! comes out into the next queue. It holds no state of its own.

use std::sync::Arc;
use std::time::Duration;

use cuzk_groth16::{Blame, DeviceError, LoadedCircuit};
use tokio::sync::oneshot;

use crate::ending::{fail, retry};
use crate::error::{ErrorClass, JobError, PortError, ResidencyError};
use crate::events::{Stage, Step};
use crate::jobs::{Job, JobOutcome, PartitionProof, PartitionState};
use crate::residency::{self, Asking, Lease, Readiness};
use crate::shared::Core;
use crate::sharing::{self, Sharing};
use crate::stages::{self, verify::Unverified};
use crate::steps::Placement;
use crate::tasks::{
    CompleteJob, Holding, PartitionTask, ReadyPartition, StartedPartition, TailTask,
};
use crate::{ending, held::InFlight};

/// How long a partition stays away from a device that lacked memory for it, times its attempts.
const MEMORY_PAUSE: Duration = Duration::from_secs(5);

/// Puts all partitions of a new job into the first queue.
pub(crate) fn enqueue(core: &Arc<Core>, job: &Arc<Job>) {
    for partition in 0..job.num_partitions {
        let task = PartitionTask {
            job: Arc::clone(job),
            partition,
            attempts: 0,
            avoid: None,
            present: core.presence.enter(),
        };
        ending::put_back(core, task);
    }
    residency::look_ahead(core);
}

fn step(task: &PartitionTask, stage: Stage, device: Option<usize>) -> Step {
    Step {
        stage,
        circuit: Some(task.job.circuit),
        job: Some(task.job.id),
        partition: Some(task.partition),
        device,
    }
}

/// Waits for what a partition needs; `None` when it is no longer wanted here.
///
/// `takes` says which jobs the worker serves: only those can claim it.
async fn readiness(
    core: &Arc<Core>,
    task: PartitionTask,
    takes: impl Fn(&Job) -> bool,
) -> Option<(PartitionTask, Readiness)> {
    let job = Arc::clone(&task.job);
    let asking = Asking {
        circuit: job.circuit,
        rank: task.rank(),
        step: Step {
            partition: None,
            ..step(&task, Stage::Load, None)
        },
    };
    let waits = |bytes| job.set_state(task.partition, PartitionState::WaitsForMemory { bytes });
    tokio::select! {
        biased;
        () = job.token.cancelled() => None,
        ready = residency::lease(core, asking, waits) => match ready {
            Ok(ready) => Some((task, ready)),
            Err(error) => {
                fail(core, &job, load_error(error));
                None
            }
        },
        // Somebody more urgent came: the worker is his.
        () = core.waiting.overtaken(task.rank(), |other| takes(&other.job)) => {
            job.set_state(task.partition, PartitionState::Queued);
            ending::put_back(core, task);
            None
        }
    }
}

fn load_error(error: ResidencyError) -> JobError {
    match error {
        ResidencyError::Load { circuit, source } => JobError::Load { circuit, source },
        ResidencyError::TooLarge {
            circuit,
            needed_bytes,
            budget_bytes,
        } => JobError::TooLarge {
            circuit,
            needed_bytes,
            budget_bytes,
        },
        ResidencyError::InUse { circuit, .. } => JobError::Load {
            circuit,
            source: PortError::new(ErrorClass::Busy, "it was evicted while it was loaded"),
        },
        ResidencyError::Panicked { .. } => JobError::Panicked {
            stage: Stage::Load,
            partition: None,
        },
    }
}

/// Computes a partition's values and puts them before the devices.
pub(crate) async fn prepare(core: &Arc<Core>, task: PartitionTask, takes: impl Fn(&Job) -> bool) {
    let Some((task, ready)) = readiness(core, task, takes).await else {
        return;
    };
    let Some(statement) = task.job.statement() else {
        return;
    };
    let (job, partition) = (Arc::clone(&task.job), task.partition);
    job.set_state(partition, PartitionState::Witness);
    let Readiness {
        lease,
        footprints,
        permit,
    } = ready;
    let holding = Holding::new(Arc::clone(&core.bus), footprints, permit);
    let work = move || {
        let circuit = &lease.resident.circuit;
        let witness = stages::witness::witness(&*statement, partition, circuit);
        (witness, holding, lease)
    };
    let (result, took) = core
        .steps
        .run(step(&task, Stage::Witness, None), work)
        .await;
    job.add_time(Stage::Witness, took);
    match result {
        Err(_) => fail(core, &job, panicked(Stage::Witness, partition)),
        Ok((Err(source), ..)) => fail(core, &job, JobError::Statement { partition, source }),
        Ok((Ok(witness), holding, lease)) => {
            let ready = ReadyPartition {
                witness,
                holding,
                lease,
                task,
            };
            hand_over(core, ready).await;
        }
    }
}

fn panicked(stage: Stage, partition: usize) -> JobError {
    JobError::Panicked {
        stage,
        partition: Some(partition),
    }
}

/// Puts a partition before the devices, and holds the worker up while they are behind.
async fn hand_over(core: &Arc<Core>, mut ready: ReadyPartition) {
    let job = Arc::clone(&ready.task.job);
    if core.mistakes.permit_dropped_before_send {
        ready.holding.lose_permit();
        let core = Arc::clone(core);
        tokio::spawn(async move { send(&core, &job, ready).await });
        return;
    }
    send(core, &job, ready).await;
}

async fn send(core: &Arc<Core>, job: &Arc<Job>, ready: ReadyPartition) {
    let (rank, partition) = (ready.task.rank(), ready.task.partition);
    job.set_state(partition, PartitionState::Ready);
    // Others' backlog must not hold up what has a lane of its own.
    if core.is_in_lane(job) {
        if let Err(ready) = core.ready.push_over(rank, ready) {
            core.steps.reap(ready);
        }
    } else {
        let mut push = core.ready.push(rank, ready);
        tokio::select! {
            biased;
            () = job.token.cancelled() => core.steps.reap(push.take_back()),
            sent = &mut push => if let Err(ready) = sent {
                core.steps.reap(ready);
            },
        }
    }
    ending::sweep(core, job);
}

/// Starts a partition on a device whose thread was claimed for it. Returns what to wait for until its slot is free, if it has
/// one to itself.
pub(crate) async fn start(
    core: &Arc<Core>,
    device: usize,
    ready: ReadyPartition,
) -> Option<oneshot::Receiver<()>> {
    let partition = in_flight(&ready.task);
    let in_lane = core.is_in_lane(&ready.task.job);
    core.devices.held(device, |held| held.enter(partition));
    let started = start_claimed(core, device, ready).await;
    core.devices.held(device, |held| match started {
        Some(_) => held.started(partition),
        None => held.leave(partition),
    });
    core.devices.release(device, in_lane);
    core.ready.look_again();
    let (started, slot) = started?;
    let rank = started.task.rank();
    let job = Arc::clone(&started.task.job);
    let is_shared = started.sharing.is_some();
    job.set_state(started.task.partition, PartitionState::Pending);
    if let Err(task) = core
        .tail
        .push_over(rank, TailTask::Finish(Box::new(started)))
    {
        core.steps.reap(task);
    }
    ending::sweep(core, &job);
    ending::recall(core, device);
    if is_shared {
        sharing::look_again_in_time(core);
        return None;
    }
    Some(slot)
}

pub(crate) fn in_flight(task: &PartitionTask) -> InFlight {
    (task.job.id, task.job.circuit, task.partition)
}

async fn start_claimed(
    core: &Arc<Core>,
    device: usize,
    ready: ReadyPartition,
) -> Option<(StartedPartition, oneshot::Receiver<()>)> {
    let job = Arc::clone(&ready.task.job);
    if job.token.is_cancelled() {
        core.steps.reap(ready);
        return None;
    }
    let ReadyPartition {
        witness,
        holding,
        lease,
        task,
    } = ready;
    let circuit = match on_device(core, device, &lease, &task).await {
        Ok(circuit) => circuit,
        Err(error) => {
            core.steps.reap((witness, holding, lease));
            load_failed(core, task, device, error);
            return None;
        }
    };
    if job.token.is_cancelled() {
        core.steps.reap((witness, holding, lease, task));
        return None;
    }
    job.set_state(task.partition, PartitionState::Starting);
    let prover = core.devices.get(device);
    let sharing = Sharing::of(&*prover, &circuit);
    let placement = placement(core, device, &job);
    let work = move || {
        // Whatever happens, the values are freed before their permit is.
        let mut holding = holding;
        holding.begin_start();
        let pending = stages::start::start(&*prover, circuit, witness)?;
        holding.become_pending();
        Ok::<_, DeviceError>((pending, holding))
    };
    let (result, took) = core
        .steps
        .run_as(placement, step(&task, Stage::Start, Some(device)), work)
        .await;
    job.add_time(Stage::Start, took);
    match result {
        Err(_) => fail(core, &job, panicked(Stage::Start, task.partition)),
        Ok(Err(error)) => device_failed(core, task, device, Stage::Start, error),
        Ok(Ok((pending, holding))) => {
            job.add_evaluation(pending.start_times().evaluate);
            let (slot, freed) = oneshot::channel();
            let started = StartedPartition {
                pending,
                holding,
                lease,
                task,
                device,
                sharing,
                slot,
            };
            return Some((started, freed));
        }
    }
    None
}

/// Where a job's partitions are started. What has a lane of its own does not stand behind others on the device's thread.
fn placement(core: &Core, device: usize, job: &Job) -> Placement {
    if core.is_in_lane(job) && core.devices.starts_beside(device) {
        Placement::Beside
    } else {
        Placement::InTurn
    }
}

/// A partition's circuit on a device, loaded where the device has it not. Where memory is short, idle circuits leave the device
/// for it, and are loaded again when they are used.
async fn on_device(
    core: &Arc<Core>,
    device: usize,
    lease: &Lease,
    task: &PartitionTask,
) -> Result<LoadedCircuit, Option<DeviceError>> {
    if let Some(circuit) = lease.resident.on_device(device) {
        return Ok(circuit);
    }
    let (prover, resident) = (core.devices.get(device), Arc::clone(&lease.resident));
    let shared = Arc::clone(core);
    let work = move || {
        let load = || {
            let key = prover.load_key(Arc::clone(&resident.key))?;
            prover.load_circuit(&key, resident.circuit.clone())
        };
        let circuit = load().or_else(|error| {
            let is_short = error.blame() == Blame::Memory;
            if is_short && shared.residency.free_idle_on_device(device) {
                load()
            } else {
                Err(error)
            }
        })?;
        resident.put_on_device(device, circuit.clone());
        Ok(circuit)
    };
    let load = Step {
        partition: None,
        ..step(task, Stage::Load, Some(device))
    };
    let placement = placement(core, device, &task.job);
    let (loaded, took) = core.steps.run_as(placement, load, work).await;
    task.job.add_time(Stage::Load, took);
    // A panic has no error of the device.
    let circuit = loaded.map_err(|_| None)?.map_err(Some)?;
    if core.devices.is_lost(device) {
        return Err(Some(DeviceError::Lost {
            device: core.devices.get(device).describe().name,
            source: "it was lost while a circuit was loaded".into(),
        }));
    }
    Ok(circuit)
}

fn load_failed(core: &Arc<Core>, task: PartitionTask, device: usize, error: Option<DeviceError>) {
    match error {
        Some(error) => device_failed(core, task, device, Stage::Load, error),
        None => fail(core, &task.job, panicked(Stage::Load, task.partition)),
    }
}

/// What becomes of a partition whose device failed: another attempt, elsewhere where the device is to blame, or the end of
/// its job. That a device is lost is no attempt.
fn device_failed(
    core: &Arc<Core>,
    task: PartitionTask,
    device: usize,
    stage: Stage,
    source: DeviceError,
) {
    if let DeviceError::Lost { source, .. } = &source {
        if ending::lose(core, device, source.to_string()) {
            retry(core, task, device, None);
        }
        return;
    }
    let blame = source.blame();
    if blame == Blame::Device {
        ending::distrust(core, device, source.to_string());
    }
    let attempts = task.attempts + 1;
    let is_final = matches!(blame, Blame::Statement | Blame::Partition);
    if is_final || attempts >= core.settings.max_attempts {
        let error = JobError::Device {
            partition: task.partition,
            device,
            stage,
            attempts,
            source,
        };
        fail(core, &task.job, error);
        return;
    }
    let task = PartitionTask { attempts, ..task };
    if blame == Blame::Device {
        retry(core, task, device, Some(device));
        return;
    }
    // What holds the device's memory now gives it back when it is done.
    let pause = MEMORY_PAUSE * attempts as u32;
    let core = Arc::clone(core);
    tokio::spawn(async move {
        tokio::select! {
            () = task.job.token.cancelled() => {}
            () = tokio::time::sleep(pause) => retry(&core, task, device, None),
        }
    });
}

/// Finishes or verifies.
pub(crate) async fn run_tail(core: &Arc<Core>, task: TailTask) {
    match task {
        TailTask::Finish(started) => finish(core, *started).await,
        TailTask::Verify(complete) => verify(core, complete).await,
    }
}

async fn finish(core: &Arc<Core>, started: StartedPartition) {
    let StartedPartition {
        pending,
        holding,
        lease,
        task,
        device,
        sharing,
        slot,
    } = started;
    let (job, partition) = (Arc::clone(&task.job), task.partition);
    job.set_state(partition, PartitionState::Finishing);
    let prover = core.devices.get(device);
    let work = move || {
        let proof = stages::finish::finish(&*prover, pending);
        drop(holding);
        proof
    };
    let (result, took) = core
        .steps
        .run(step(&task, Stage::Finish, Some(device)), work)
        .await;
    job.add_time(Stage::Finish, took);
    core.devices
        .held(device, |held| held.leave(in_flight(&task)));
    drop(slot);
    if sharing.is_some() {
        core.ready.look_again();
        core.tail.look_again();
    }
    let verifying_key = Arc::clone(&lease.resident.verifying_key);
    drop(lease);
    match result {
        Err(_) => fail(core, &job, panicked(Stage::Finish, partition)),
        Ok(Err(error)) => device_failed(core, task, device, Stage::Finish, error),
        Ok(Ok(proof)) => {
            core.devices.proved(device);
            let Some(proofs) = job.add_proof(partition, &PartitionProof { proof, device }) else {
                return;
            };
            let complete = CompleteJob {
                job: Arc::clone(&job),
                proofs,
                verifying_key,
                present: task.present,
            };
            if let Err(task) = core.tail.push_over(job.rank, TailTask::Verify(complete)) {
                core.steps.reap(task);
            }
            ending::sweep(core, &job);
        }
    }
}

/// Verifies a job's proofs; the job ends, or its bad partitions are proved again.
async fn verify(core: &Arc<Core>, complete: CompleteJob) {
    let CompleteJob {
        job,
        proofs,
        verifying_key,
        present,
    } = complete;
    let Some(statement) = job.statement() else {
        return;
    };
    let verify_step = Step {
        stage: Stage::Verify,
        circuit: Some(job.circuit),
        job: Some(job.id),
        partition: None,
        device: None,
    };
    let assembled = stages::assemble::assemble(proofs.iter().map(|proof| proof.proof).collect());
    let work = move || stages::verify::verify(&*statement, &verifying_key, &assembled);
    let (verified, took) = core.steps.run(verify_step, work).await;
    job.add_time(Stage::Verify, took);
    let devices: Vec<_> = proofs.iter().map(|proof| proof.device).collect();
    match verified {
        Ok(Ok(proof)) => {
            let outcome = JobOutcome::Completed {
                proof,
                devices,
                timings: job.timings(),
            };
            ending::end(core, &job, outcome);
        }
        Ok(Err(Unverified::Bad(partitions))) => {
            ending::prove_again(core, &job, &partitions, &devices);
        }
        Ok(Err(Unverified::Inputs(partition, source))) => {
            fail(core, &job, JobError::Statement { partition, source });
        }
        Ok(Err(Unverified::Other(error))) => {
            let source = PortError::new(ErrorClass::Internal, error);
            fail(
                core,
                &job,
                JobError::Statement {
                    partition: 0,
                    source,
                },
            );
        }
        Err(_) => fail(
            core,
            &job,
            JobError::Panicked {
                stage: Stage::Verify,
                partition: None,
            },
        ),
    }
    drop(present);
}
