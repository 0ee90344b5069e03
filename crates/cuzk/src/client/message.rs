//! A request as a daemon reads it.

use std::time::Duration;

use clap::{Args, ValueEnum};
use cuzk_circuits::{PoStRequest, ProofRequest};
use cuzk_proto::v1::{Priority, ProofKind, SubmitProofRequest};

use crate::config::{Syntax, Value};

/// On which terms a daemon proves; for commands whose option `addr` names it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Daemon")]
pub(crate) struct Terms {
    /// A name for the request: the same request under the same name is proved once
    #[arg(
        long,
        value_name = "ID",
        default_value = "",
        hide_default_value = true,
        requires = "addr"
    )]
    request_id: String,
    /// How urgent [default: by kind]
    #[arg(long, value_name = "PRIORITY", requires = "addr")]
    priority: Option<PriorityArg>,
    /// When the proof is of no use any more, such as 90s
    #[arg(long, value_name = "TIME", value_parser = time, requires = "addr")]
    deadline: Option<Duration>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PriorityArg {
    /// After everything else
    Low,
    /// The default of PoRep and SnapDeals
    Normal,
    /// The default of WindowPoSt
    High,
    /// The default of WinningPoSt
    Critical,
}

fn time(text: &str) -> Result<Duration, String> {
    match Syntax::Time.read_text(text)? {
        Value::Time(time) if !time.is_zero() => Ok(time),
        _ => Err("no time is left at all".to_owned()),
    }
}

/// The message of a request.
pub(crate) fn message(request: ProofRequest, terms: &Terms) -> SubmitProofRequest {
    let base = SubmitProofRequest {
        request_id: terms.request_id.clone(),
        priority: terms.priority.map_or(Priority::Unspecified, wire).into(),
        deadline_ms: terms.deadline.map_or(0, |time| {
            u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
        }),
        ..SubmitProofRequest::default()
    };
    match request {
        ProofRequest::PoRep(request) => SubmitProofRequest {
            proof_kind: ProofKind::PorepSealCommit.into(),
            sector_size: request.sector_size,
            registered_proof: request.registered_proof,
            vanilla_proof: request.vanilla_proof,
            sector_number: request.sector_number,
            miner_id: request.miner_id,
            ..base
        },
        ProofRequest::SnapDeals(request) => SubmitProofRequest {
            proof_kind: ProofKind::SnapDealsUpdate.into(),
            sector_size: request.sector_size,
            registered_proof: request.registered_proof,
            vanilla_proofs: request.vanilla_proofs,
            comm_r_old: request.comm_r_old,
            comm_r_new: request.comm_r_new,
            comm_d_new: request.comm_d_new,
            ..base
        },
        ProofRequest::WindowPoSt(request) => post(ProofKind::WindowPostPartition, request, base),
        ProofRequest::WinningPoSt(request) => post(ProofKind::WinningPost, request, base),
    }
}

fn post(kind: ProofKind, request: PoStRequest, base: SubmitProofRequest) -> SubmitProofRequest {
    SubmitProofRequest {
        proof_kind: kind.into(),
        sector_size: request.sector_size,
        registered_proof: request.registered_proof,
        vanilla_proofs: request.vanilla_proofs,
        miner_id: request.miner_id,
        randomness: request.randomness,
        partition_index: request.partition_index,
        ..base
    }
}

fn wire(priority: PriorityArg) -> Priority {
    match priority {
        PriorityArg::Low => Priority::Low,
        PriorityArg::Normal => Priority::Normal,
        PriorityArg::High => Priority::High,
        PriorityArg::Critical => Priority::Critical,
    }
}
