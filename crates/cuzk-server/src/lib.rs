#![doc = include_str!("../README.md")]

mod admin;
#[cfg(test)]
mod example;
pub mod journal;
pub mod listen;
pub mod metrics;
mod observation;
pub mod process;
mod question;
mod server;
mod service;
mod status_code;
mod wire;

pub use server::{Drained, ServeError, Server, ServerSettings};
