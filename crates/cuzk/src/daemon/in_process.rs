//! A daemon in this process and a client of it: the whole way of a request, without a second process to look after. It
//! listens on a unix socket in a folder that nobody else may enter.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use anyhow::Context as _;
use cuzk_circuits::{CircuitId, ProofRequest};
use cuzk_engine::{Engine, EngineSettings, JobId, JobStatus, JobTimings};
use cuzk_proto::v1::{AwaitProofResponse, EvictSrsRequest, ProveRequest};
use cuzk_server::{Drained, ServeError, Server, ServerSettings, listen::Address};
use tempfile::TempDir;
use tokio::{runtime::Runtime, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::KeyFolder;
use crate::{
    client::{Client, Terms, connect, expect_completed, from_status, message},
    device_choice::DeviceOptions,
    exit::{ExitClass, OrExit as _},
    keys::KeyStore,
    local::{Shown, start_device, start_engine, start_runtime},
    output::Output,
};

/// Larger than any request about a sector of 2 KiB.
const MAX_MESSAGE_BYTES: usize = 256 << 20;
/// Only the user who runs the command may connect.
const SOCKET_MODE: u32 = 0o600;

/// A daemon and its one client.
pub(crate) struct InProcessDaemon {
    engine: Engine,
    client: Client,
    stop: CancellationToken,
    served: JoinHandle<Result<Drained, ServeError>>,
    output: Output,
    // Dropped last: what stands above lives on it, and the socket lies in the folder.
    runtime: Runtime,
    _folder: TempDir,
}

/// A proof, and what it took.
pub(crate) struct Proved {
    /// As a client gets it.
    pub(crate) answer: AwaitProofResponse,
    /// As the engine knows it, finer than the milliseconds of the answer.
    pub(crate) timings: JobTimings,
}

impl InProcessDaemon {
    /// Starts a daemon over a folder of keys, and connects to it.
    ///
    /// # Errors
    /// Resource, when the system refuses threads, a folder or a socket.
    pub(crate) fn start(
        threads: NonZeroUsize,
        store: KeyStore,
        output: &Output,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("cuzk-daemon-")
            .tempdir()
            .or_exit(ExitClass::Resource, || {
                "making a temporary folder".to_owned()
            })?;
        let address = Address::Unix(folder.path().join("socket"));
        let settings = ServerSettings {
            listen: vec![address.clone()],
            unix_mode: SOCKET_MODE,
            admin: None,
            max_message_bytes: MAX_MESSAGE_BYTES,
            tls: None,
            token: None,
            trusted_network: false,
            journal: None,
            drain_deadline: Duration::ZERO,
        };
        let device = start_device(DeviceOptions::cpu(threads))?;
        let runtime = start_runtime()?;
        let stop = CancellationToken::new();
        let (engine, served, client) = runtime.block_on(async {
            let path = store.folder().path.clone();
            let keys = Arc::new(KeyFolder::new(store));
            let engine = start_engine(EngineSettings::default(), &device, keys, &path, output)?;
            let server = Server::bind(settings, engine.clone())
                .await
                .or_exit(ExitClass::Resource, || "the daemon".to_owned())?;
            let served = tokio::spawn(server.run(stop.clone()));
            let client = connect(&address, None, None).await?;
            anyhow::Ok((engine, served, client))
        })?;
        Ok(Self {
            engine,
            client,
            stop,
            served,
            output: output.clone(),
            runtime,
            _folder: folder,
        })
    }

    /// Lets the daemon prove a request.
    ///
    /// # Errors
    /// As those of a client of any daemon.
    pub(crate) fn prove(&mut self, request: ProofRequest) -> anyhow::Result<Proved> {
        let submit = Some(message(request, &Terms::default()));
        let step = self.output.step("proving");
        let (engine, client) = (&self.engine, &mut self.client);
        self.runtime.block_on(async {
            let _shown = Shown::start(engine, step);
            let answer = client.prove(ProveRequest { submit }).await;
            let answer = answer.map_err(|status| from_status(&status))?.into_inner();
            let answer = expect_completed(answer.result.unwrap_or_default())?;
            let job: JobId = answer.job_id.parse().context("the id of the job")?;
            let timings = match engine.status(job).context("the job")? {
                JobStatus::Ended(outcome) => *outcome.timings(),
                JobStatus::Running { .. } => JobTimings::default(),
            };
            Ok(Proved { answer, timings })
        })
    }

    /// Lets the daemon give up the memory of a circuit.
    ///
    /// # Errors
    /// Daemon, when the circuit is in use.
    pub(crate) fn evict(&mut self, id: CircuitId) -> anyhow::Result<()> {
        let circuit_id = id.to_string();
        let evicted = self.client.evict_srs(EvictSrsRequest { circuit_id });
        let evicted = self.runtime.block_on(evicted);
        evicted.map_err(|status| from_status(&status)).map(drop)
    }

    /// Stops the daemon as a signal would.
    ///
    /// # Errors
    /// Internal, when it ended badly.
    pub(crate) fn stop(self) -> anyhow::Result<()> {
        let Self {
            client,
            stop,
            served,
            runtime,
            ..
        } = self;
        // An open connection would be waited for.
        drop(client);
        stop.cancel();
        let ended = runtime.block_on(served).context("the daemon")?;
        ended
            .or_exit(ExitClass::Internal, || "the daemon".to_owned())
            .map(drop)
    }
}
