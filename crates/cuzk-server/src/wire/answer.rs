//! How a job ended, as clients read it.

use std::time::Duration;

use bytes::Bytes;
use cuzk_engine::{CancelReason, JobId, JobOutcome, JobTimings};
use cuzk_proto::v1::{AwaitProofResponse, await_proof_response::Status};

/// The answer about a job that ended; `device_id` names a device by its index.
pub(crate) fn answer_of(
    job: JobId,
    outcome: &JobOutcome,
    device_id: impl Fn(usize) -> String,
) -> AwaitProofResponse {
    let base = with_timings(job, outcome.timings());
    match outcome {
        JobOutcome::Completed { proof, devices, .. } => {
            let mut names: Vec<String> = Vec::new();
            for name in devices.iter().map(|&device| device_id(device)) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            AwaitProofResponse {
                status: Status::Completed.into(),
                proof: Bytes::copy_from_slice(proof.bytes()),
                devices: names,
                ..base
            }
        }
        JobOutcome::Failed { error, .. } => AwaitProofResponse {
            status: Status::Failed.into(),
            error_message: error.to_string(),
            error_class: error.class().name().to_owned(),
            ..base
        },
        // A client that set a deadline learns that it was missed, not that somebody gave up.
        JobOutcome::Cancelled { reason, .. } => AwaitProofResponse {
            status: match reason {
                CancelReason::DeadlinePassed => Status::Failed.into(),
                _ => Status::Cancelled.into(),
            },
            error_message: reason.name().to_owned(),
            ..base
        },
    }
}

fn with_timings(job: JobId, timings: &JobTimings) -> AwaitProofResponse {
    AwaitProofResponse {
        job_id: job.to_string(),
        queue_wait_ms: ms(timings.queue_wait),
        srs_load_ms: ms(timings.load),
        synthesis_ms: ms(timings.witness),
        gpu_compute_ms: ms(timings.device),
        verify_ms: ms(timings.verify),
        total_ms: ms(timings.total),
        ..AwaitProofResponse::default()
    }
}

/// Whole milliseconds, rounded up so that what took time never reads as none.
pub(crate) fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cancelled(reason: CancelReason) -> AwaitProofResponse {
        let timings = JobTimings {
            total: Duration::from_micros(1500),
            witness: Duration::from_nanos(1),
            ..JobTimings::default()
        };
        let outcome = JobOutcome::Cancelled { reason, timings };
        answer_of(JobId::random(), &outcome, |device| device.to_string())
    }

    #[test]
    fn a_missed_deadline_is_a_failure_and_a_cancelled_job_is_cancelled() {
        let missed = cancelled(CancelReason::DeadlinePassed);
        assert_eq!(missed.status(), Status::Failed);
        assert!(missed.error_message.contains("deadline"));
        assert_eq!(
            cancelled(CancelReason::Requested).status(),
            Status::Cancelled
        );
    }

    #[test]
    fn times_are_whole_milliseconds_and_some_time_is_never_none() {
        let answer = cancelled(CancelReason::Requested);
        assert_eq!(
            (answer.total_ms, answer.synthesis_ms, answer.verify_ms),
            (2, 1, 0)
        );
    }
}
