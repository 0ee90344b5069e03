//! The one table from what a client can do about an error to the code of a gRPC status.

use std::time::Duration;

use cuzk_engine::{ErrorClass, SubmitError};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::journal::JournalError;

/// When a client should try again that was told that the engine is busy.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The code of an error of a call. A job that was accepted and failed is no error of a call.
pub(crate) const fn code_of(class: ErrorClass) -> Code {
    match class {
        ErrorClass::Invalid => Code::InvalidArgument,
        ErrorClass::Busy => Code::ResourceExhausted,
        // The request is good, this machine is not made for it: trying again is useless until it is changed.
        ErrorClass::Resource => Code::FailedPrecondition,
        ErrorClass::Device => Code::Unavailable,
        ErrorClass::Internal => Code::Internal,
    }
}

/// The status of an error with this class; a busy engine says when to try again.
pub(crate) fn status_of(class: ErrorClass, message: &impl ToString) -> Status {
    match code_of(class) {
        Code::ResourceExhausted => retry_later(message),
        code => Status::new(code, message.to_string()),
    }
}

/// `RESOURCE_EXHAUSTED` with a hint, as `google.rpc.RetryInfo` and in words.
pub(crate) fn retry_later(message: &impl ToString) -> Status {
    Status::with_error_details(
        Code::ResourceExhausted,
        format!(
            "{}; try again in {} s",
            message.to_string(),
            RETRY_AFTER.as_secs()
        ),
        ErrorDetails::with_retry_info(Some(RETRY_AFTER)),
    )
}

/// The status of a request that the engine does not admit.
pub(crate) fn refusal(error: &SubmitError) -> Status {
    match error {
        SubmitError::Draining => Status::unavailable(error.to_string()),
        error => status_of(error.class(), error),
    }
}

/// The status of a request that cannot be written down.
pub(crate) fn journal_refusal(error: &JournalError) -> Status {
    if error.is_full() {
        return retry_later(error);
    }
    Status::internal(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_own_code() {
        let classes = [
            ErrorClass::Invalid,
            ErrorClass::Busy,
            ErrorClass::Resource,
            ErrorClass::Device,
            ErrorClass::Internal,
        ];
        for (index, class) in classes.into_iter().enumerate() {
            for other in &classes[..index] {
                assert_ne!(code_of(class), code_of(*other), "{class} and {other}");
            }
        }
    }

    #[test]
    fn a_busy_engine_says_when_to_try_again_and_others_do_not() {
        let busy = status_of(ErrorClass::Busy, &"1000 jobs wait");
        let hint = busy.get_error_details().retry_info().cloned();
        assert_eq!(hint.and_then(|hint| hint.retry_delay), Some(RETRY_AFTER));
        assert!(busy.message().contains("1000 jobs wait"));
        let invalid = status_of(ErrorClass::Invalid, &"bad");
        assert!(invalid.get_error_details().retry_info().is_none());
        assert_eq!(invalid.message(), "bad");
    }

    #[test]
    fn a_draining_engine_is_unavailable_so_that_clients_look_elsewhere() {
        assert_eq!(refusal(&SubmitError::Draining).code(), Code::Unavailable);
    }
}
