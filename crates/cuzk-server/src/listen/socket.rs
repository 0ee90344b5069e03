//! Listening sockets. A unix socket left behind by a daemon that was killed must not keep the next one from starting, and
//! one that a living daemon answers on must not be stolen.

use std::{
    fs, io,
    os::unix::{
        fs::{FileTypeExt as _, PermissionsExt as _},
        net::UnixStream as BlockingStream,
    },
    path::{Path, PathBuf},
};

use rustix::fs::Mode;
use thiserror::Error;
use tokio::net::{TcpListener, UnixListener};

use super::Address;

/// A socket that accepts connections.
#[derive(Debug)]
pub enum Socket {
    /// On a TCP port.
    Tcp(TcpListener),
    /// On a file, which is removed with the value.
    Unix(UnixListener, SocketFile),
}

/// The file of a unix socket; dropping removes it.
#[derive(Debug)]
pub struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Gone already is as good as removed.
        let _ = fs::remove_file(&self.0);
    }
}

/// Why an address cannot be listened on.
#[derive(Debug, Error)]
#[error("cannot listen on {address}: {source}")]
pub struct ListenError {
    /// The address.
    pub address: Address,
    /// What the system says.
    pub source: io::Error,
}

impl Socket {
    /// Listens on an address; the file of a unix socket gets these permission bits before anybody can connect.
    ///
    /// # Errors
    /// With the address, when it is taken, cannot be resolved, or is not this machine's.
    pub async fn listen(address: &Address, unix_mode: u32) -> Result<Self, ListenError> {
        let socket = match address {
            Address::Tcp { host, port } => TcpListener::bind((host.as_str(), *port))
                .await
                .map(Self::Tcp),
            Address::Unix(path) => listen_on_file(path, unix_mode),
        };
        socket.map_err(|source| ListenError {
            address: address.clone(),
            source,
        })
    }

    /// The address as bound, with the port that the system chose.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn address(&self) -> io::Result<Address> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(|bound| Address::Tcp {
                host: bound.ip().to_string(),
                port: bound.port(),
            }),
            Self::Unix(_, SocketFile(path)) => Ok(Address::Unix(path.clone())),
        }
    }
}

fn listen_on_file(path: &Path, unix_mode: u32) -> io::Result<Socket> {
    remove_abandoned(path)?;
    // Bound under another name, so that nobody connects before the permissions are set.
    let staged = path.with_extension(format!("{}.new", std::process::id()));
    remove_abandoned(&staged)?;
    let listener = UnixListener::bind(&staged)?;
    let mode = Mode::from_bits_truncate(unix_mode).as_raw_mode();
    fs::set_permissions(&staged, fs::Permissions::from_mode(mode))?;
    fs::rename(&staged, path)?;
    Ok(Socket::Unix(listener, SocketFile(path.to_owned())))
}

/// Removes a socket file that nobody answers on.
fn remove_abandoned(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if !found.file_type().is_socket() => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "a file that is no socket is in the way",
        )),
        Ok(_) => match BlockingStream::connect(path) {
            Ok(_) => Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                "another program answers there",
            )),
            Err(_) => fs::remove_file(path),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn listen(path: &Path) -> Result<Socket, ListenError> {
        Socket::listen(&Address::Unix(path.to_owned()), 0o600).await
    }

    #[tokio::test]
    async fn a_socket_file_has_the_mode_asked_for_and_goes_with_its_listener() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.sock");
        let socket = listen(&path).await.expect("the path is free");
        let mode = fs::metadata(&path).expect("the file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(socket.address().ok(), Some(Address::Unix(path.clone())));
        drop(socket);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn an_abandoned_socket_is_replaced_and_a_living_one_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).expect("bind"));
        assert!(path.exists(), "the system leaves the file behind");
        let living = listen(&path).await.expect("nobody answers there");
        let error = listen(&path).await.expect_err("somebody answers there");
        assert!(error.to_string().contains("another program"), "{error}");
        drop(living);
    }

    #[tokio::test]
    async fn a_file_that_is_no_socket_is_never_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("precious");
        fs::write(&path, "words").expect("write");
        let error = listen(&path).await.expect_err("in the way");
        assert!(error.to_string().contains("no socket"), "{error}");
        assert!(path.exists());
    }

    #[tokio::test]
    async fn port_0_is_bound_to_a_real_port_and_a_taken_port_is_named() {
        let any = "127.0.0.1:0".parse().expect("an address");
        let socket = Socket::listen(&any, 0).await.expect("a free port");
        let bound = socket.address().expect("an address");
        assert_ne!(bound, any);
        let error = Socket::listen(&bound, 0).await.expect_err("taken");
        assert!(error.to_string().contains(&bound.to_string()), "{error}");
    }
}
