//! `cuzk keys`: which keys a daemon holds, and which it should hold or let go.

use std::time::Duration;

use clap::{Args, Subcommand};
use cuzk_circuits::CircuitId;
use cuzk_proto::v1::{EvictSrsRequest, GetStatusRequest, PreloadSrsRequest};
use serde::Serialize;

use super::status::{key_lines, write_keys};
use crate::{
    client::{DaemonArgs, from_status, on_runtime},
    environment::Concern,
    option_values::circuit,
    session::Session,
    units,
};

/// List, preload or evict the proving keys of a daemon
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  cuzk keys list\n  cuzk keys preload porep-32g\n  cuzk keys evict snap-32g"
)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Show the keys that the daemon found, and where they are
    #[command(after_help = "Examples:\n  cuzk keys list --json")]
    List {
        #[command(flatten)]
        daemon: DaemonArgs,
    },
    /// Make the key of a circuit resident
    #[command(after_help = "Examples:\n  cuzk keys preload winning-32g")]
    Preload {
        /// The circuit
        #[arg(value_parser = circuit)]
        circuit: CircuitId,
        #[command(flatten)]
        daemon: DaemonArgs,
    },
    /// Give back the memory of a circuit's key
    #[command(after_help = "Examples:\n  cuzk keys evict snap-32g")]
    Evict {
        /// The circuit
        #[arg(value_parser = circuit)]
        circuit: CircuitId,
        #[command(flatten)]
        daemon: DaemonArgs,
    },
}

#[derive(Debug, Serialize)]
struct PreloadResult {
    circuit: String,
    already_loaded: bool,
    load_ms: u64,
}

#[derive(Debug, Serialize)]
struct EvictResult {
    circuit: String,
    was_loaded: bool,
    freed_bytes: u64,
}

pub(crate) fn run(args: &KeysArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Client])?;
    match &args.command {
        KeysCommand::List { daemon } => list(daemon, session),
        KeysCommand::Preload { circuit, daemon } => preload(*circuit, daemon, session),
        KeysCommand::Evict { circuit, daemon } => evict(*circuit, daemon, session),
    }
}

fn list(daemon: &DaemonArgs, session: &Session) -> anyhow::Result<()> {
    let status = on_runtime(async {
        let mut client = daemon.connect(session).await?;
        let answer = client.get_status(GetStatusRequest {}).await;
        answer.map_err(|status| from_status(&status))
    })?;
    let keys = key_lines(&status.into_inner());
    session.output.result(&keys, |page| write_keys(page, &keys))
}

fn preload(circuit: CircuitId, daemon: &DaemonArgs, session: &Session) -> anyhow::Result<()> {
    let answer = on_runtime(async {
        let mut client = daemon.connect(session).await?;
        let request = PreloadSrsRequest {
            circuit_id: circuit.to_string(),
        };
        let answer = client.preload_srs(request).await;
        answer.map_err(|status| from_status(&status))
    })?
    .into_inner();
    let result = PreloadResult {
        circuit: circuit.to_string(),
        already_loaded: answer.already_loaded,
        load_ms: answer.load_time_ms,
    };
    session.output.result(&result, |page| {
        page.line(&if result.already_loaded {
            format!("{circuit} was resident")
        } else {
            let took = units::time(Duration::from_millis(result.load_ms));
            format!("{circuit} is resident, loaded in {took}")
        });
    })
}

fn evict(circuit: CircuitId, daemon: &DaemonArgs, session: &Session) -> anyhow::Result<()> {
    let answer = on_runtime(async {
        let mut client = daemon.connect(session).await?;
        let request = EvictSrsRequest {
            circuit_id: circuit.to_string(),
        };
        let answer = client.evict_srs(request).await;
        answer.map_err(|status| from_status(&status))
    })?
    .into_inner();
    let result = EvictResult {
        circuit: circuit.to_string(),
        was_loaded: answer.was_loaded,
        freed_bytes: answer.freed_bytes,
    };
    session.output.result(&result, |page| {
        page.line(&if result.was_loaded {
            format!(
                "{circuit} evicted, {} freed",
                units::bytes(result.freed_bytes)
            )
        } else {
            format!("{circuit} was not resident")
        });
    })
}
