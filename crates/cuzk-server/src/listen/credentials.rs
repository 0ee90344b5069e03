//! Certificates from files, named in the error when they cannot be read.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use thiserror::Error;
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

/// The files of an encrypted listener, all PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate and those that lead to a root.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Who signs certificates of clients; with it, clients without one are turned away.
    pub client_ca: Option<PathBuf>,
}

/// A file of a certificate or key cannot be read.
#[derive(Debug, Error)]
#[error("reading {what} {path}: {source}")]
pub struct CredentialsError {
    /// What it should hold.
    pub what: &'static str,
    /// Which file.
    pub path: String,
    /// What the system says.
    pub source: io::Error,
}

impl TlsFiles {
    /// Reads the files.
    ///
    /// # Errors
    /// With the name of the one that cannot be read.
    pub(crate) fn server_config(&self) -> Result<ServerTlsConfig, CredentialsError> {
        let certificate = read("the certificate", &self.certificate)?;
        let key = read("the private key", &self.key)?;
        let config = ServerTlsConfig::new().identity(Identity::from_pem(certificate, key));
        Ok(match &self.client_ca {
            Some(path) => {
                let authority = read("the authority of clients", path)?;
                config.client_ca_root(Certificate::from_pem(authority))
            }
            None => config,
        })
    }
}

fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, CredentialsError> {
    fs::read(path).map_err(|source| CredentialsError {
        what,
        path: path.display().to_string(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let files = TlsFiles {
            certificate: "/nonexistent/cert.pem".into(),
            key: "/nonexistent/key.pem".into(),
            client_ca: None,
        };
        let error = files.server_config().expect_err("no such file").to_string();
        assert!(
            error.contains("certificate /nonexistent/cert.pem"),
            "{error}"
        );
    }
}
