//! The one place where the stages are connected.

use std::collections::HashMap;
use std::sync::Arc;

use cuzk_circuits::CircuitId;
use cuzk_groth16::{LoadedCircuit, PreparedVerifyingKey};

use crate::core::Core;
use crate::error::{ErrorClass, JobError, PortError};
use crate::events::{Ending, Event, Stage, Step};
use crate::jobs::{CancelReason, Job, JobOutcome, PartitionProof, PartitionState};
use crate::stages;
use crate::stages::verify::Unverified;
use crate::sync::{Mutex, lock};

/// Keys and circuits that are ready.
#[derive(Default)]
pub(crate) struct Residents(pub(crate) Mutex<HashMap<CircuitId, Resident>>);

#[derive(Clone)]
pub(crate) struct Resident {
    pub(crate) circuit: LoadedCircuit,
    pub(crate) verifying_key: Arc<PreparedVerifyingKey>,
}

fn step(job: &Job, stage: Stage, partition: Option<usize>) -> Step {
    Step {
        stage,
        circuit: Some(job.circuit),
        job: Some(job.id),
        partition,
        device: matches!(stage, Stage::Start | Stage::Finish).then_some(0),
    }
}

/// Loads a circuit and its key.
pub(crate) async fn load(
    core: &Arc<Core>,
    circuit: CircuitId,
    step: Step,
) -> Result<Resident, PortError> {
    if let Some(resident) = lock(&core.residents.0).get(&circuit) {
        return Ok(resident.clone());
    }
    let shared = Arc::clone(core);
    let (loaded, _) = core
        .steps
        .run(step, move || {
            let key = shared.keys.open(circuit)?;
            let data = shared.circuits.load(circuit)?;
            let device = &shared.devices[0];
            let verifying_key = Arc::new(PreparedVerifyingKey::new(key.verifying_key()));
            let circuit = device
                .load_key(key)
                .and_then(|key| device.load_circuit(&key, data))
                .map_err(|error| PortError::new(ErrorClass::Resource, error))?;
            Ok::<_, PortError>(Resident {
                circuit,
                verifying_key,
            })
        })
        .await;
    let resident =
        loaded.unwrap_or_else(|_| Err(PortError::new(ErrorClass::Internal, "panic in load")))?;
    lock(&core.residents.0).insert(circuit, resident.clone());
    Ok(resident)
}

/// Proves a job, one partition after the other.
pub(crate) async fn prove(core: Arc<Core>, job: Arc<Job>) {
    let proved = tokio::select! {
        proved = prove_all(&core, &job) => proved,
        () = job.token.cancelled() => return,
    };
    let outcome = match proved {
        Ok((proof, devices)) => JobOutcome::Completed {
            proof,
            devices,
            timings: job.timings(),
        },
        Err(error) => JobOutcome::Failed {
            error,
            timings: job.timings(),
        },
    };
    end(&core, &job, outcome);
}

async fn prove_all(
    core: &Arc<Core>,
    job: &Arc<Job>,
) -> Result<(stages::verify::VerifiedProof, Vec<usize>), JobError> {
    job.set_state(0, PartitionState::Loading);
    let resident = load(core, job.circuit, step(job, Stage::Load, None))
        .await
        .map_err(|source| JobError::Load {
            circuit: job.circuit,
            source,
        })?;
    let mut proofs = Vec::new();
    for partition in 0..job.num_partitions {
        let proof = prove_partition(core, job, partition, &resident).await?;
        if let Some(all) = job.add_proof(partition, &proof) {
            proofs = all;
        }
    }
    let devices = proofs.iter().map(|proof| proof.device).collect();
    let Some(statement) = job.statement() else {
        return Err(panicked(Stage::Verify, None));
    };
    let key = Arc::clone(&resident.verifying_key);
    let assembled = stages::assemble::assemble(proofs.iter().map(|proof| proof.proof).collect());
    let (verified, took) = core
        .steps
        .run(step(job, Stage::Verify, None), move || {
            stages::verify::verify(&*statement, &key, &assembled)
        })
        .await;
    job.add_time(Stage::Verify, took);
    match verified.map_err(|_| panicked(Stage::Verify, None))? {
        Ok(proof) => Ok((proof, devices)),
        Err(Unverified::Bad(partitions)) => Err(JobError::NotVerified {
            partition: partitions.first().copied().unwrap_or(0),
            device: 0,
            attempts: 1,
        }),
        Err(Unverified::Inputs(partition, source)) => {
            Err(JobError::Statement { partition, source })
        }
        Err(Unverified::Other(error)) => Err(JobError::Statement {
            partition: 0,
            source: PortError::new(ErrorClass::Internal, error),
        }),
    }
}

fn panicked(stage: Stage, partition: Option<usize>) -> JobError {
    JobError::Panicked { stage, partition }
}

async fn prove_partition(
    core: &Arc<Core>,
    job: &Arc<Job>,
    partition: usize,
    resident: &Resident,
) -> Result<PartitionProof, JobError> {
    let gone = |stage| panicked(stage, Some(partition));
    let statement = job.statement().ok_or_else(|| gone(Stage::Witness))?;
    let data = resident.circuit.circuit().clone();
    job.set_state(partition, PartitionState::Witness);
    let (prepared, took) = core
        .steps
        .run(step(job, Stage::Witness, Some(partition)), move || {
            stages::witness::witness(&*statement, partition, &data)
        })
        .await;
    job.add_time(Stage::Witness, took);
    let prepared = prepared
        .map_err(|_| gone(Stage::Witness))?
        .map_err(|source| JobError::Statement { partition, source })?;

    job.set_state(partition, PartitionState::Starting);
    let (device, circuit) = (Arc::clone(&core.devices[0]), resident.circuit.clone());
    let (pending, took) = core
        .steps
        .run(step(job, Stage::Start, Some(partition)), move || {
            stages::start::start(&*device, circuit, prepared)
        })
        .await;
    job.add_time(Stage::Start, took);
    let failed = |stage, source| JobError::Device {
        partition,
        device: 0,
        stage,
        attempts: 1,
        source,
    };
    let pending = pending
        .map_err(|_| gone(Stage::Start))?
        .map_err(|source| failed(Stage::Start, source))?;

    job.set_state(partition, PartitionState::Finishing);
    let device = Arc::clone(&core.devices[0]);
    let (proof, took) = core
        .steps
        .run(step(job, Stage::Finish, Some(partition)), move || {
            stages::finish::finish(&*device, pending)
        })
        .await;
    job.add_time(Stage::Finish, took);
    let proof = proof
        .map_err(|_| gone(Stage::Finish))?
        .map_err(|source| failed(Stage::Finish, source))?;
    Ok(PartitionProof { proof, device: 0 })
}

/// Ends a job; only the first call for a job has an effect, and says so.
pub(crate) fn end(core: &Core, job: &Job, outcome: JobOutcome) -> bool {
    let ending = match &outcome {
        JobOutcome::Completed { .. } => Ending::Completed,
        JobOutcome::Failed { error, .. } => Ending::Failed(error.class()),
        JobOutcome::Cancelled { reason, .. } => Ending::Cancelled(*reason),
    };
    let total = outcome.timings().total;
    let outcome = Arc::new(outcome);
    if !job.outcome.set(Arc::clone(&outcome)) {
        return false;
    }
    job.token.cancel();
    core.registry.keep(job, &outcome);
    if let Some(material) = job.take_material() {
        core.steps.reap(material);
    }
    core.bus.emit(Event::JobEnded {
        job: job.id,
        circuit: job.circuit,
        ending,
        total,
    });
    true
}

/// Cancels a job; says whether it was running.
pub(crate) fn cancel(core: &Core, job: &Job, reason: CancelReason) -> bool {
    end(
        core,
        job,
        JobOutcome::Cancelled {
            reason,
            timings: job.timings(),
        },
    )
}
