//! Tasks need megabytes of scratch for microseconds to milliseconds; as many exist as ever ran at the same time.

use std::sync::{Mutex, PoisonError};

/// Values that tasks borrow and give back.
pub(crate) struct Pool<T> {
    idle: Mutex<Vec<T>>,
}

impl<T> Pool<T> {
    pub(crate) const fn new() -> Self {
        Self {
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Runs `work` with an idle value, or a new one when all are in use.
    pub(crate) fn with<R>(&self, new: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let idle = self.lock().pop();
        let mut value = idle.unwrap_or_else(new);
        let result = work(&mut value);
        self.lock().push(value);
        result
    }

    /// All values, once no task runs.
    pub(crate) fn into_values(self) -> Vec<T> {
        self.idle
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<T>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
