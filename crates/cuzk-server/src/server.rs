//! The daemon as a value: it listens, takes up old jobs, serves until told to stop, and ends in order.

use std::{future::Future, io, sync::Arc, time::Duration};

use cuzk_engine::{DevicesLost, Engine};
use cuzk_proto::v1::{FILE_DESCRIPTOR_SET, proving_engine_server::ProvingEngineServer};
use thiserror::Error;
use tokio::{
    task::{JoinHandle, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use tonic::{
    service::{InterceptorLayer, Routes},
    transport::Server as GrpcServer,
};

use crate::{
    admin,
    journal::{Journal, JournalError, JournalSettings},
    listen::{
        Address, CredentialsError, Exposure, ExposureError, ListenError, Socket, TlsFiles, Token,
        incoming,
    },
    observation::Observation,
    service::{Ledger, Proving},
};

/// How often an idle connection is asked whether its other end is still there, so that clients that vanished are noticed.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// Bytes that a client may send ahead of what was read; payloads of 51 MB should not wait for acknowledgements.
const WINDOW_BYTES: u32 = 8 << 20;
/// How long open connections may linger after the last job ended.
const GOODBYE: Duration = Duration::from_secs(5);

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Where gRPC is served.
    pub listen: Vec<Address>,
    /// Permission bits of unix sockets.
    pub unix_mode: u32,
    /// Where the admin pages are served, if anywhere.
    pub admin: Option<Address>,
    /// Largest message that is received or sent.
    pub max_message_bytes: usize,
    /// Certificates of TCP listeners.
    pub tls: Option<TlsFiles>,
    /// What clients must show.
    pub token: Option<Token>,
    /// Everybody who can connect is welcome, says the operator.
    pub trusted_network: bool,
    /// Where jobs are written down; without it they end with the daemon.
    pub journal: Option<JournalSettings>,
    /// How long jobs may go on after the server was told to stop.
    pub drain_deadline: Duration,
}

impl ServerSettings {
    /// Whether these addresses may be served with what protects them.
    ///
    /// # Errors
    /// [`ServeError::NoAddress`] or [`ServeError::Exposure`].
    pub fn permit(&self) -> Result<(), ServeError> {
        if self.listen.is_empty() {
            return Err(ServeError::NoAddress);
        }
        let tls = self.tls.as_ref();
        let exposure = Exposure {
            tls: tls.is_some(),
            client_certificates: tls.is_some_and(|files| files.client_ca.is_some()),
            token: self.token.is_some(),
            trusted_network: self.trusted_network,
        };
        for address in &self.listen {
            exposure.permit(address)?;
        }
        if let Some(admin) = &self.admin {
            exposure.permit_admin(admin)?;
        }
        Ok(())
    }
}

/// Why a server does not start or does not go on.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Nothing to serve on.
    #[error("no address to listen on")]
    NoAddress,
    /// An address is open to strangers.
    #[error(transparent)]
    Exposure(#[from] ExposureError),
    /// An address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A certificate cannot be read.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The gRPC library refuses its configuration or fails.
    #[error("serving gRPC: {0}")]
    Grpc(Box<dyn std::error::Error + Send + Sync>),
    /// The admin pages fail.
    #[error("serving the admin pages: {0}")]
    Admin(io::Error),
    /// Nothing proves any more; with a journal, jobs go on after a restart.
    #[error(transparent)]
    Devices(#[from] DevicesLost),
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Jobs that were cancelled because the deadline passed; with a journal they go on after a restart.
    pub num_cancelled: usize,
}

/// A server whose addresses are bound and whose old jobs go on.
pub struct Server {
    settings: ServerSettings,
    engine: Engine,
    ledger: Ledger,
    observation: Arc<Observation>,
    sockets: Vec<Socket>,
    admin: Option<Socket>,
    followers: Followers,
}

/// Tasks that follow the engine's events; they end with the value.
struct Followers(Vec<JoinHandle<()>>);

impl Drop for Followers {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

impl Server {
    /// Checks the settings, binds every address, opens the journal and takes up what it holds. Clients can connect from
    /// here on; [`Server::run`] answers them.
    ///
    /// # Errors
    /// [`ServeError`]; nothing stays bound.
    pub async fn bind(settings: ServerSettings, engine: Engine) -> Result<Self, ServeError> {
        settings.permit()?;
        let mut sockets = Vec::with_capacity(settings.listen.len());
        for address in &settings.listen {
            sockets.push(Socket::listen(address, settings.unix_mode).await?);
        }
        let admin = match &settings.admin {
            Some(address) => Some(Socket::listen(address, settings.unix_mode).await?),
            None => None,
        };
        let journal = settings.journal.as_ref().map(Journal::open).transpose()?;
        let ledger = Ledger::new(engine.clone(), journal.map(Arc::new));
        let observation = Observation::new(engine.clone());
        let follow = Arc::clone(&observation).follow(engine.subscribe());
        let record = ledger.clone().record_endings(engine.subscribe());
        let followers = Followers(vec![tokio::spawn(follow), tokio::spawn(record)]);
        let num_resumed = tokio::select! {
            biased;
            lost = engine.lost() => return Err(lost.into()),
            resumed = ledger.resume() => resumed?,
        };
        if num_resumed > 0 {
            tracing::info!(num_resumed, "jobs of an earlier run go on");
        }
        Ok(Self {
            settings,
            engine,
            ledger,
            observation,
            sockets,
            admin,
            followers,
        })
    }

    /// Where gRPC is served, with the ports that the system chose.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn addresses(&self) -> io::Result<Vec<Address>> {
        self.sockets.iter().map(Socket::address).collect()
    }

    /// Where the admin pages are served.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn admin_address(&self) -> io::Result<Option<Address>> {
        self.admin.as_ref().map(Socket::address).transpose()
    }

    /// Serves until `stop` is cancelled; then takes no new work, lets jobs end until the deadline, and closes. When no device is
    /// left, it waits for nothing but the answers to its clients.
    ///
    /// # Errors
    /// [`ServeError`], when a listener fails or no device is left.
    pub async fn run(self, stop: CancellationToken) -> Result<Drained, ServeError> {
        let (health, health_service) = tonic_health::server::health_reporter();
        health.set_serving::<ProvingEngineServer<Proving>>().await;
        let routes = self.routes(health_service)?;
        let close = CancellationToken::new();
        let mut listeners = JoinSet::new();
        for socket in self.sockets {
            let listener = grpc_listener(&self.settings, socket, routes.clone(), close.clone())?;
            listeners.spawn(listener);
        }
        if let Some(socket) = self.admin {
            let pages = admin::router(Arc::clone(&self.observation));
            listeners.spawn(admin_listener(socket, pages, close.clone()));
        }
        let lost = tokio::select! {
            () = stop.cancelled() => None,
            lost = self.engine.lost() => Some(lost),
            Some(ended) = listeners.join_next() => {
                close.cancel();
                return ended
                    .unwrap_or_else(|error| Err(ServeError::Grpc(error.into())))
                    .map(|()| Drained { num_cancelled: 0 });
            }
        };
        health
            .set_not_serving::<ProvingEngineServer<Proving>>()
            .await;
        let num_cancelled = match &lost {
            None => drain(&self.engine, self.settings.drain_deadline).await,
            Some(lost) => {
                tracing::error!(%lost, "nothing can be proved until the daemon is started again");
                0
            }
        };
        close.cancel();
        // A client that keeps its connection open does not keep the daemon.
        let all_closed = async { while listeners.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(GOODBYE, all_closed).await;
        drop(self.followers);
        match lost {
            None => Ok(Drained { num_cancelled }),
            Some(lost) => Err(lost.into()),
        }
    }

    fn routes(
        &self,
        health: tonic_health::pb::health_server::HealthServer<
            impl tonic_health::pb::health_server::Health,
        >,
    ) -> Result<Routes, ServeError> {
        let proving = ProvingEngineServer::new(Proving {
            ledger: self.ledger.clone(),
            observation: Arc::clone(&self.observation),
            max_message_bytes: self.settings.max_message_bytes,
        })
        .max_decoding_message_size(self.settings.max_message_bytes)
        .max_encoding_message_size(self.settings.max_message_bytes);
        let reflection = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        };
        let current = reflection()
            .build_v1()
            .map_err(|error| ServeError::Grpc(error.into()))?;
        // Tools in use ask for the older version of the protocol.
        let older = reflection()
            .build_v1alpha()
            .map_err(|error| ServeError::Grpc(error.into()))?;
        Ok(Routes::new(proving)
            .add_service(health)
            .add_service(current)
            .add_service(older))
    }
}

fn grpc_listener(
    settings: &ServerSettings,
    socket: Socket,
    routes: Routes,
    close: CancellationToken,
) -> Result<impl Future<Output = Result<(), ServeError>> + use<>, ServeError> {
    let mut server = GrpcServer::builder()
        .http2_keepalive_interval(Some(KEEPALIVE))
        .initial_stream_window_size(Some(WINDOW_BYTES))
        .initial_connection_window_size(Some(2 * WINDOW_BYTES))
        .tcp_keepalive(Some(KEEPALIVE));
    if let (Socket::Tcp(_), Some(files)) = (&socket, &settings.tls) {
        server = server
            .tls_config(files.server_config()?)
            .map_err(|error| ServeError::Grpc(error.into()))?;
    }
    let token = settings.token.clone();
    let admit = move |request| match &token {
        Some(token) => token.admit(request),
        None => Ok(request),
    };
    let mut server = server.layer(InterceptorLayer::new(admit));
    Ok(async move {
        server
            .add_routes(routes)
            .serve_with_incoming_shutdown(incoming(socket), close.cancelled_owned())
            .await
            .map_err(|error| ServeError::Grpc(error.into()))
    })
}

async fn admin_listener(
    socket: Socket,
    pages: axum::Router,
    close: CancellationToken,
) -> Result<(), ServeError> {
    let served = match socket {
        Socket::Tcp(listener) => {
            axum::serve(listener, pages)
                .with_graceful_shutdown(close.cancelled_owned())
                .await
        }
        Socket::Unix(listener, _file) => {
            axum::serve(listener, pages)
                .with_graceful_shutdown(close.cancelled_owned())
                .await
        }
    };
    served.map_err(ServeError::Admin)
}

/// Waits for the jobs.
async fn drain(engine: &Engine, deadline: Duration) -> usize {
    tracing::info!(deadline_s = deadline.as_secs(), "draining");
    engine.drain(Instant::now() + deadline).await
}
