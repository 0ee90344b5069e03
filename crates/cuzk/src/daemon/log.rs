//! The daemon's log: lines on standard error, for people or as JSON.

use std::io;

use tracing::Level;
use tracing_subscriber::filter::LevelFilter;

use crate::{
    config::LogFormat,
    exit::{ExitClass, OrExit as _},
};

/// Sends what is logged from here on to standard error.
///
/// # Errors
/// Internal, when a log was started before.
pub(crate) fn start_log(format: LogFormat, level: Level, color: bool) -> anyhow::Result<()> {
    let builder = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::from_level(level))
        .with_target(false)
        .with_writer(io::stderr);
    let started = match format {
        LogFormat::Text => builder.with_ansi(color).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started
        .map_err(|error| anyhow::anyhow!(error))
        .or_exit(ExitClass::Internal, || "starting the log".to_owned())
}
