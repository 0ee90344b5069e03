//! Tasks that wait for a state to change, woken without losing anybody.
//!
//! A waiter looks at the state and registers under the lock that guards the state; whoever changes it takes the wakers
//! under the same lock and wakes them after. A wake-up can therefore be superfluous but never lost.

use std::collections::BTreeMap;
use std::task::Waker;

/// Wakers of waiting tasks, part of the state that they wait for.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    next: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl Waiters {
    /// Registers a task, under the number that it got when it registered before.
    pub(crate) fn register(&mut self, number: &mut Option<u64>, waker: &Waker) {
        let number = *number.get_or_insert_with(|| {
            self.next += 1;
            self.next
        });
        self.wakers.insert(number, waker.clone());
    }

    /// Forgets a task that no longer waits.
    pub(crate) fn forget(&mut self, number: Option<u64>) {
        if let Some(number) = number {
            self.wakers.remove(&number);
        }
    }

    /// All wakers, to be woken once the lock is released. A task that must go on waiting registers again.
    #[must_use = "these tasks wait until they are woken"]
    pub(crate) fn take_all(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.wakers).into_values().collect()
    }
}

/// Wakes tasks; not to be called under a lock that they will take.
pub(crate) fn wake(wakers: Vec<Waker>) {
    for waker in wakers {
        waker.wake();
    }
}
