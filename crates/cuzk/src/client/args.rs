//! Which daemon, and how a client shows who it is.

use std::path::PathBuf;

use clap::Args;
use cuzk_server::listen::{Address, Token};

use crate::{
    exit::{ExitClass, OrExit as _},
    session::Session,
};

/// Where the daemon listens unless it was told otherwise.
const DEFAULT_ADDRESS: &str = "127.0.0.1:9820";

/// The options of every command that asks a daemon.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Daemon")]
pub(crate) struct DaemonArgs {
    /// The daemon, HOST:PORT or unix:PATH [default: `CUZK_ADDR`, else 127.0.0.1:9820]
    #[arg(long, value_name = "ADDR")]
    pub(crate) addr: Option<Address>,
    #[command(flatten)]
    pub(crate) credentials: CredentialArgs,
}

/// How a client shows who it is, and knows the daemon.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Daemon")]
pub(crate) struct CredentialArgs {
    /// The file of the token that the daemon asks for [default: `CUZK_TOKEN_FILE`]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Encrypt, and trust certificates that this authority signed (PEM)
    #[arg(long, value_name = "FILE")]
    pub(super) tls_ca: Option<PathBuf>,
    /// Show this certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key", requires = "tls_ca")]
    pub(super) tls_certificate: Option<PathBuf>,
    /// The private key of that certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(super) tls_key: Option<PathBuf>,
}

impl DaemonArgs {
    /// The daemon's address: the option, else the variable, else the default.
    ///
    /// # Errors
    /// Usage, when the variable is no address.
    pub(crate) fn address(&self, session: &Session) -> anyhow::Result<Address> {
        if let Some(address) = &self.addr {
            return Ok(address.clone());
        }
        let text = session.environment.daemon_address();
        text.as_deref()
            .unwrap_or(DEFAULT_ADDRESS)
            .parse()
            .or_exit(ExitClass::Usage, || {
                format!("the variable {}", crate::variables::ADDRESS)
            })
    }
}

impl CredentialArgs {
    /// The token to show, if any.
    ///
    /// # Errors
    /// Usage, when its file cannot be read.
    pub(crate) fn token(&self, session: &Session) -> anyhow::Result<Option<Token>> {
        self.token_file
            .clone()
            .or_else(|| session.environment.client_token_file())
            .map(|path| Token::read(&path).or_exit(ExitClass::Usage, || "the token".to_owned()))
            .transpose()
    }
}
