//! Work that waits, the smallest key first, in a place of limited size.
//!
//! A full queue holds its pushers up, the smallest key first again; that is how a slow device slows down the workers before
//! it. What must not be held up by others' backlog enters beyond the limit.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::sync::{Mutex, lock};
use crate::waiters::{Waiters, wake};

/// An ordered queue with a limit.
#[derive(Debug)]
pub(crate) struct OrderedQueue<K, T> {
    capacity: usize,
    state: Mutex<State<K, T>>,
}

#[derive(Debug)]
struct State<K, T> {
    /// Entries with equal keys keep the order of arrival.
    items: BTreeMap<(K, u64), T>,
    arrivals: u64,
    closed: bool,
    poppers: Waiters,
    pushers: BTreeMap<(K, u64), Option<Waker>>,
}

impl<K: Ord + Copy, T> State<K, T> {
    fn arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    /// The first pusher's waker, once there is room.
    fn next_pusher(&mut self, capacity: usize) -> Option<Waker> {
        if self.items.len() >= capacity && !self.closed {
            return None;
        }
        self.pushers.values_mut().next()?.take()
    }
}

impl<K: Ord + Copy, T> OrderedQueue<K, T> {
    /// A queue for `capacity` entries, beside those that [`OrderedQueue::push_over`] puts in.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            state: Mutex::new(State {
                items: BTreeMap::new(),
                arrivals: 0,
                closed: false,
                poppers: Waiters::default(),
                pushers: BTreeMap::new(),
            }),
        }
    }

    /// Waits for room and enters. A closed queue gives the entry back.
    pub(crate) fn push(&self, key: K, item: T) -> Push<'_, K, T> {
        Push {
            queue: self,
            key,
            place: None,
            item: Some(item),
        }
    }

    /// Enters at once, beyond the limit if need be. A closed queue gives the entry back.
    pub(crate) fn push_over(&self, key: K, item: T) -> Result<(), T> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err(item);
        }
        let arrival = state.arrival();
        state.items.insert((key, arrival), item);
        let wakers = state.poppers.take_all();
        drop(state);
        wake(wakers);
        Ok(())
    }

    /// Waits for an entry that `wanted` accepts and takes the one with the smallest key; `None` once the queue is closed.
    ///
    /// `wanted` is asked in order of keys, and not again once it accepted, so that accepting may have an effect.
    pub(crate) fn pop(
        &self,
        wanted: impl Fn(&T) -> bool + Unpin,
    ) -> impl Future<Output = Option<T>> {
        self.watch(move |state| {
            if state.closed {
                return Some(None);
            }
            let found = state.items.iter().find(|(_, item)| wanted(item));
            let key = *found?.0;
            state.items.remove(&key).map(Some)
        })
    }

    /// Waits until an entry that `wanted` accepts has a smaller key than this, or the queue is closed.
    pub(crate) fn overtaken(
        &self,
        key: K,
        wanted: impl Fn(&T) -> bool + Unpin,
    ) -> impl Future<Output = ()>
    where
        K: Unpin,
    {
        self.watch(move |state| {
            let mut ahead = state
                .items
                .iter()
                .take_while(|((other, _), _)| *other < key);
            (state.closed || ahead.any(|(_, item)| wanted(item))).then_some(())
        })
    }

    fn watch<O, F: FnMut(&mut State<K, T>) -> Option<O>>(&self, decide: F) -> Watch<'_, K, T, F> {
        Watch {
            queue: self,
            decide,
            number: None,
        }
    }

    /// Takes out all entries that `unwanted` accepts.
    pub(crate) fn remove_where(&self, unwanted: impl Fn(&T) -> bool) -> Vec<T> {
        let mut state = lock(&self.state);
        let keys: Vec<_> = state
            .items
            .iter()
            .filter(|(_, item)| unwanted(item))
            .map(|(key, _)| *key)
            .collect();
        let removed = keys
            .iter()
            .filter_map(|key| state.items.remove(key))
            .collect();
        let pusher = state.next_pusher(self.capacity);
        drop(state);
        wake(pusher.into_iter().collect());
        removed
    }

    /// Lets everybody who waits for an entry look again, because what is wanted may have changed.
    pub(crate) fn look_again(&self) {
        let wakers = lock(&self.state).poppers.take_all();
        wake(wakers);
    }

    /// Ends the queue: what is in it is returned, and nothing enters or leaves any more.
    pub(crate) fn close(&self) -> Vec<T> {
        let mut state = lock(&self.state);
        state.closed = true;
        let items = std::mem::take(&mut state.items);
        let mut wakers = state.poppers.take_all();
        wakers.extend(state.pushers.values_mut().filter_map(Option::take));
        drop(state);
        wake(wakers);
        items.into_values().collect()
    }

    /// Entries that wait.
    pub(crate) fn len(&self) -> usize {
        lock(&self.state).items.len()
    }

    /// Entries that may wait.
    pub(crate) const fn capacity(&self) -> usize {
        self.capacity
    }
}

/// Waits for room in a queue.
#[must_use = "an entry is pushed when this is awaited"]
pub(crate) struct Push<'a, K: Ord + Copy, T> {
    queue: &'a OrderedQueue<K, T>,
    key: K,
    place: Option<u64>,
    item: Option<T>,
}

// Nothing of it is pinned.
impl<K: Ord + Copy, T> Unpin for Push<'_, K, T> {}

impl<K: Ord + Copy, T> Push<'_, K, T> {
    /// Gives up and takes the entry back, unless it is in.
    pub(crate) fn take_back(&mut self) -> Option<T> {
        self.item.take()
    }
}

impl<K: Ord + Copy, T> Future for Push<'_, K, T> {
    type Output = Result<(), T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut state = lock(&this.queue.state);
        let place = *this.place.get_or_insert_with(|| state.arrival());
        let key = (this.key, place);
        let is_next = state
            .pushers
            .keys()
            .next()
            .is_none_or(|first| key <= *first);
        let has_room = is_next && state.items.len() < this.queue.capacity;
        if !has_room && !state.closed {
            state.pushers.insert(key, Some(context.waker().clone()));
            return Poll::Pending;
        }
        state.pushers.remove(&key);
        let Some(item) = this.item.take() else {
            return Poll::Pending;
        };
        if state.closed {
            return Poll::Ready(Err(item));
        }
        state.items.insert(key, item);
        let mut wakers = state.poppers.take_all();
        wakers.extend(state.next_pusher(this.queue.capacity));
        drop(state);
        wake(wakers);
        Poll::Ready(Ok(()))
    }
}

impl<K: Ord + Copy, T> Drop for Push<'_, K, T> {
    fn drop(&mut self) {
        let Some(place) = self.place else { return };
        let mut state = lock(&self.queue.state);
        if state.pushers.remove(&(self.key, place)).is_some() {
            // It may have been the one that was woken.
            let pusher = state.next_pusher(self.queue.capacity);
            drop(state);
            wake(pusher.into_iter().collect());
        }
    }
}

/// Waits until the state of a queue allows a decision.
#[must_use = "nothing is waited for until this is awaited"]
struct Watch<'a, K: Ord + Copy, T, F> {
    queue: &'a OrderedQueue<K, T>,
    decide: F,
    number: Option<u64>,
}

impl<K, T, O, F> Future for Watch<'_, K, T, F>
where
    K: Ord + Copy,
    F: FnMut(&mut State<K, T>) -> Option<O> + Unpin,
{
    type Output = O;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<O> {
        let this = &mut *self;
        let mut state = lock(&this.queue.state);
        let Some(decision) = (this.decide)(&mut state) else {
            state.poppers.register(&mut this.number, context.waker());
            return Poll::Pending;
        };
        let pusher = state.next_pusher(this.queue.capacity);
        drop(state);
        wake(pusher.into_iter().collect());
        Poll::Ready(decision)
    }
}

impl<K: Ord + Copy, T, F> Drop for Watch<'_, K, T, F> {
    fn drop(&mut self) {
        lock(&self.queue.state).poppers.forget(self.number);
    }
}
