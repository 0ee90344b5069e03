//! From a message with fields for four kinds of proof to a request of one kind.

use std::time::Duration;

use cuzk_circuits::{PoRepRequest, PoStRequest, ProofRequest, SnapDealsRequest};
use cuzk_engine::{JobRequest, Priority};
use cuzk_proto::v1::{self, SubmitProofRequest};
use thiserror::Error;
use tokio::time::Instant;

/// Longest name of a client or a request that is kept and printed.
const MAX_TENANT_BYTES: usize = 64;
const MAX_REQUEST_ID_BYTES: usize = 256;

/// Why a message is no request, before its payload is looked at.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum MessageError {
    #[error("proof_kind is {found}, which is no kind of proof; kinds are 1 to 4")]
    Kind { found: i32 },
    #[error("priority is {found}, which is no priority; priorities are 0 to 4")]
    Priority { found: i32 },
    #[error("{field} is {found} bytes long, at most {limit} are allowed")]
    TooLong {
        field: &'static str,
        found: usize,
        limit: usize,
    },
    #[error("{field} is given, but a {kind} request has its payload in {expected}")]
    Payload {
        field: &'static str,
        kind: &'static str,
        expected: &'static str,
    },
}

/// The job that a message asks for; its deadline counts from now.
///
/// # Errors
/// With the field, for what cannot be read without decoding the payload.
pub(crate) fn job_request(message: SubmitProofRequest) -> Result<JobRequest, MessageError> {
    let priority = priority(message.priority)?;
    expect_short("request_id", &message.request_id, MAX_REQUEST_ID_BYTES)?;
    expect_short("tenant", &message.tenant, MAX_TENANT_BYTES)?;
    let deadline = (message.deadline_ms > 0)
        .then(|| Instant::now().checked_add(Duration::from_millis(message.deadline_ms)))
        .flatten();
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let (request_id, tenant) = (given(&message.request_id), given(&message.tenant));
    Ok(JobRequest {
        request_id,
        priority,
        deadline,
        tenant,
        ..JobRequest::new(proof_request(message)?)
    })
}

/// The message without its content: what is to be known about a job besides what it proves.
pub(crate) fn terms_of(message: &SubmitProofRequest) -> SubmitProofRequest {
    SubmitProofRequest {
        request_id: message.request_id.clone(),
        priority: message.priority,
        tenant: message.tenant.clone(),
        ..SubmitProofRequest::default()
    }
}

fn proof_request(message: SubmitProofRequest) -> Result<ProofRequest, MessageError> {
    let kind = v1::ProofKind::try_from(message.proof_kind);
    let error = MessageError::Kind {
        found: message.proof_kind,
    };
    match kind {
        Err(_) | Ok(v1::ProofKind::Unspecified) => Err(error),
        Ok(v1::ProofKind::PorepSealCommit) => porep(message).map(ProofRequest::PoRep),
        Ok(v1::ProofKind::SnapDealsUpdate) => {
            expect_list(&message, "SnapDeals")?;
            Ok(ProofRequest::SnapDeals(snap_deals(message)))
        }
        Ok(v1::ProofKind::WindowPostPartition) => {
            expect_list(&message, "WindowPoSt")?;
            Ok(ProofRequest::WindowPoSt(post(message)))
        }
        Ok(v1::ProofKind::WinningPost) => {
            expect_list(&message, "WinningPoSt")?;
            Ok(ProofRequest::WinningPoSt(post(message)))
        }
    }
}

fn porep(message: SubmitProofRequest) -> Result<PoRepRequest, MessageError> {
    if !message.vanilla_proofs.is_empty() {
        return Err(MessageError::Payload {
            field: "vanilla_proofs",
            kind: "PoRep",
            expected: "vanilla_proof",
        });
    }
    Ok(PoRepRequest {
        registered_proof: message.registered_proof,
        sector_size: message.sector_size,
        miner_id: message.miner_id,
        sector_number: message.sector_number,
        vanilla_proof: message.vanilla_proof,
    })
}

fn snap_deals(message: SubmitProofRequest) -> SnapDealsRequest {
    SnapDealsRequest {
        registered_proof: message.registered_proof,
        sector_size: message.sector_size,
        comm_r_old: message.comm_r_old,
        comm_r_new: message.comm_r_new,
        comm_d_new: message.comm_d_new,
        vanilla_proofs: message.vanilla_proofs,
    }
}

fn post(message: SubmitProofRequest) -> PoStRequest {
    PoStRequest {
        registered_proof: message.registered_proof,
        sector_size: message.sector_size,
        miner_id: message.miner_id,
        randomness: message.randomness,
        partition_index: message.partition_index,
        vanilla_proofs: message.vanilla_proofs,
    }
}

fn expect_list(message: &SubmitProofRequest, kind: &'static str) -> Result<(), MessageError> {
    if message.vanilla_proof.is_empty() {
        return Ok(());
    }
    Err(MessageError::Payload {
        field: "vanilla_proof",
        kind,
        expected: "vanilla_proofs",
    })
}

fn priority(found: i32) -> Result<Option<Priority>, MessageError> {
    match v1::Priority::try_from(found) {
        Err(_) => Err(MessageError::Priority { found }),
        Ok(v1::Priority::Unspecified) => Ok(None),
        Ok(v1::Priority::Low) => Ok(Some(Priority::Low)),
        Ok(v1::Priority::Normal) => Ok(Some(Priority::Normal)),
        Ok(v1::Priority::High) => Ok(Some(Priority::High)),
        Ok(v1::Priority::Critical) => Ok(Some(Priority::Critical)),
    }
}

fn expect_short(field: &'static str, text: &str, limit: usize) -> Result<(), MessageError> {
    if text.len() <= limit {
        return Ok(());
    }
    Err(MessageError::TooLong {
        field,
        found: text.len(),
        limit,
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn message(kind: i32) -> SubmitProofRequest {
        SubmitProofRequest {
            request_id: "r".into(),
            proof_kind: kind,
            registered_proof: 3,
            miner_id: 1000,
            ..SubmitProofRequest::default()
        }
    }

    #[test]
    fn each_kind_takes_its_fields() {
        let porep = SubmitProofRequest {
            vanilla_proof: Bytes::from_static(b"c1"),
            sector_number: 7,
            ..message(1)
        };
        let ProofRequest::PoRep(found) = job_request(porep).expect("valid").request else {
            panic!("another kind");
        };
        assert_eq!(
            (found.sector_number, &found.vanilla_proof[..]),
            (7, &b"c1"[..])
        );
        let post = SubmitProofRequest {
            vanilla_proofs: vec![Bytes::from_static(b"s")],
            partition_index: 2,
            ..message(3)
        };
        let ProofRequest::WindowPoSt(found) = job_request(post).expect("valid").request else {
            panic!("another kind");
        };
        assert_eq!((found.partition_index, found.vanilla_proofs.len()), (2, 1));
    }

    #[test]
    fn unknown_numbers_are_refused_with_the_number() {
        for kind in [0, 5, -1, i32::MAX] {
            let error = job_request(message(kind)).expect_err("no such kind");
            assert_eq!(error, MessageError::Kind { found: kind });
        }
        for priority in [-1, 5, 100] {
            let message = SubmitProofRequest {
                priority,
                ..message(4)
            };
            let error = job_request(message).expect_err("no such priority");
            assert_eq!(error, MessageError::Priority { found: priority });
        }
    }

    #[test]
    fn a_payload_in_the_field_of_another_kind_is_not_ignored() {
        let misplaced = Bytes::from_static(b"x");
        let porep = SubmitProofRequest {
            vanilla_proofs: vec![misplaced.clone()],
            ..message(1)
        };
        assert!(job_request(porep).is_err());
        for kind in 2..=4 {
            let message = SubmitProofRequest {
                vanilla_proof: misplaced.clone(),
                ..message(kind)
            };
            let error = job_request(message).expect_err("misplaced").to_string();
            assert!(error.contains("vanilla_proofs"), "{error}");
        }
    }

    #[test]
    fn nothing_given_is_none_and_not_an_empty_name() {
        let request = job_request(SubmitProofRequest {
            request_id: String::new(),
            ..message(4)
        })
        .expect("valid");
        assert_eq!((request.request_id, request.tenant), (None, None));
        assert_eq!((request.priority, request.deadline), (None, None));
    }

    #[test]
    fn names_of_any_length_are_not_kept() {
        let long = SubmitProofRequest {
            tenant: "t".repeat(MAX_TENANT_BYTES + 1),
            ..message(4)
        };
        let error = job_request(long).expect_err("too long").to_string();
        assert!(error.contains("tenant is 65 bytes"), "{error}");
    }

    #[test]
    fn a_deadline_beyond_the_end_of_time_is_no_deadline() {
        let far = SubmitProofRequest {
            deadline_ms: u64::MAX,
            ..message(4)
        };
        assert!(job_request(far).is_ok());
    }
}
