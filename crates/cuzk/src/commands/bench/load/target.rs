//! Who is loaded: an engine in this process or a daemon. Both are asked for a proof and for what they did in the same words.

use bytes::Bytes;
use cuzk_circuits::ProofRequest;
use cuzk_engine::{Engine, JobOutcome, JobRequest, JobStatus};
use cuzk_proto::v1::{GetMetricsRequest, ProveRequest};
use cuzk_server::process;

use super::observed::Observed;
use crate::client::{Client, Terms, expect_completed, from_status, message};

/// Whoever proves; cheap to clone.
#[derive(Clone)]
pub(super) enum Target {
    /// In this process.
    Engine(Engine),
    /// In another one.
    Daemon(Client),
}

impl Target {
    /// Asks for one proof and waits for it; an error is what a client is told.
    pub(super) async fn prove(&self, request: ProofRequest) -> Result<Bytes, String> {
        match self {
            Self::Engine(engine) => prove_in(engine, request).await,
            Self::Daemon(client) => {
                let submit = Some(message(request, &Terms::default()));
                let answer = client.clone().prove(ProveRequest { submit }).await;
                let answer = answer
                    .map_err(|status| from_status(&status).to_string())?
                    .into_inner();
                expect_completed(answer.result.unwrap_or_default())
                    .map(|answer| answer.proof)
                    .map_err(|error| error.to_string())
            }
        }
    }

    /// What was done so far.
    ///
    /// # Errors
    /// Daemon, when the daemon does not answer.
    pub(super) async fn observe(&self) -> anyhow::Result<Observed> {
        match self {
            Self::Engine(engine) => Ok(Observed::of_engine(&engine.snapshot())),
            Self::Daemon(client) => {
                let answer = client.clone().get_metrics(GetMetricsRequest {}).await;
                let answer = answer.map_err(|status| from_status(&status))?.into_inner();
                Ok(Observed::of_metrics(&answer.prometheus_text))
            }
        }
    }

    /// Waits until nothing is in flight. A daemon may have other clients, so it is not waited for.
    pub(super) async fn idle(&self) {
        if let Self::Engine(engine) = self {
            engine.idle().await;
        }
    }

    /// Resident memory now, where it is told.
    pub(super) async fn resident_bytes(&self) -> Option<u64> {
        match self {
            Self::Engine(_) => process::resident_bytes(),
            Self::Daemon(_) => self.observe().await.ok()?.resident_bytes,
        }
    }
}

async fn prove_in(engine: &Engine, request: ProofRequest) -> Result<Bytes, String> {
    let submitted = engine.submit(JobRequest::new(request)).await;
    let job = submitted.map_err(|error| error.to_string())?.job;
    let status = engine.wait(job, None).await;
    match status.map_err(|error| error.to_string())? {
        JobStatus::Running { .. } => Err(format!("job {job} goes on")),
        JobStatus::Ended(outcome) => match &*outcome {
            JobOutcome::Completed { proof, .. } => Ok(Bytes::copy_from_slice(proof.bytes())),
            JobOutcome::Failed { error, .. } => Err(error.to_string()),
            JobOutcome::Cancelled { reason, .. } => Err(reason.name().to_owned()),
        },
    }
}
