//! A pool of threads serves one piece of work after the other: what comes second waits until the first one's threads have
//! nothing left to split. A small proof must not wait for a large one, so it has threads of its own, and twice as many while
//! a large one runs: the system shares the cores among all threads, those of a large proof's other half included.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPool;

use super::error::DeviceError;

/// Largest domain of a small proof, as the power of two. Those that must be made within seconds are below, those that take
/// minutes above.
const SMALL_LOG_DOMAIN: u32 = 20;

/// Threads of a hurried proof, times those of others.
const HURRY: usize = 2;

/// Pools for proofs of different size.
#[derive(Debug)]
pub(super) struct Teams {
    large: Team,
    small: Team,
    /// For small proofs beside large ones.
    hurried: Team,
}

#[derive(Debug)]
struct Team {
    pool: ThreadPool,
    num_users: AtomicUsize,
}

/// The use of a pool.
#[derive(Debug)]
pub(super) struct Use<'a>(&'a Team);

impl Teams {
    /// Starts the pools, `threads` threads each, and more where somebody is in a hurry.
    ///
    /// # Errors
    /// [`DeviceError::Threads`] when the system does not start them.
    pub(super) fn start(name: &'static str, threads: NonZeroUsize) -> Result<Self, DeviceError> {
        Ok(Self {
            large: Team::start(name, "large", threads.get())?,
            small: Team::start(name, "small", threads.get())?,
            hurried: Team::start(name, "hurried", HURRY * threads.get())?,
        })
    }

    /// The most threads that a proof over a domain of this size may get.
    pub(super) fn most_threads(threads: NonZeroUsize, log_domain: u32) -> usize {
        if log_domain <= SMALL_LOG_DOMAIN {
            HURRY * threads.get()
        } else {
            threads.get()
        }
    }

    /// Threads for a proof over a domain of this size.
    pub(super) fn join(&self, log_domain: u32) -> Use<'_> {
        let team = if log_domain > SMALL_LOG_DOMAIN {
            &self.large
        } else if self.large.num_users.load(Ordering::Relaxed) > 0 {
            &self.hurried
        } else {
            &self.small
        };
        team.num_users.fetch_add(1, Ordering::Relaxed);
        Use(team)
    }
}

impl Team {
    fn start(name: &'static str, size: &'static str, threads: usize) -> Result<Self, DeviceError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(move |index| format!("cuzk-{name}-{size}-{index}"))
            .build();
        let pool = pool.map_err(|source| DeviceError::Threads {
            pool: name,
            threads,
            source,
        })?;
        Ok(Self {
            pool,
            num_users: AtomicUsize::new(0),
        })
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

    fn team_of(used: &Use<'_>) -> (String, usize) {
        let look = || {
            let name = std::thread::current().name().map(str::to_owned);
            (name.expect("it has a name"), rayon::current_num_threads())
        };
        used.pool().install(look)
    }

    #[test]
    fn a_small_proof_has_threads_of_its_own_and_more_while_a_large_one_runs() {
        let teams = Teams::start("test", NonZeroUsize::MIN).expect("threads start");
        let alone = teams.join(SMALL_LOG_DOMAIN);
        assert_eq!(team_of(&alone), ("cuzk-test-small-0".to_owned(), 1));
        let large = teams.join(SMALL_LOG_DOMAIN + 1);
        assert_eq!(team_of(&large), ("cuzk-test-large-0".to_owned(), 1));
        let (name, threads) = team_of(&teams.join(SMALL_LOG_DOMAIN));
        assert!(name.starts_with("cuzk-test-hurried-"), "{name}");
        assert_eq!(
            threads,
            Teams::most_threads(NonZeroUsize::MIN, SMALL_LOG_DOMAIN)
        );
        drop(large);
        let (name, _) = team_of(&teams.join(SMALL_LOG_DOMAIN));
        assert_eq!(name, "cuzk-test-small-0", "nobody is in the way again");
    }
}
