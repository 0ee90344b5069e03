//! A pool of threads serves one piece of work after the other: what comes second waits until the first one's threads have
//! nothing left to split. Whoever must not wait needs threads of its own, and the system shares the cores among all threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPool;

use super::error::DeviceError;

/// Pools of equal size, each for one user at a time as long as there are enough.
#[derive(Debug)]
pub(super) struct Teams(Vec<Team>);

#[derive(Debug)]
struct Team {
    pool: ThreadPool,
    num_users: AtomicUsize,
}

/// The use of a pool.
#[derive(Debug)]
pub(super) struct Use<'a>(&'a Team);

impl Teams {
    /// Starts `num_teams` pools of `threads` threads, named after `name`.
    ///
    /// # Errors
    /// [`DeviceError::Threads`] when the system does not start them.
    pub(super) fn start(
        name: &'static str,
        threads: NonZeroUsize,
        num_teams: NonZeroUsize,
    ) -> Result<Self, DeviceError> {
        let start = |team: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads.get())
                .thread_name(move |index| format!("cuzk-{name}-{team}-{index}"))
                .build();
            let pool = pool.map_err(|source| DeviceError::Threads {
                pool: name,
                threads: threads.get(),
                source,
            })?;
            Ok(Team {
                pool,
                num_users: AtomicUsize::new(0),
            })
        };
        let teams = (0..num_teams.get()).map(start);
        Ok(Self(teams.collect::<Result<_, DeviceError>>()?))
    }

    /// The pool with the fewest users, the first of equals.
    pub(super) fn join(&self) -> Use<'_> {
        let least = self
            .0
            .iter()
            .min_by_key(|team| team.num_users.load(Ordering::Relaxed))
            .expect("there is a team");
        // Somebody else may have chosen it, too; both are served.
        least.num_users.fetch_add(1, Ordering::Relaxed);
        Use(least)
    }
}

impl Use<'_> {
    /// The threads.
    pub(super) fn pool(&self) -> &ThreadPool {
        &self.0.pool
    }
}

impl Drop for Use<'_> {
    fn drop(&mut self) {
        self.0.num_users.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_second_gets_threads_of_its_own_and_a_third_shares() {
        let two = NonZeroUsize::new(2).expect("not zero");
        let teams = Teams::start("test", NonZeroUsize::MIN, two).expect("threads start");
        let name = |used: &Use<'_>| {
            let name = || std::thread::current().name().map(str::to_owned);
            used.pool().install(name).expect("it has a name")
        };
        let first = teams.join();
        let second = teams.join();
        assert_eq!(name(&first), "cuzk-test-0-0");
        assert_eq!(name(&second), "cuzk-test-1-0");
        let third = teams.join();
        assert_eq!(name(&third), "cuzk-test-0-0");
        drop((first, third));
        assert_eq!(name(&teams.join()), "cuzk-test-0-0", "it is free again");
    }
}
