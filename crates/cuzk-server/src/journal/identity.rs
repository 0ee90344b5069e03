//! Is this the same request? Request ids are not unique in practice, so a request is the same only when its content is.

use bytes::Bytes;
use cuzk_proto::v1::SubmitProofRequest;
use prost::Message as _;
use sha2::{Digest as _, Sha256};

/// A request without the terms on which it is to be proved, encoded, and its digest.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// The encoded request, which is what the spool keeps.
    pub(crate) content: Bytes,
    /// SHA-256 of it.
    pub(crate) digest: [u8; 32],
}

impl Identity {
    /// Encodes and hashes; takes time in proportion to the payload.
    pub(crate) fn of(request: &SubmitProofRequest) -> Self {
        let content = SubmitProofRequest {
            priority: 0,
            deadline_ms: 0,
            tenant: String::new(),
            // Payloads are shared, so this copies pointers.
            ..request.clone()
        }
        .encode_to_vec();
        let digest = Sha256::digest(&content).into();
        Self {
            content: content.into(),
            digest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> SubmitProofRequest {
        SubmitProofRequest {
            request_id: "wdpost-1".into(),
            proof_kind: 3,
            vanilla_proofs: vec![Bytes::from_static(b"a"), Bytes::from_static(b"b")],
            ..SubmitProofRequest::default()
        }
    }

    #[test]
    fn terms_are_no_part_of_a_request_and_content_is() {
        let same = SubmitProofRequest {
            priority: 4,
            deadline_ms: 9,
            tenant: "t".into(),
            ..request()
        };
        assert_eq!(Identity::of(&same).digest, Identity::of(&request()).digest);
        for other in [
            SubmitProofRequest {
                request_id: "wdpost-2".into(),
                ..request()
            },
            SubmitProofRequest {
                partition_index: 1,
                ..request()
            },
            SubmitProofRequest {
                vanilla_proofs: vec![Bytes::from_static(b"ab"), Bytes::new()],
                ..request()
            },
        ] {
            assert_ne!(Identity::of(&other).digest, Identity::of(&request()).digest);
        }
    }
}
