//! Connections of both kinds of socket as one stream, which is what the gRPC library accepts.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_stream::Stream;
use tonic::transport::server::{Connected, TcpConnectInfo};

use super::Socket;

/// An accepted connection.
#[derive(Debug)]
pub(crate) enum Connection {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// The connections of a socket, for as long as the stream is held.
pub(crate) fn incoming(socket: Socket) -> impl Stream<Item = io::Result<Connection>> + Send {
    Accepting(socket)
}

struct Accepting(Socket);

impl Stream for Accepting {
    type Item = io::Result<Connection>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &self.0 {
            Socket::Tcp(listener) => listener.poll_accept(context).map_ok(|(stream, _)| {
                // Messages are written whole, so waiting for more to send only delays them.
                let _ = stream.set_nodelay(true);
                Connection::Tcp(stream)
            }),
            Socket::Unix(listener, _) => listener
                .poll_accept(context)
                .map_ok(|(stream, _)| Connection::Unix(stream)),
        }
        .map(Some)
    }
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        match self {
            Self::Tcp(stream) => stream.connect_info(),
            Self::Unix(_) => TcpConnectInfo {
                local_addr: None,
                remote_addr: None,
            },
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Self::Unix(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
