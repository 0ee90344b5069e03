//! Proofs with a streamed key cost one pass over the key, however many share it. So a started proof waits in a lobby, and the
//! first one that is finished leads a pass for all that wait then.
//!
//! Nobody waits for a proof that is not there: a pass that nobody joins has one proof. Those that are started during a pass have
//! the next one, so the busier the card is, the more proofs share a pass.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    num::NonZeroUsize,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::sync::lock;

/// Where proofs wait for a pass; each brings a `W` and gets an `R`.
pub(crate) struct Lobby<W, R> {
    state: Mutex<State<W, R>>,
    changed: Condvar,
}

struct State<W, R> {
    next: u64,
    waiting: VecDeque<(u64, W)>,
    /// Whether somebody leads a pass.
    is_led: bool,
    /// Proofs of the pass whose results are wanted.
    expected: HashSet<u64>,
    results: HashMap<u64, R>,
}

/// A proof's place. It leaves the lobby when it is dropped, and the others stay.
pub(crate) struct Ticket<W, R> {
    lobby: Arc<Lobby<W, R>>,
    number: u64,
}

/// What there is to do for the holder of a ticket.
pub(crate) enum Redeemed<'a, W, R> {
    /// Nothing: here is the result.
    Done(R),
    /// Nothing can be done: the pass ended without a result for this proof.
    Lost,
    /// To lead a pass, after which there is a result.
    Lead(Lead<'a, W, R>),
}

/// The right and the duty to lead a pass.
pub(crate) struct Lead<'a, W, R> {
    ticket: &'a Ticket<W, R>,
    group: Vec<u64>,
}

impl<W, R> Lobby<W, R> {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                next: 0,
                waiting: VecDeque::new(),
                is_led: false,
                expected: HashSet::new(),
                results: HashMap::new(),
            }),
            changed: Condvar::new(),
        }
    }

    /// Lets a proof wait.
    pub(crate) fn enter(self: &Arc<Self>, waiting: W) -> Ticket<W, R> {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back((number, waiting));
        Ticket {
            lobby: Arc::clone(self),
            number,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<W, R>> {
        lock(&self.state)
    }
}

impl<W, R> State<W, R> {
    fn take_waiting(&mut self, number: u64) -> Option<W> {
        let index = self.waiting.iter().position(|(own, _)| *own == number)?;
        self.waiting.remove(index).map(|(_, waiting)| waiting)
    }
}

impl<W, R> Ticket<W, R> {
    /// Waits until there is a result or a pass to lead.
    pub(crate) fn redeem(&self) -> Redeemed<'_, W, R> {
        let mut state = self.lobby.lock();
        loop {
            if let Some(result) = state.results.remove(&self.number) {
                return Redeemed::Done(result);
            }
            if !state.is_led {
                let waits = state.waiting.iter().any(|(own, _)| *own == self.number);
                if !waits {
                    return Redeemed::Lost;
                }
                state.is_led = true;
                return Redeemed::Lead(Lead {
                    ticket: self,
                    group: Vec::new(),
                });
            }
            let woken = self.lobby.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<W, R> Drop for Ticket<W, R> {
    fn drop(&mut self) {
        let mut state = self.lobby.lock();
        let waiting = state.take_waiting(self.number);
        let result = state.results.remove(&self.number);
        state.expected.remove(&self.number);
        // What they hold may take long to free.
        drop(state);
        drop((waiting, result));
    }
}

impl<W, R> Lead<'_, W, R> {
    /// Takes at most `most` proofs into the pass: the leader's own, and those that have waited longest.
    pub(crate) fn group(&mut self, most: NonZeroUsize) -> Vec<W> {
        let mut state = self.ticket.lobby.lock();
        let mut group = Vec::new();
        if let Some(own) = state.take_waiting(self.ticket.number) {
            group.push((self.ticket.number, own));
        }
        let others = state.waiting.len().min(most.get() - group.len());
        group.extend(state.waiting.drain(..others));
        let (numbers, group): (Vec<u64>, Vec<W>) = group.into_iter().unzip();
        state.expected.extend(&numbers);
        self.group.extend(numbers);
        group
    }

    /// Ends the pass with the results of its proofs, in the order of [`Lead::group`].
    pub(crate) fn done(self, results: Vec<R>) {
        let mut state = self.ticket.lobby.lock();
        let mut unwanted = Vec::new();
        for (number, result) in self.group.iter().zip(results) {
            if state.expected.remove(number) {
                state.results.insert(*number, result);
            } else {
                unwanted.push(result);
            }
        }
        drop(state);
        drop(self);
        drop(unwanted);
    }
}

impl<W, R> Drop for Lead<'_, W, R> {
    fn drop(&mut self) {
        let mut state = self.ticket.lobby.lock();
        state.is_led = false;
        for number in &self.group {
            state.expected.remove(number);
        }
        self.ticket.lobby.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    type Numbers = Lobby<u32, u32>;

    fn most(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).expect("not 0")
    }

    /// Finishes a proof as its device does; passes have at most `limit` proofs and multiply by ten. Tells the passes led.
    fn finish(ticket: &Ticket<u32, u32>, limit: usize) -> (Option<u32>, Vec<Vec<u32>>) {
        let mut passes = Vec::new();
        loop {
            match ticket.redeem() {
                Redeemed::Done(result) => return (Some(result), passes),
                Redeemed::Lost => return (None, passes),
                Redeemed::Lead(mut lead) => {
                    let group = lead.group(most(limit));
                    lead.done(group.iter().map(|number| 10 * number).collect());
                    passes.push(group);
                }
            }
        }
    }

    #[test]
    fn all_that_wait_share_the_pass_of_the_first_one_finished() {
        let lobby = Arc::new(Numbers::new());
        let tickets = [1, 2, 3].map(|number| lobby.enter(number));
        assert_eq!(finish(&tickets[1], 8), (Some(20), vec![vec![2, 1, 3]]));
        assert_eq!(finish(&tickets[0], 8), (Some(10), vec![]));
        assert_eq!(finish(&tickets[2], 8), (Some(30), vec![]));
        assert!(lobby.lock().results.is_empty());
    }

    #[test]
    fn a_pass_has_as_many_as_it_may_and_the_others_have_the_next_one() {
        let lobby = Arc::new(Numbers::new());
        let tickets = [1, 2, 3, 4].map(|number| lobby.enter(number));
        assert_eq!(finish(&tickets[3], 2), (Some(40), vec![vec![4, 1]]));
        assert_eq!(finish(&tickets[0], 2), (Some(10), vec![]));
        assert_eq!(finish(&tickets[1], 2), (Some(20), vec![vec![2, 3]]));
        assert_eq!(finish(&tickets[2], 2), (Some(30), vec![]));
    }

    #[test]
    fn a_dropped_proof_leaves_its_siblings_alone() {
        let lobby = Arc::new(Numbers::new());
        let [first, second, third] = [1, 2, 3].map(|number| lobby.enter(number));
        drop(second);
        let Redeemed::Lead(mut lead) = third.redeem() else {
            panic!("nobody leads yet");
        };
        assert_eq!(lead.group(most(8)), [3, 1]);
        // One that is dropped while its pass runs is not waited for, either.
        drop(first);
        lead.done(vec![30, 10]);
        assert_eq!(finish(&third, 8), (Some(30), vec![]));
        let state = lobby.lock();
        assert!(state.results.is_empty() && state.expected.is_empty() && state.waiting.is_empty());
    }

    #[test]
    fn a_pass_that_panics_loses_its_proofs_and_no_others() {
        let lobby = Arc::new(Numbers::new());
        let tickets = [1, 2, 3].map(|number| lobby.enter(number));
        let led = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let Redeemed::Lead(mut lead) = tickets[0].redeem() else {
                return;
            };
            lead.group(most(2));
            panic!("in the middle of a pass");
        }));
        led.expect_err("it panicked");
        assert_eq!(finish(&tickets[0], 8), (None, vec![]));
        assert_eq!(finish(&tickets[1], 8), (None, vec![]));
        assert_eq!(finish(&tickets[2], 8), (Some(30), vec![vec![3]]));
    }

    #[test]
    fn who_is_finished_during_a_pass_waits_for_it_and_who_is_started_has_the_next() {
        let lobby = Arc::new(Numbers::new());
        let [first, second] = [1, 2].map(|number| lobby.enter(number));
        let Redeemed::Lead(mut lead) = first.redeem() else {
            panic!("nobody leads yet");
        };
        assert_eq!(lead.group(most(8)), [1, 2]);
        let late = lobby.enter(3);
        let (sender, answers) = mpsc::channel();
        std::thread::scope(|scope| {
            for ticket in [&second, &late] {
                let sender = sender.clone();
                scope.spawn(move || sender.send(finish(ticket, 8)));
            }
            // A pass is led, so neither can have an answer.
            assert!(answers.try_recv().is_err());
            lead.done(vec![10, 20]);
            let mut found: Vec<_> = answers.iter().take(2).collect();
            found.sort_unstable();
            assert_eq!(found, [(Some(20), vec![]), (Some(30), vec![vec![3]])]);
        });
        assert_eq!(finish(&first, 8), (Some(10), vec![]));
    }
}
