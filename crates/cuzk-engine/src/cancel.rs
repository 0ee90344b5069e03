//! One token per job for everything that ends it early: a client, its deadline, a failed sibling, the drain.

use tokio::sync::Notify;

use crate::sync::{Mutex, lock};

/// Whether the work of a job is still wanted.
#[derive(Debug, Default)]
pub(crate) struct CancelToken {
    cancelled: Mutex<bool>,
    notify: Notify,
}

impl CancelToken {
    /// Ends the job's work at its next step.
    pub(crate) fn cancel(&self) {
        *lock(&self.cancelled) = true;
        self.notify.notify_waiters();
    }

    /// Whether the work is no longer wanted.
    pub(crate) fn is_cancelled(&self) -> bool {
        *lock(&self.cancelled)
    }

    /// Waits until the work is no longer wanted.
    pub(crate) async fn cancelled(&self) {
        loop {
            // A notification between the look and the wait counts from here on.
            let notified = self.notify.notified();
            if self.is_cancelled() {
                return;
            }
            notified.await;
        }
    }
}
