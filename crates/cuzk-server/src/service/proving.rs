//! The service `cuzk.v1.ProvingEngine`.

use std::{pin::Pin, sync::Arc, time::Duration};

use cuzk_circuits::CircuitId;
use cuzk_engine::{DeviceStatus, JobSummary};
use cuzk_proto::v1::{self, await_proof_response, proving_engine_server::ProvingEngine};
use tokio_stream::Stream;
use tonic::{Request, Response, Status};

use super::{
    Ledger,
    ledger::Accepted,
    watch::{ended, progress},
};
use crate::{
    observation::Observation,
    status_code::status_of,
    wire::{capabilities, job_info, ms, status_response},
};

/// Translates calls; cheap to clone.
#[derive(Clone)]
pub(crate) struct Proving {
    pub(crate) ledger: Ledger,
    pub(crate) observation: Arc<Observation>,
    pub(crate) max_message_bytes: usize,
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl ProvingEngine for Proving {
    async fn submit_proof(
        &self,
        request: Request<v1::SubmitProofRequest>,
    ) -> Answer<v1::SubmitProofResponse> {
        let answer = match self.ledger.accept(request.into_inner()).await? {
            Accepted::Kept(kept) => v1::SubmitProofResponse {
                job_id: kept.job_id,
                joined: true,
                ..v1::SubmitProofResponse::default()
            },
            Accepted::Job(submitted) => v1::SubmitProofResponse {
                job_id: submitted.job.to_string(),
                queue_position: u32::try_from(submitted.queue_position).unwrap_or(u32::MAX),
                assigned_gpu: self.device_name(submitted.device),
                joined: submitted.joined,
            },
        };
        Ok(Response::new(answer))
    }

    async fn await_proof(
        &self,
        request: Request<v1::AwaitProofRequest>,
    ) -> Answer<v1::AwaitProofResponse> {
        let v1::AwaitProofRequest { job_id, timeout_ms } = request.into_inner();
        let timeout = (timeout_ms > 0).then(|| Duration::from_millis(timeout_ms));
        let answer = self.ledger.wait(&job_id, timeout).await?;
        Ok(Response::new(answer.unwrap_or_else(|| {
            v1::AwaitProofResponse {
                job_id,
                status: await_proof_response::Status::Timeout.into(),
                ..v1::AwaitProofResponse::default()
            }
        })))
    }

    async fn prove(&self, request: Request<v1::ProveRequest>) -> Answer<v1::ProveResponse> {
        let message = request.into_inner().submit;
        let message = message.ok_or_else(|| Status::invalid_argument("submit is missing"))?;
        let result = match self.ledger.accept(message).await? {
            Accepted::Kept(kept) => Some(kept),
            Accepted::Job(submitted) => self.ledger.wait(&submitted.job.to_string(), None).await?,
        };
        Ok(Response::new(v1::ProveResponse { result }))
    }

    async fn cancel_proof(
        &self,
        request: Request<v1::CancelProofRequest>,
    ) -> Answer<v1::CancelProofResponse> {
        let job_id = request.into_inner().job_id;
        let was_running = self.ledger.cancel(&job_id).await?;
        Ok(Response::new(v1::CancelProofResponse { was_running }))
    }

    async fn get_status(&self, _: Request<v1::GetStatusRequest>) -> Answer<v1::GetStatusResponse> {
        let memory = self.observation.card_memory().await;
        let snapshot = self.ledger.engine().snapshot();
        Ok(Response::new(status_response(&snapshot, &memory)))
    }

    async fn get_metrics(
        &self,
        _: Request<v1::GetMetricsRequest>,
    ) -> Answer<v1::GetMetricsResponse> {
        Ok(Response::new(v1::GetMetricsResponse {
            prometheus_text: self.observation.metrics().await,
        }))
    }

    async fn preload_srs(
        &self,
        request: Request<v1::PreloadSrsRequest>,
    ) -> Answer<v1::PreloadSrsResponse> {
        let circuit = circuit(&request.into_inner().circuit_id)?;
        let preloaded = self.ledger.engine().preload(circuit).await;
        let preloaded = preloaded.map_err(|error| status_of(error.class(), &error))?;
        Ok(Response::new(v1::PreloadSrsResponse {
            already_loaded: preloaded.already_loaded,
            load_time_ms: ms(preloaded.took),
        }))
    }

    async fn evict_srs(
        &self,
        request: Request<v1::EvictSrsRequest>,
    ) -> Answer<v1::EvictSrsResponse> {
        let circuit = circuit(&request.into_inner().circuit_id)?;
        let freed = self.ledger.engine().evict(circuit);
        let freed = freed.map_err(|error| status_of(error.class(), &error))?;
        Ok(Response::new(v1::EvictSrsResponse {
            was_loaded: freed.is_some(),
            freed_bytes: freed.unwrap_or(0),
        }))
    }

    type WatchJobStream = Pin<Box<dyn Stream<Item = Result<v1::JobProgress, Status>> + Send>>;

    async fn watch_job(
        &self,
        request: Request<v1::WatchJobRequest>,
    ) -> Answer<Self::WatchJobStream> {
        let job_id = request.into_inner().job_id;
        let engine = self.ledger.engine();
        // Listening begins before the state is read, so that nothing falls between the two.
        let events = engine.subscribe();
        let running = engine
            .jobs()
            .into_iter()
            .find(|job| job.job.to_string() == job_id && job.outcome.is_none());
        let stream: Self::WatchJobStream = if let Some(job) = running {
            Box::pin(progress(self.ledger.clone(), job, events))
        } else {
            let answer = self.ledger.wait(&job_id, None).await?;
            Box::pin(tokio_stream::iter(answer.map(|answer| Ok(ended(answer)))))
        };
        Ok(Response::new(stream))
    }

    async fn list_jobs(
        &self,
        request: Request<v1::ListJobsRequest>,
    ) -> Answer<v1::ListJobsResponse> {
        let wanted = request.into_inner();
        let is_wanted = |job: &JobSummary| {
            let tenant = job.tenant.as_deref().unwrap_or_default();
            (!wanted.active_only || job.outcome.is_none())
                && (wanted.tenant.is_empty() || wanted.tenant == tenant)
        };
        let jobs = self.ledger.engine().jobs();
        let jobs = jobs.iter().filter(|job| is_wanted(job));
        Ok(Response::new(v1::ListJobsResponse {
            jobs: jobs.map(job_info).collect(),
        }))
    }

    async fn capabilities(
        &self,
        _: Request<v1::CapabilitiesRequest>,
    ) -> Answer<v1::CapabilitiesResponse> {
        let snapshot = self.ledger.engine().snapshot();
        let limit = self.max_message_bytes as u64;
        Ok(Response::new(capabilities(&snapshot, limit)))
    }
}

impl Proving {
    fn device_name(&self, device: Option<usize>) -> String {
        let snapshot = self.ledger.engine().snapshot();
        device
            .and_then(|index| snapshot.devices.get(index))
            .map_or_else(String::new, DeviceStatus::id)
    }
}

#[allow(
    clippy::result_large_err,
    reason = "the answers of the gRPC library carry its status by value"
)]
fn circuit(text: &str) -> Result<CircuitId, Status> {
    text.parse()
        .map_err(|error: cuzk_circuits::UnknownCircuit| Status::invalid_argument(error.to_string()))
}
