//! What systemd wants to know of a service of type `notify`. Without it, nothing is told.

use sd_notify::NotifyState;

/// The daemon serves.
pub(crate) fn notify_ready() {
    tell(&[NotifyState::Ready]);
}

/// The daemon drains.
pub(crate) fn notify_stopping() {
    tell(&[NotifyState::Stopping]);
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "the service supervisor cannot be told");
    }
}
