//! From a request to a job, or to a refusal that costs nothing.

use std::sync::Arc;

use cuzk_circuits::Family;
use tokio::time::Instant;

use crate::error::SubmitError;
use crate::events::{BufferClass, Event, Step};
use crate::jobs::{
    Job, JobId, JobParts, JobRequest, Material, RequestKey, content_hash, payload_bytes,
};
use crate::order::{Priority, Rank};
use crate::residency::needed_bytes;
use crate::shared::Core;
use crate::stages::{self, plan::JobPlan};
use crate::sync::lock;

/// What became of a request.
pub(crate) enum Admitted {
    /// It is a job.
    New(Arc<Job>),
    /// The same request made this job before.
    Joined(Arc<Job>),
}

/// Decodes a request and admits it.
pub(crate) async fn admit(core: &Core, request: JobRequest) -> Result<Admitted, SubmitError> {
    if *lock(&core.draining) {
        return Err(SubmitError::Draining);
    }
    let now = Instant::now();
    if request.deadline.is_some_and(|deadline| deadline <= now) {
        return Err(SubmitError::DeadlinePassed);
    }
    let key = request.request_id.clone().map(|request_id| RequestKey {
        request_id,
        content: content_hash(&request.request),
    });
    if let Some(job) = key.as_ref().and_then(|key| core.registry.find(key)) {
        return Ok(Admitted::Joined(job));
    }
    let (plan, material) = decode(core, &request).await?;
    expect_within_budget(core, &plan)?;
    let asked_for = request.job_id;
    let job = new_job(core, request, &plan, key, material);
    if let Err(twin) = insert(core, &job)? {
        return match asked_for {
            Some(id) if id == twin.id => Err(SubmitError::DuplicateJob { job: id }),
            _ => Ok(Admitted::Joined(twin)),
        };
    }
    core.bus.emit(Event::JobAccepted {
        job: job.id,
        circuit: job.circuit,
        num_partitions: job.num_partitions,
        priority: job.priority,
    });
    Ok(Admitted::New(job))
}

/// Adds a job, unless draining began while it was decoded: whoever began it finds all jobs that there will be.
fn insert(core: &Core, job: &Arc<Job>) -> Result<Result<(), Arc<Job>>, SubmitError> {
    let draining = lock(&core.draining);
    if *draining {
        return Err(SubmitError::Draining);
    }
    Ok(core.registry.insert(job))
}

/// Decodes within a place that is reserved first, so that a flood of bad requests takes no more than one of good ones.
async fn decode(core: &Core, request: &JobRequest) -> Result<(JobPlan, Material), SubmitError> {
    let bytes = payload_bytes(&request.request);
    let place = core.registry.reserve(bytes)?;
    let payload = core.bus.count(BufferClass::Payload, bytes);
    // What must be proved in seconds does not stand behind others' payloads.
    let _turn = match request.request.family() {
        Family::WinningPoSt => None,
        _ => core.decoders.acquire().await.ok(),
    };
    let (circuits, request) = (Arc::clone(&core.circuits), request.request.clone());
    let work = move || stages::decode::decode(&*circuits, &request);
    let (decoded, _) = core.steps.run(Step::DECODE, work).await;
    let plan = stages::plan::plan(decoded.map_err(|_| SubmitError::Panicked)??);
    let material = Material {
        statement: Arc::clone(&plan.statement),
        _place: place,
        _payload: payload,
        _present: core.presence.enter(),
    };
    Ok((plan, material))
}

/// Refuses at once what can never be proved here. What a circuit needs is known once it was loaded; a job for a circuit
/// that was not fails when its turn comes.
fn expect_within_budget(core: &Core, plan: &JobPlan) -> Result<(), SubmitError> {
    let circuit = plan.circuit;
    let peak = core.residency.footprints(circuit);
    let peak = peak.map_or(0, |footprints| footprints.peak_bytes());
    let needed = peak + needed_bytes(core, circuit)?;
    core.budget
        .expect_within(needed)
        .map_err(|over| SubmitError::TooLarge {
            circuit,
            needed_bytes: over.needed_bytes,
            budget_bytes: over.budget_bytes,
        })
}

fn new_job(
    core: &Core,
    request: JobRequest,
    plan: &JobPlan,
    key: Option<RequestKey>,
    material: Material,
) -> Arc<Job> {
    let default = Priority::default_of(plan.circuit.family);
    let priority = request.priority.unwrap_or(default);
    let (sequence, turn) = core.registry.next_turn(request.tenant.as_deref());
    Job::new(JobParts {
        id: request.job_id.unwrap_or_else(JobId::random),
        key,
        tenant: request.tenant,
        circuit: plan.circuit,
        num_partitions: plan.num_partitions,
        priority,
        deadline: request.deadline,
        rank: Rank::of_job(priority, request.deadline, turn, sequence),
        material,
    })
}
