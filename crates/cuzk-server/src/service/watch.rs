//! The progress of one job as a stream that ends with its result.

use std::time::Duration;

use cuzk_engine::{Event, JobId, JobSummary, Stamped};
use cuzk_proto::v1::{AwaitProofResponse, JobProgress, JobState, await_proof_response::Status};
use tokio::sync::{
    broadcast::{self, error::RecvError},
    mpsc,
};
use tokio_stream::{Stream, wrappers::ReceiverStream};

use super::Ledger;
use crate::wire::ms;

/// Messages that may wait for a slow reader; then progress waits, and what the reader missed is left out.
const READER_BACKLOG: usize = 64;

type Item = Result<JobProgress, tonic::Status>;

/// The events of a running job from now on, and its result.
pub(super) fn progress(
    ledger: Ledger,
    job: JobSummary,
    events: broadcast::Receiver<Stamped>,
) -> impl Stream<Item = Item> + Send {
    let (sender, receiver) = mpsc::channel(READER_BACKLOG);
    tokio::spawn(async move {
        // The reader has gone away when a message cannot be sent.
        let _ = send_progress(&ledger, &job, events, &sender).await;
    });
    ReceiverStream::new(receiver)
}

async fn send_progress(
    ledger: &Ledger,
    job: &JobSummary,
    mut events: broadcast::Receiver<Stamped>,
    sender: &mpsc::Sender<Item>,
) -> Result<(), mpsc::error::SendError<Item>> {
    let accepted_at = ledger.engine().snapshot().uptime.saturating_sub(job.age);
    sender.send(Ok(now(job.job, job.age))).await?;
    loop {
        match events.recv().await {
            Ok(stamped) => {
                if matches!(stamped.event, Event::JobEnded { job: ended, .. } if ended == job.job) {
                    break;
                }
                if let Some(step) = step(job.job, &stamped, accepted_at) {
                    sender.send(Ok(step)).await?;
                }
            }
            // What was missed may have been the end.
            Err(RecvError::Lagged(_)) => {
                let job_status = ledger.engine().status(job.job);
                if !matches!(job_status, Ok(cuzk_engine::JobStatus::Running { .. })) {
                    break;
                }
            }
            Err(RecvError::Closed) => break,
        }
    }
    match ledger.wait(&job.job.to_string(), None).await {
        Ok(Some(answer)) => sender.send(Ok(ended(answer))).await,
        Ok(None) => Ok(()),
        Err(status) => sender.send(Err(status)).await,
    }
}

fn now(job: JobId, age: Duration) -> JobProgress {
    JobProgress {
        job_id: job.to_string(),
        state: JobState::Waiting.into(),
        elapsed_ms: ms(age),
        ..JobProgress::default()
    }
}

/// A step of this job that begins.
fn step(job: JobId, stamped: &Stamped, accepted_at: Duration) -> Option<JobProgress> {
    let Event::StepBegan { step } = &stamped.event else {
        return None;
    };
    (step.job == Some(job)).then(|| JobProgress {
        job_id: job.to_string(),
        state: JobState::Running.into(),
        stage: step.stage.name().to_owned(),
        partition_index: step
            .partition
            .map(|index| u32::try_from(index).unwrap_or(u32::MAX)),
        elapsed_ms: ms(stamped.at.saturating_sub(accepted_at)),
        result: None,
    })
}

/// The last message.
pub(super) fn ended(answer: AwaitProofResponse) -> JobProgress {
    let state = match answer.status() {
        Status::Completed => JobState::Completed,
        Status::Cancelled => JobState::Cancelled,
        Status::Failed | Status::Unknown | Status::Timeout => JobState::Failed,
    };
    JobProgress {
        job_id: answer.job_id.clone(),
        state: state.into(),
        elapsed_ms: answer.total_ms,
        result: Some(answer),
        ..JobProgress::default()
    }
}
