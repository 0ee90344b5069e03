//! One connection to a daemon.

use std::{future::Future, io, path::PathBuf, time::Duration};

use cuzk_proto::v1::proving_engine_client::ProvingEngineClient;
use cuzk_server::listen::{Address, Token};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::{
    Request, Status,
    service::{Interceptor, interceptor::InterceptedService},
    transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity, Uri},
};

use super::args::{CredentialArgs, DaemonArgs};
use crate::{
    exit::{ExitClass, OrExit as _},
    input_file::read,
    session::Session,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often the other end is asked whether it is there while a proof is made.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// Larger than any message that a daemon is configured for.
const MAX_MESSAGE_BYTES: usize = 1 << 30;

/// A client of a daemon.
pub(crate) type Client = ProvingEngineClient<InterceptedService<Channel, ShowToken>>;

/// Shows the token with each call.
#[derive(Debug, Clone)]
pub(crate) struct ShowToken(Option<Token>);

impl Interceptor for ShowToken {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            let metadata = request.metadata_mut();
            metadata.insert("authorization", token.header());
        }
        Ok(request)
    }
}

/// Runs the calls of a command.
///
/// # Errors
/// What `calls` fails with; resource, when no runtime starts.
pub(crate) fn on_runtime<T>(calls: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .or_exit(ExitClass::Resource, || "starting the runtime".to_owned())?
        .block_on(calls)
}

impl DaemonArgs {
    /// Connects.
    ///
    /// # Errors
    /// Daemon, with the address, when nobody answers; usage, when a file of a certificate or token cannot be read.
    pub(crate) async fn connect(&self, session: &Session) -> anyhow::Result<Client> {
        let address = self.address(session)?;
        let token = self.credentials.token(session)?;
        connect(&address, self.credentials.tls()?, token).await
    }
}

/// Connects to a daemon, encrypted with `tls` over TCP, and shows it `token` with each call.
///
/// # Errors
/// Daemon, with the address, when nobody answers; usage, when the certificates cannot be used.
pub(crate) async fn connect(
    address: &Address,
    tls: Option<ClientTlsConfig>,
    token: Option<Token>,
) -> anyhow::Result<Client> {
    let channel = match address {
        Address::Tcp { .. } => {
            let scheme = if tls.is_some() { "https" } else { "http" };
            let mut endpoint = endpoint(format!("{scheme}://{address}"))?;
            if let Some(tls) = tls {
                endpoint = endpoint
                    .tls_config(tls)
                    .or_exit(ExitClass::Usage, || "the certificates".to_owned())?;
            }
            endpoint.connect().await
        }
        Address::Unix(path) => {
            let path = path.clone();
            // The name is only sent as the host; the connector decides where the connection goes.
            endpoint("http://localhost".to_owned())?
                .connect_with_connector(tower::service_fn(move |_: Uri| open(path.clone())))
                .await
        }
    };
    let channel = channel.or_exit(ExitClass::Daemon, || {
        format!("no daemon answers at {address}; is `cuzk serve` running there?")
    })?;
    Ok(
        ProvingEngineClient::with_interceptor(channel, ShowToken(token))
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES),
    )
}

impl CredentialArgs {
    fn tls(&self) -> anyhow::Result<Option<ClientTlsConfig>> {
        let Some(authority) = &self.tls_ca else {
            return Ok(None);
        };
        let authority = Certificate::from_pem(read(authority)?);
        let config = ClientTlsConfig::new().ca_certificate(authority);
        Ok(Some(match (&self.tls_certificate, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                config.identity(Identity::from_pem(read(certificate)?, read(key)?))
            }
            _ => config,
        }))
    }
}

fn endpoint(uri: String) -> anyhow::Result<Endpoint> {
    let endpoint = Endpoint::from_shared(uri)
        .or_exit(ExitClass::Usage, || "the daemon's address".to_owned())?;
    Ok(endpoint
        .connect_timeout(CONNECT_TIMEOUT)
        .http2_keep_alive_interval(KEEPALIVE))
}

async fn open(path: PathBuf) -> io::Result<TokioIo<UnixStream>> {
    UnixStream::connect(path).await.map(TokioIo::new)
}
