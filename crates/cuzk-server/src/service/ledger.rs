//! Jobs as clients know them: in the engine while they run, in the journal once they ended.
//!
//! The engine decides what a job is. The ledger sees to it that an acceptance is written down before it is answered, and a
//! result before it is answered, whoever asks first and also when nobody asks.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cuzk_engine::{
    CancelReason, DeviceStatus, Engine, ErrorClass, Event, JobId, JobOutcome, JobRequest,
    JobStatus, Stamped, Submitted, UnknownJob,
};
use cuzk_proto::v1::{AwaitProofResponse, SubmitProofRequest, await_proof_response};
use tokio::{
    sync::{
        OnceCell,
        broadcast::{Receiver, error::RecvError},
    },
    time::Instant,
};
use tonic::Status;

use crate::{
    journal::{Acceptance, Identity, Journal, JournalError, Unfinished, unix_ms},
    status_code::{journal_refusal, refusal},
    wire::{answer_of, job_request, terms_of},
};

/// The jobs of one daemon; cheap to clone.
#[derive(Clone)]
pub(crate) struct Ledger {
    engine: Engine,
    journal: Option<Arc<Journal>>,
    /// Jobs that are being written down, so that two clients of one job write it once and wait for the same disk.
    accepting: Arc<Mutex<HashMap<JobId, Arc<OnceCell<()>>>>>,
}

/// What became of a request.
pub(crate) enum Accepted {
    /// A job of the engine.
    Job(Submitted),
    /// The kept result of an earlier job.
    Kept(AwaitProofResponse),
}

impl Ledger {
    /// A ledger over an engine; without a journal, jobs end with the daemon.
    pub(crate) fn new(engine: Engine, journal: Option<Arc<Journal>>) -> Self {
        Self {
            engine,
            journal,
            accepting: Arc::default(),
        }
    }

    /// The engine.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Accepts a request. The work goes on when the caller goes away in the middle, so that nothing is half written.
    ///
    /// # Errors
    /// The status that the client gets.
    pub(crate) async fn accept(&self, message: SubmitProofRequest) -> Result<Accepted, Status> {
        let ledger = self.clone();
        tokio::spawn(async move { ledger.accept_message(message).await })
            .await
            .unwrap_or_else(|error| Err(Status::internal(format!("accepting a job: {error}"))))
    }

    async fn accept_message(&self, message: SubmitProofRequest) -> Result<Accepted, Status> {
        let request = job_request(message.clone())
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        if let Some(answer) = self.kept_proof(&message).await? {
            return Ok(Accepted::Kept(answer));
        }
        let submitted = self
            .engine
            .submit(request)
            .await
            .map_err(|error| refusal(&error))?;
        let written = self.write_acceptance(submitted.job, message).await;
        if let Err(error) = written {
            tracing::error!(job = %submitted.job, %error, "a job cannot be written down and is refused");
            // It has ended already where this fails.
            let _ = self.engine.cancel(submitted.job);
            return Err(journal_refusal(&error));
        }
        Ok(Accepted::Job(submitted))
    }

    /// The proof that an earlier daemon made for the same request. A failure is not kept from being tried again.
    async fn kept_proof(
        &self,
        message: &SubmitProofRequest,
    ) -> Result<Option<AwaitProofResponse>, Status> {
        if message.request_id.is_empty() {
            return Ok(None);
        }
        let message = message.clone();
        let kept = self.in_journal(move |journal| {
            let digest = || Identity::of(&message).digest;
            match journal.job_of(&message.request_id, digest)? {
                Some(job) => journal.answer(&job),
                None => Ok(None),
            }
        });
        let answer = kept.await.map_err(|error| journal_refusal(&error))?;
        let completed = |answer: &AwaitProofResponse| {
            answer.status() == await_proof_response::Status::Completed
        };
        Ok(answer.flatten().filter(completed))
    }

    async fn write_acceptance(
        &self,
        job: JobId,
        message: SubmitProofRequest,
    ) -> Result<(), JournalError> {
        let cell = Arc::clone(self.accepting().entry(job).or_default());
        let written = cell.get_or_try_init(|| self.write_once(job, message)).await;
        self.accepting().remove(&job);
        written?;
        // A job that was faster than the disk has ended unnoticed.
        if let Ok(JobStatus::Ended(outcome)) = self.engine.status(job) {
            self.record(job, &outcome).await;
        }
        Ok(())
    }

    async fn write_once(
        &self,
        job: JobId,
        message: SubmitProofRequest,
    ) -> Result<(), JournalError> {
        let write = move |journal: &Journal| {
            let Identity { content, digest } = Identity::of(&message);
            let deadline_ms = (message.deadline_ms > 0).then_some(message.deadline_ms);
            journal.accept(&Acceptance {
                job: job.to_string(),
                content,
                digest,
                terms: terms_of(&message),
                deadline_unix_ms: deadline_ms.map(|ms| unix_ms().saturating_add(ms)),
            })
        };
        self.in_journal(write).await.map(drop)
    }

    /// Waits for the end of a job, at most for `timeout`; `None` when the time is over.
    ///
    /// # Errors
    /// `NOT_FOUND`; `UNAVAILABLE` when the daemon shuts down or its devices are lost before the job is done.
    pub(crate) async fn wait(
        &self,
        job: &str,
        timeout: Option<Duration>,
    ) -> Result<Option<AwaitProofResponse>, Status> {
        let known = match job.parse::<JobId>() {
            Ok(id) => self.wait_in_engine(id, timeout).await,
            Err(_) => return Err(not_found(job)),
        };
        match known {
            Ok(answer) => answer,
            Err(UnknownJob(_)) => self.kept(job).await.map(Some),
        }
    }

    async fn wait_in_engine(
        &self,
        job: JobId,
        timeout: Option<Duration>,
    ) -> Result<Result<Option<AwaitProofResponse>, Status>, UnknownJob> {
        // Held while this client waits: the last one that goes away may end the job.
        let _attendance = self.engine.attend(job)?;
        match self.engine.wait(job, timeout).await? {
            JobStatus::Running { .. } => Ok(Ok(None)),
            JobStatus::Ended(outcome) => Ok(self.answer(job, &outcome).await.map(Some)),
        }
    }

    /// The answer about a job that ended, written down first.
    pub(crate) async fn answer(
        &self,
        job: JobId,
        outcome: &JobOutcome,
    ) -> Result<AwaitProofResponse, Status> {
        if let Some(reason) = interruption(outcome) {
            let reason = reason.name();
            return Err(Status::unavailable(if self.journal.is_some() {
                format!("{reason}; the job is written down and goes on after a restart")
            } else {
                reason.to_owned()
            }));
        }
        Ok(self.record(job, outcome).await)
    }

    /// Writes the end of a job down. An answer that cannot be written is given all the same: the job is proved once more
    /// after a restart, and no proof is wrong.
    async fn record(&self, job: JobId, outcome: &JobOutcome) -> AwaitProofResponse {
        let snapshot = self.engine.snapshot();
        let answer = answer_of(job, outcome, |index| {
            snapshot
                .devices
                .get(index)
                .map_or_else(String::new, DeviceStatus::id)
        });
        if interruption(outcome).is_some() {
            return answer;
        }
        let written = answer.clone();
        let end = move |journal: &Journal| journal.end(&written.job_id, &written);
        if let Err(error) = self.in_journal(end).await {
            tracing::error!(%job, %error, "a result cannot be written down");
        }
        answer
    }

    async fn kept(&self, job: &str) -> Result<AwaitProofResponse, Status> {
        let id = job.to_owned();
        let kept = self.in_journal(move |journal| journal.answer(&id)).await;
        kept.map_err(|error| journal_refusal(&error))?
            .flatten()
            .ok_or_else(|| not_found(job))
    }

    /// Cancels a job; says whether it was running.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub(crate) async fn cancel(&self, job: &str) -> Result<bool, Status> {
        let id = job.parse::<JobId>().map_err(|_| not_found(job))?;
        match self.engine.cancel(id) {
            Ok(was_running) => Ok(was_running),
            Err(UnknownJob(_)) => self.kept(job).await.map(|_| false),
        }
    }

    /// Takes up the jobs that an earlier daemon accepted and did not finish; says how many. Where fewer fit into the queue
    /// than before, it waits until some have ended.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub(crate) async fn resume(&self) -> Result<usize, JournalError> {
        let mut events = self.engine.subscribe();
        let unfinished = self.in_journal(Journal::unfinished).await?;
        let unfinished = unfinished.unwrap_or_default();
        let num_jobs = unfinished.len();
        for job in unfinished {
            let job = Arc::new(job);
            while !self.resume_job(&job).await? {
                // Every event may be the end of a job; what else it is costs one more attempt.
                let _ = events.recv().await;
            }
        }
        Ok(num_jobs)
    }

    /// Whether the job was taken up, or ended because it cannot be; not when the engine has no room for it yet.
    async fn resume_job(&self, unfinished: &Arc<Unfinished>) -> Result<bool, JournalError> {
        let job = &unfinished.job;
        let wanted = Arc::clone(unfinished);
        let message = self
            .in_journal(move |journal| journal.request(&wanted))
            .await;
        let submitted = match message {
            Ok(message) => {
                let message = message.unwrap_or_default();
                self.submit_again(unfinished, message).await
            }
            // It must not keep the daemon from its other jobs.
            Err(error) if error.is_of_one_job() => Err((ErrorClass::Resource, error.to_string())),
            Err(error) => return Err(error),
        };
        match submitted {
            Ok(()) => tracing::info!(%job, "a job of an earlier run goes on"),
            Err((ErrorClass::Busy, _)) => return Ok(false),
            Err((class, error)) => {
                tracing::warn!(%job, %error, "a job of an earlier run is refused");
                let answer = AwaitProofResponse {
                    job_id: job.clone(),
                    status: await_proof_response::Status::Failed.into(),
                    error_message: error,
                    error_class: class.name().to_owned(),
                    ..AwaitProofResponse::default()
                };
                let end = move |journal: &Journal| journal.end(&answer.job_id, &answer);
                self.in_journal(end).await?;
            }
        }
        Ok(true)
    }

    async fn submit_again(
        &self,
        unfinished: &Unfinished,
        message: SubmitProofRequest,
    ) -> Result<(), (ErrorClass, String)> {
        let invalid = |error: String| (ErrorClass::Invalid, error);
        let request = job_request(message).map_err(|error| invalid(error.to_string()))?;
        let job = unfinished.job.parse::<JobId>();
        let job = job.map_err(|error| invalid(error.to_string()))?;
        let remaining = |at: u64| Duration::from_millis(at.saturating_sub(unix_ms()));
        let request = JobRequest {
            deadline: unfinished
                .deadline_unix_ms
                .map(|at| Instant::now() + remaining(at)),
            job_id: Some(job),
            ..request
        };
        match self.engine.submit(request).await {
            Ok(_) => Ok(()),
            Err(error) => Err((error.class(), error.to_string())),
        }
    }

    /// Writes down the end of every job until the events end; the task for jobs that nobody waits for.
    pub(crate) async fn record_endings(self, mut events: Receiver<Stamped>) {
        loop {
            match events.recv().await {
                Ok(stamped) => {
                    if let Event::JobEnded { job, .. } = stamped.event {
                        self.record_ended(job).await;
                    }
                }
                Err(RecvError::Lagged(_)) => {
                    for job in self.engine.jobs() {
                        self.record_ended(job.job).await;
                    }
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn record_ended(&self, job: JobId) {
        if let Ok(JobStatus::Ended(outcome)) = self.engine.status(job) {
            self.record(job, &outcome).await;
        }
    }

    /// Runs a call of the journal where waiting for the disk is allowed; `None` where there is no journal.
    async fn in_journal<R: Send + 'static>(
        &self,
        call: impl FnOnce(&Journal) -> Result<R, JournalError> + Send + 'static,
    ) -> Result<Option<R>, JournalError> {
        let Some(journal) = self.journal.clone() else {
            return Ok(None);
        };
        let done = tokio::task::spawn_blocking(move || call(&journal)).await;
        done.map_err(|_| JournalError::Panicked)?.map(Some)
    }

    fn accepting(&self) -> std::sync::MutexGuard<'_, HashMap<JobId, Arc<OnceCell<()>>>> {
        // The map is whole between any two of its operations.
        self.accepting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a job stopped that nobody wanted to; such a job is not over.
fn interruption(outcome: &JobOutcome) -> Option<CancelReason> {
    match outcome {
        JobOutcome::Cancelled { reason, .. } if reason.is_interruption() => Some(*reason),
        _ => None,
    }
}

fn not_found(job: &str) -> Status {
    Status::not_found(format!("no job {job:?}, or its result is no longer kept"))
}
