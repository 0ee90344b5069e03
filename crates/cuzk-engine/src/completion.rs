//! An outcome that is set once, however many try, and that everybody who waits for it sees.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::sync::{Mutex, lock};
use crate::waiters::{Waiters, wake};

/// A cell for one value and the tasks that wait for it.
#[derive(Debug)]
pub(crate) struct Completion<T> {
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    value: Option<T>,
    waiters: Waiters,
}

impl<T: Clone> Completion<T> {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                value: None,
                waiters: Waiters::default(),
            }),
        }
    }

    /// Sets the value if there is none. Says whether it was this call.
    pub(crate) fn set(&self, value: T) -> bool {
        let mut state = lock(&self.state);
        if state.value.is_some() {
            return false;
        }
        state.value = Some(value);
        let wakers = state.waiters.take_all();
        drop(state);
        wake(wakers);
        true
    }

    /// The value, if it was set.
    pub(crate) fn get(&self) -> Option<T> {
        lock(&self.state).value.clone()
    }

    /// Waits for the value. May be dropped at any point.
    pub(crate) fn wait(&self) -> Wait<'_, T> {
        Wait {
            completion: self,
            number: None,
        }
    }
}

/// Waits for a [`Completion`].
pub(crate) struct Wait<'a, T: Clone> {
    completion: &'a Completion<T>,
    number: Option<u64>,
}

impl<T: Clone> Future for Wait<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let completion = self.completion;
        let mut state = lock(&completion.state);
        if let Some(value) = &state.value {
            return Poll::Ready(value.clone());
        }
        state.waiters.register(&mut self.number, context.waker());
        Poll::Pending
    }
}

impl<T: Clone> Drop for Wait<'_, T> {
    fn drop(&mut self) {
        lock(&self.completion.state).waiters.forget(self.number);
    }
}
