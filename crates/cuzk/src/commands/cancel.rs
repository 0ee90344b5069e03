//! `cuzk cancel`: ends a job of a daemon.

use clap::Args;
use cuzk_proto::v1::CancelProofRequest;
use serde::Serialize;

use crate::{
    client::{DaemonArgs, from_status, on_runtime},
    environment::Concern,
    session::Session,
};

/// End a job of a daemon
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk cancel 3f0c9a5e6b7d4812a1c2d3e4f5061728\n\n`cuzk status` lists jobs."
)]
pub(crate) struct CancelArgs {
    /// The job
    #[arg(value_name = "JOB")]
    job: String,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, Serialize)]
struct CancelResult {
    job: String,
    was_running: bool,
}

pub(crate) fn run(args: &CancelArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Client])?;
    let answer = on_runtime(async {
        let mut client = args.daemon.connect(session).await?;
        let request = CancelProofRequest {
            job_id: args.job.clone(),
        };
        let answer = client.cancel_proof(request).await;
        answer.map_err(|status| from_status(&status))
    })?;
    let result = CancelResult {
        job: args.job.clone(),
        was_running: answer.into_inner().was_running,
    };
    session.output.result(&result, |page| {
        page.line(if result.was_running {
            "cancelled"
        } else {
            "it had ended already"
        });
    })
}
