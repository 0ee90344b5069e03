//! Asking a daemon: one connection per command, over TCP or a unix socket.

mod args;
mod connection;
mod failure;
mod message;

pub(crate) use args::{CredentialArgs, DaemonArgs};
pub(crate) use connection::{Client, connect, on_runtime};
pub(crate) use failure::{expect_completed, from_status};
pub(crate) use message::{Terms, message};
