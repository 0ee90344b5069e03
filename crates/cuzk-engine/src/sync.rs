//! The primitives under queue, budget and completion, in one place.
//!
//! `tests/model.rs` compiles those three files a second time with a `sync` module of the model checker in this one's place,
//! so that what is checked is what ships.

pub(crate) use std::sync::{Arc, Mutex, MutexGuard};

/// Locks; a panic of another holder does not spread, because every critical section leaves its data whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
