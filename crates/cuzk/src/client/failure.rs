//! What a daemon's refusal means for the exit code.

use cuzk_proto::v1::{AwaitProofResponse, await_proof_response};
use tonic::{Code, Status};

use crate::exit::{ExitClass, failure};

/// The failure of a call, with the daemon's words.
pub(crate) fn from_status(status: &Status) -> anyhow::Error {
    // A status with a cause was made on this side of a broken connection, whatever its code.
    let is_broken = std::error::Error::source(status).is_some();
    let class = match status.code() {
        _ if is_broken => ExitClass::Daemon,
        Code::InvalidArgument | Code::NotFound => ExitClass::InvalidInput,
        Code::FailedPrecondition => ExitClass::Key,
        Code::Internal | Code::Unimplemented => ExitClass::Internal,
        _ => ExitClass::Daemon,
    };
    failure(
        class,
        format!("the daemon: {} ({:?})", status.message(), status.code()),
    )
}

/// The answer, if it holds a proof.
///
/// # Errors
/// Invalid input, resource, internal or daemon, with the daemon's words.
pub(crate) fn expect_completed(answer: AwaitProofResponse) -> anyhow::Result<AwaitProofResponse> {
    use await_proof_response::Status;
    let class = match answer.status() {
        Status::Completed => return Ok(answer),
        Status::Failed => match answer.error_class.as_str() {
            "invalid" => ExitClass::InvalidInput,
            "resource" => ExitClass::Resource,
            _ => ExitClass::Internal,
        },
        Status::Cancelled | Status::Timeout | Status::Unknown => ExitClass::Daemon,
    };
    Err(failure(
        class,
        format!(
            "job {} {}: {}",
            answer.job_id,
            answer.status().as_str_name().to_lowercase(),
            answer.error_message
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::class_of;

    #[test]
    fn a_refused_request_and_a_busy_daemon_have_different_codes() {
        let class = |status: &Status| class_of(&from_status(status));
        assert_eq!(
            class(&Status::invalid_argument("x")),
            ExitClass::InvalidInput
        );
        assert_eq!(class(&Status::resource_exhausted("x")), ExitClass::Daemon);
        assert_eq!(class(&Status::unavailable("x")), ExitClass::Daemon);
    }

    #[test]
    fn a_failed_proof_is_a_failure_with_the_words_of_the_daemon() {
        let answer = AwaitProofResponse {
            job_id: "j".into(),
            status: await_proof_response::Status::Failed.into(),
            error_message: "constraint 7".into(),
            error_class: "invalid".into(),
            ..AwaitProofResponse::default()
        };
        let error = expect_completed(answer).expect_err("failed");
        assert_eq!(class_of(&error), ExitClass::InvalidInput);
        assert_eq!(error.to_string(), "job j failed: constraint 7");
    }
}
