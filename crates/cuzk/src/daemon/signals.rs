//! SIGTERM and SIGINT: the first asks for an orderly end, the second for an end.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::notify_stopping;
use crate::exit::{ExitClass, OrExit as _};

/// What a shell reports for a process that ended by SIGTERM.
const STOPPED_AT_ONCE: i32 = 128 + 15;

/// Cancels the returned token on the first signal and ends the process on the second.
///
/// # Errors
/// Resource, when the system does not let signals be received.
pub(crate) fn stop_on_signals() -> anyhow::Result<CancellationToken> {
    let receive =
        |kind| signal(kind).or_exit(ExitClass::Resource, || "receiving signals".to_owned());
    let signals = (
        receive(SignalKind::terminate())?,
        receive(SignalKind::interrupt())?,
    );
    let stop = CancellationToken::new();
    tokio::spawn(follow(signals, stop.clone()));
    Ok(stop)
}

async fn follow(mut signals: (Signal, Signal), stop: CancellationToken) {
    next(&mut signals).await;
    tracing::info!("told to stop; tell me again and I stop at once");
    notify_stopping();
    stop.cancel();
    next(&mut signals).await;
    tracing::warn!("stopped at once");
    std::process::exit(STOPPED_AT_ONCE);
}

async fn next((terminate, interrupt): &mut (Signal, Signal)) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
