//! Locks whose content is whole after any panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks; every holder leaves what the lock guards whole, also when it panics.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
