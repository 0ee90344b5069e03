//! Who may queue work or take memory for long: one at a time, in the order in which they came. A lock of the standard library
//! promises no order, and an urgent proof could wait for one pass after the other.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::sync::lock;

/// A lock that is fair.
pub(crate) struct Turn {
    numbers: Mutex<Numbers>,
    changed: Condvar,
}

#[derive(Default)]
struct Numbers {
    /// Who comes next.
    next: u64,
    /// Whose turn it is.
    current: u64,
}

/// Somebody's turn, which ends when this is dropped.
#[must_use = "a turn that is dropped at once keeps nobody away"]
pub(crate) struct TurnGuard<'a>(&'a Turn);

impl Turn {
    pub(crate) fn new() -> Self {
        Self {
            numbers: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Waits behind everybody who came before.
    pub(crate) fn wait(&self) -> TurnGuard<'_> {
        let mut numbers = lock(&self.numbers);
        let own = numbers.next;
        numbers.next += 1;
        while numbers.current != own {
            let woken = self.changed.wait(numbers);
            numbers = woken.unwrap_or_else(PoisonError::into_inner);
        }
        TurnGuard(self)
    }
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        lock(&self.0.numbers).current += 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn turns_come_in_the_order_of_asking_and_one_at_a_time() {
        const OTHERS: u64 = 8;
        let turn = Turn::new();
        let first = turn.wait();
        let (sender, order) = mpsc::channel();
        std::thread::scope(|scope| {
            for number in 0..OTHERS {
                let (sender, turn) = (sender.clone(), &turn);
                scope.spawn(move || {
                    let own = turn.wait();
                    sender.send(number).expect("the test listens");
                    drop(own);
                });
                // It stands in the queue before the next one comes.
                while lock(&turn.numbers).next < number + 2 {
                    std::thread::yield_now();
                }
            }
            assert!(order.try_recv().is_err(), "the first one's turn lasts");
            drop(first);
            // Who asks again is behind everybody.
            drop(turn.wait());
            let order: Vec<_> = order.try_iter().collect();
            assert_eq!(order, (0..OTHERS).collect::<Vec<_>>());
        });
    }

    #[test]
    fn a_turn_that_panics_ends() {
        let turn = Turn::new();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _own = turn.wait();
            panic!("in its turn");
        }));
        panicked.expect_err("it panicked");
        drop(turn.wait());
    }
}
