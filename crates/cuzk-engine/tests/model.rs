//! Every interleaving that a model checker tries of the three places where tasks wait: budget, queue, completion.
//!
//! The files are those of the crate, compiled here with the checker's locks in place of the system's.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::must_use_candidate,
    reason = "the crate uses more of these files than one test does"
)]

#[path = "../src/budget.rs"]
mod budget;
#[path = "../src/completion.rs"]
mod completion;
#[path = "../src/queue.rs"]
mod queue;
#[path = "../src/waiters.rs"]
mod waiters;

/// The checker's primitives under the names of the crate's.
mod sync {
    pub(crate) use shuttle::sync::{Arc, Mutex, MutexGuard};

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().expect("no task panics under a lock")
    }
}

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use shuttle::future::{block_on, spawn};
use shuttle::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex};

use budget::{Budget, Request};
use completion::Completion;
use queue::OrderedQueue;

/// Schedules per test: each is another interleaving, drawn from a fixed seed by the checker.
const SCHEDULES: usize = 10_000;

fn check(model: impl Fn() + Send + Sync + 'static) {
    shuttle::check_random(model, SCHEDULES);
}

/// Polls once and goes away, as a cancelled waiter does.
fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

#[test]
fn permits_never_exceed_the_budget_and_nobody_waits_for_ever() {
    check(|| {
        let budget: Budget<u32> = Budget::new(10);
        let in_use = Arc::new(AtomicU64::new(0));
        let holders = [(2, 7, false), (1, 4, false), (0, 3, true), (1, 10, false)].map(
            |(rank, bytes, in_lane)| {
                let (budget, in_use) = (budget.clone(), Arc::clone(&in_use));
                spawn(async move {
                    let request = Request { bytes, in_lane };
                    let mut permit = budget.acquire(rank, request).expect("it fits").await;
                    let before = in_use.fetch_add(bytes, Ordering::SeqCst);
                    assert!(before + bytes <= 10, "{before} + {bytes}");
                    let part = permit.split(bytes / 2);
                    in_use.fetch_sub(part.bytes(), Ordering::SeqCst);
                    drop(part);
                    in_use.fetch_sub(permit.bytes(), Ordering::SeqCst);
                    drop(permit);
                })
            },
        );
        // One that gives up, whether it was served or not.
        let quitter = spawn({
            let budget = budget.clone();
            async move {
                let request = Request {
                    bytes: 9,
                    in_lane: false,
                };
                drop(poll_once(budget.acquire(0, request).expect("it fits")));
            }
        });
        budget.set_reserve(3);
        for holder in holders {
            block_on(holder).expect("it ends");
        }
        block_on(quitter).expect("it ends");
        let numbers = budget.numbers();
        assert_eq!((numbers.used, numbers.num_waiting), (0, 0));
        assert!(numbers.peak <= 10);
    });
}

#[test]
fn every_entry_leaves_a_queue_once_though_a_popper_gives_up() {
    check(|| {
        let queue: Arc<OrderedQueue<u32, u32>> = Arc::new(OrderedQueue::new(1));
        let popped = Arc::new(Mutex::new(Vec::new()));
        let pushers = [0, 1, 2, 3].map(|item| {
            let queue = Arc::clone(&queue);
            spawn(async move { queue.push(item % 2, item).await.expect("open") })
        });
        let poppers = [(); 2].map(|()| {
            let (queue, popped) = (Arc::clone(&queue), Arc::clone(&popped));
            spawn(async move {
                for _ in 0..2 {
                    let item = queue.pop(|_| true).await.expect("open");
                    popped.lock().expect("sound").push(item);
                }
            })
        });
        let quitter = spawn({
            let queue = Arc::clone(&queue);
            async move {
                if let Some(item) = poll_once(queue.pop(|_| true)) {
                    let item = item.expect("open");
                    queue.push_over(item % 2, item).expect("open");
                }
            }
        });
        for task in pushers {
            block_on(task).expect("it ends");
        }
        for task in poppers {
            block_on(task).expect("it ends");
        }
        block_on(quitter).expect("it ends");
        let mut popped = popped.lock().expect("sound").clone();
        popped.sort_unstable();
        assert_eq!(popped, [0, 1, 2, 3]);
    });
}

#[test]
fn a_pusher_that_gives_up_does_not_hold_up_the_next_one() {
    check(|| {
        let queue: Arc<OrderedQueue<u32, u32>> = Arc::new(OrderedQueue::new(1));
        queue.push_over(9, 9).expect("open");
        let quitter = spawn({
            let queue = Arc::clone(&queue);
            async move { poll_once(queue.push(0, 0)).is_some() }
        });
        let pusher = spawn({
            let queue = Arc::clone(&queue);
            async move { queue.push(1, 1).await.expect("open") }
        });
        let popper = spawn({
            let queue = Arc::clone(&queue);
            async move { while queue.pop(|_| true).await != Some(1) {} }
        });
        block_on(quitter).expect("it ends");
        block_on(pusher).expect("it ends");
        block_on(popper).expect("it ends");
    });
}

#[test]
fn closing_a_queue_ends_everybody_who_waits() {
    check(|| {
        let queue: Arc<OrderedQueue<u32, u32>> = Arc::new(OrderedQueue::new(1));
        let pushers = [0, 1].map(|item| {
            let queue = Arc::clone(&queue);
            spawn(async move { queue.push(item, item).await.err() })
        });
        let popper = spawn({
            let queue = Arc::clone(&queue);
            async move { queue.pop(|item| *item == 7).await }
        });
        let left = queue.close();
        assert_eq!(block_on(popper).expect("it ends"), None);
        let back = pushers.map(|pusher| block_on(pusher).expect("it ends"));
        assert_eq!(left.len() + back.iter().flatten().count(), 2);
    });
}

#[test]
fn one_of_many_sets_a_completion_and_everybody_sees_it() {
    check(|| {
        let completion: Arc<Completion<u32>> = Arc::new(Completion::new());
        let num_set = Arc::new(AtomicUsize::new(0));
        let waiters = [(); 2].map(|()| {
            let completion = Arc::clone(&completion);
            spawn(async move { completion.wait().await })
        });
        let setters = [1, 2, 3].map(|value| {
            let (completion, num_set) = (Arc::clone(&completion), Arc::clone(&num_set));
            spawn(async move {
                if completion.set(value) {
                    num_set.fetch_add(1, Ordering::SeqCst);
                }
            })
        });
        let _ = poll_once(completion.wait());
        let seen = waiters.map(|waiter| block_on(waiter).expect("it ends"));
        for setter in setters {
            block_on(setter).expect("it ends");
        }
        assert_eq!(num_set.load(Ordering::SeqCst), 1);
        assert!(seen.iter().all(|value| Some(*value) == completion.get()));
    });
}
