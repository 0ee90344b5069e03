//! Bytes that may be in use, counted before they are allocated.
//!
//! A permit covers its bytes for the whole time they exist: it lives inside the value that holds them, and dropping the
//! value gives them back. Waiters are served by rank, first come first served among equals, and the first one is never
//! passed by a smaller request behind it, so that none starves. One lane may also use what is kept in reserve for it.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::sync::{Arc, Mutex, lock};
use crate::waiters::wake;

/// A budget of bytes, shared by cloning.
#[derive(Debug)]
pub(crate) struct Budget<R> {
    shared: Arc<Shared<R>>,
}

impl<R> Clone for Budget<R> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

#[derive(Debug)]
struct Shared<R> {
    total: u64,
    state: Mutex<State<R>>,
}

#[derive(Debug)]
struct State<R> {
    used: u64,
    peak: u64,
    /// Held for as long as nobody evicts it; no use in waiting for it.
    fixed: u64,
    reserve: u64,
    arrivals: u64,
    waiting: BTreeMap<(R, u64), Waiting>,
    /// Bytes that were counted for waiters who have not noticed yet.
    granted: BTreeSet<u64>,
}

#[derive(Debug)]
struct Waiting {
    request: Request,
    waker: Option<Waker>,
}

/// What is asked of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// How much.
    pub(crate) bytes: u64,
    /// Whether the reserve may be used.
    pub(crate) in_lane: bool,
}

/// A request that can never be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverBudget {
    /// How much was asked for.
    pub(crate) needed_bytes: u64,
    /// How much there is.
    pub(crate) budget_bytes: u64,
}

/// Numbers of a budget at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BudgetNumbers {
    pub(crate) total: u64,
    pub(crate) used: u64,
    pub(crate) reserve: u64,
    pub(crate) peak: u64,
    pub(crate) num_waiting: usize,
}

impl<R: Ord + Copy> State<R> {
    /// Whether a request fits now. The reserve never makes a request impossible that fits beside what is fixed.
    fn fits(&self, total: u64, request: Request) -> bool {
        let kept = if request.in_lane {
            0
        } else {
            self.reserve
                .min(total.saturating_sub(self.fixed + request.bytes))
        };
        self.used + request.bytes + kept <= total
    }

    fn take(&mut self, bytes: u64) {
        self.used += bytes;
        self.peak = self.peak.max(self.used);
    }

    /// Serves whoever can be served and returns whom to wake.
    #[must_use = "these tasks wait until they are woken"]
    fn serve(&mut self, total: u64) -> Vec<Waker> {
        let mut wakers = Vec::new();
        let mut only_lane = false;
        let places: Vec<_> = self.waiting.keys().copied().collect();
        for place in places {
            let Some(request) = self.waiting.get(&place).map(|waiting| waiting.request) else {
                continue;
            };
            if only_lane && !request.in_lane {
                continue;
            }
            if !self.fits(total, request) {
                if request.in_lane {
                    break;
                }
                only_lane = true;
                continue;
            }
            self.take(request.bytes);
            self.granted.insert(place.1);
            wakers.extend(
                self.waiting
                    .remove(&place)
                    .and_then(|waiting| waiting.waker),
            );
        }
        wakers
    }
}

impl<R: Ord + Copy> Budget<R> {
    /// A budget of `total` bytes.
    pub(crate) fn new(total: u64) -> Self {
        Self {
            shared: Arc::new(Shared {
                total,
                state: Mutex::new(State {
                    used: 0,
                    peak: 0,
                    fixed: 0,
                    reserve: 0,
                    arrivals: 0,
                    waiting: BTreeMap::new(),
                    granted: BTreeSet::new(),
                }),
            }),
        }
    }

    /// Waits for bytes, behind everybody with a smaller rank. May be dropped at any point.
    ///
    /// # Errors
    /// [`OverBudget`] at once, for what the whole budget could not meet.
    pub(crate) fn acquire(&self, rank: R, request: Request) -> Result<Acquire<R>, OverBudget> {
        self.expect_within(request.bytes)?;
        let mut state = lock(&self.shared.state);
        state.arrivals += 1;
        let place = (rank, state.arrivals);
        state.waiting.insert(
            place,
            Waiting {
                request,
                waker: None,
            },
        );
        let wakers = state.serve(self.shared.total);
        drop(state);
        wake(wakers);
        Ok(Acquire {
            budget: self.clone(),
            place: Some(place),
            bytes: request.bytes,
        })
    }

    /// Refuses what the whole budget could not meet.
    pub(crate) fn expect_within(&self, needed_bytes: u64) -> Result<(), OverBudget> {
        let budget_bytes = self.shared.total;
        if needed_bytes <= budget_bytes {
            return Ok(());
        }
        Err(OverBudget {
            needed_bytes,
            budget_bytes,
        })
    }

    /// Takes bytes that are free now and that nobody waits for.
    pub(crate) fn try_acquire(&self, request: Request) -> Option<Permit<R>> {
        let mut state = lock(&self.shared.state);
        let is_free = state.waiting.is_empty()
            && request.bytes <= self.shared.total
            && state.fits(self.shared.total, request);
        if !is_free {
            return None;
        }
        state.take(request.bytes);
        drop(state);
        Some(Permit::new(self, request.bytes))
    }

    /// Changes what is kept for the lane.
    pub(crate) fn set_reserve(&self, bytes: u64) {
        let mut state = lock(&self.shared.state);
        state.reserve = bytes.min(self.shared.total);
        let wakers = state.serve(self.shared.total);
        drop(state);
        wake(wakers);
    }

    /// Whether somebody waits.
    pub(crate) fn is_contended(&self) -> bool {
        !lock(&self.shared.state).waiting.is_empty()
    }

    pub(crate) fn numbers(&self) -> BudgetNumbers {
        let state = lock(&self.shared.state);
        BudgetNumbers {
            total: self.shared.total,
            used: state.used,
            reserve: state.reserve,
            peak: state.peak,
            num_waiting: state.waiting.len(),
        }
    }

    fn give_back(&self, bytes: u64, is_fixed: bool) {
        if bytes == 0 {
            return;
        }
        let mut state = lock(&self.shared.state);
        state.used -= bytes;
        if is_fixed {
            state.fixed -= bytes;
        }
        let wakers = state.serve(self.shared.total);
        drop(state);
        wake(wakers);
    }
}

/// Waits for bytes of a budget.
#[must_use = "bytes are acquired when this is awaited"]
#[derive(Debug)]
pub(crate) struct Acquire<R: Ord + Copy> {
    budget: Budget<R>,
    place: Option<(R, u64)>,
    bytes: u64,
}

impl<R: Ord + Copy> Unpin for Acquire<R> {}

impl<R: Ord + Copy> Future for Acquire<R> {
    type Output = Permit<R>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Permit<R>> {
        let Some(place) = self.place else {
            return Poll::Pending;
        };
        let mut state = lock(&self.budget.shared.state);
        if let Some(waiting) = state.waiting.get_mut(&place) {
            waiting.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        state.granted.remove(&place.1);
        drop(state);
        self.place = None;
        Poll::Ready(Permit::new(&self.budget, self.bytes))
    }
}

impl<R: Ord + Copy> Drop for Acquire<R> {
    fn drop(&mut self) {
        let Some(place) = self.place else { return };
        let shared = &self.budget.shared;
        let mut state = lock(&shared.state);
        if state.granted.remove(&place.1) {
            state.used -= self.bytes;
        }
        state.waiting.remove(&place);
        // Whoever stood behind it may fit.
        let wakers = state.serve(shared.total);
        drop(state);
        wake(wakers);
    }
}

/// Bytes of a budget, given back when dropped.
#[must_use = "a permit that is dropped at once covers nothing"]
#[derive(Debug)]
pub(crate) struct Permit<R: Ord + Copy> {
    budget: Budget<R>,
    bytes: u64,
    is_fixed: bool,
}

impl<R: Ord + Copy> Permit<R> {
    fn new(budget: &Budget<R>, bytes: u64) -> Self {
        Self {
            budget: budget.clone(),
            bytes,
            is_fixed: false,
        }
    }

    /// Marks the bytes as held for an indefinite time.
    pub(crate) fn fix(&mut self) {
        if !self.is_fixed {
            self.is_fixed = true;
            lock(&self.budget.shared.state).fixed += self.bytes;
        }
    }

    /// How many bytes it covers.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Cuts a part off, at most all.
    pub(crate) fn split(&mut self, bytes: u64) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self {
            budget: self.budget.clone(),
            bytes,
            is_fixed: self.is_fixed,
        }
    }

    /// Gives back what exceeds `bytes`.
    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        let surplus = self.bytes.saturating_sub(bytes);
        drop(self.split(surplus));
    }
}

impl<R: Ord + Copy> Drop for Permit<R> {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes, self.is_fixed);
    }
}
