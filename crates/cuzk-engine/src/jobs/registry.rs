//! All jobs: who is admitted, which request is which job, and how long results are kept.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use cuzk_groth16::PROOF_BYTES;
use tokio::time::Instant;

use super::content::RequestKey;
use super::job::Job;
use super::{JobId, JobOutcome};
use crate::bus::{Bus, Counted};
use crate::error::SubmitError;
use crate::events::BufferClass;
use crate::sync::{Mutex, lock};

/// Limits of a registry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_jobs: usize,
    pub(crate) max_bytes: u64,
    pub(crate) retention: Duration,
    pub(crate) max_result_bytes: u64,
    pub(crate) fair_tenants: bool,
}

/// All jobs, unfinished and kept.
pub(crate) struct Registry {
    limits: Limits,
    bus: Arc<Bus>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    jobs: HashMap<JobId, Arc<Job>>,
    requests: HashMap<RequestKey, JobId>,
    /// Ended jobs, the oldest first.
    ended: VecDeque<Ended>,
    result_bytes: u64,
    num_queued: usize,
    queued_bytes: u64,
    sequence: u64,
    turns: HashMap<String, u64>,
}

struct Ended {
    at: Instant,
    job: JobId,
    key: Option<RequestKey>,
    bytes: u64,
    result: Counted,
}

/// A job's share of what may wait, given back when dropped.
pub(crate) struct Place {
    state: Arc<Mutex<State>>,
    bytes: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        state.num_queued -= 1;
        state.queued_bytes -= self.bytes;
    }
}

impl Registry {
    pub(crate) fn new(limits: Limits, bus: Arc<Bus>) -> Self {
        Self {
            limits,
            bus,
            state: Arc::default(),
        }
    }

    /// The job that this request joins: one that runs, or completed and is kept. A job that failed is not joined, since
    /// the client tries again.
    pub(crate) fn find(&self, key: &RequestKey) -> Option<Arc<Job>> {
        let mut state = lock(&self.state);
        self.forget_old(&mut state);
        let job = state.jobs.get(state.requests.get(key)?)?;
        match job.outcome.get().as_deref() {
            None | Some(JobOutcome::Completed { .. }) => Some(Arc::clone(job)),
            Some(_) => None,
        }
    }

    /// Reserves a place for a request of this size.
    pub(crate) fn reserve(&self, payload_bytes: u64) -> Result<Place, SubmitError> {
        let mut state = lock(&self.state);
        if state.num_queued >= self.limits.max_jobs {
            return Err(SubmitError::TooManyJobs {
                num_queued: state.num_queued,
                limit: self.limits.max_jobs,
            });
        }
        if state.queued_bytes + payload_bytes > self.limits.max_bytes {
            return Err(SubmitError::TooManyBytes {
                queued_bytes: state.queued_bytes,
                payload_bytes,
                limit_bytes: self.limits.max_bytes,
            });
        }
        state.num_queued += 1;
        state.queued_bytes += payload_bytes;
        Ok(Place {
            state: Arc::clone(&self.state),
            bytes: payload_bytes,
        })
    }

    /// The next job's sequence number and the turn of its tenant.
    pub(crate) fn next_turn(&self, tenant: Option<&str>) -> (u64, u64) {
        let mut state = lock(&self.state);
        state.sequence += 1;
        let sequence = state.sequence;
        if !self.limits.fair_tenants {
            return (sequence, 0);
        }
        // A tenant's next job stands behind as many jobs of each other tenant as it has waiting itself.
        let served = state
            .jobs
            .values()
            .filter(|job| job.outcome.get().is_none());
        let first = served.map(|job| job.rank.turn()).min().unwrap_or(0);
        let turn = state
            .turns
            .entry(tenant.unwrap_or_default().to_owned())
            .or_default();
        *turn = (*turn + 1).max(first);
        (sequence, *turn)
    }

    /// Adds a job, unless there is one of the same id or the same request came in at the same time.
    pub(crate) fn insert(&self, job: &Arc<Job>) -> Result<(), Arc<Job>> {
        let mut state = lock(&self.state);
        let twin = job.key.as_ref().and_then(|key| state.requests.get(key));
        let twin = twin.and_then(|twin| state.jobs.get(twin));
        let twin = twin.filter(|twin| twin.outcome.get().is_none());
        if let Some(same) = state.jobs.get(&job.id).or(twin) {
            return Err(Arc::clone(same));
        }
        if let Some(key) = &job.key {
            state.requests.insert(key.clone(), job.id);
        }
        state.jobs.insert(job.id, Arc::clone(job));
        Ok(())
    }

    /// Keeps an ended job's result for a while.
    pub(crate) fn keep(&self, job: &Job, outcome: &JobOutcome) {
        let payload = match outcome {
            JobOutcome::Completed { proof, .. } => proof.bytes().len(),
            // An error message takes about as much as a proof.
            JobOutcome::Failed { .. } | JobOutcome::Cancelled { .. } => PROOF_BYTES,
        };
        let bytes = (payload + size_of::<Job>()) as u64;
        let mut state = lock(&self.state);
        state.result_bytes += bytes;
        state.ended.push_back(Ended {
            at: Instant::now(),
            job: job.id,
            key: job.key.clone(),
            bytes,
            result: self.bus.count(BufferClass::Result, bytes),
        });
        self.forget_old(&mut state);
    }

    pub(crate) fn get(&self, id: JobId) -> Option<Arc<Job>> {
        let mut state = lock(&self.state);
        self.forget_old(&mut state);
        state.jobs.get(&id).cloned()
    }

    /// All jobs, the oldest first.
    pub(crate) fn all(&self) -> Vec<Arc<Job>> {
        let mut state = lock(&self.state);
        self.forget_old(&mut state);
        let mut jobs: Vec<_> = state.jobs.values().cloned().collect();
        jobs.sort_by_key(|job| job.rank.sequence());
        jobs
    }

    /// Unfinished jobs, the oldest first.
    pub(crate) fn unfinished(&self) -> Vec<Arc<Job>> {
        let mut jobs = self.all();
        jobs.retain(|job| job.outcome.get().is_none());
        jobs
    }

    /// Payload bytes of unfinished jobs.
    pub(crate) fn queued_bytes(&self) -> u64 {
        lock(&self.state).queued_bytes
    }

    fn forget_old(&self, state: &mut State) {
        while let Some(oldest) = state.ended.front() {
            let is_kept = oldest.at.elapsed() < self.limits.retention
                && state.result_bytes <= self.limits.max_result_bytes;
            if is_kept {
                return;
            }
            let Some(ended) = state.ended.pop_front() else {
                return;
            };
            state.result_bytes -= ended.bytes;
            state.jobs.remove(&ended.job);
            if let Some(key) = &ended.key
                && state.requests.get(key) == Some(&ended.job)
            {
                state.requests.remove(key);
            }
            drop(ended.result);
        }
    }
}
