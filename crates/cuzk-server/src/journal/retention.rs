//! How long a result is kept: until it is too old, or until there are too many, or too many bytes of them, the oldest
//! going first.

use std::{collections::VecDeque, time::Duration};

/// Limits on kept results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Results older than this are forgotten.
    pub max_age: Duration,
    /// At most this many are kept.
    pub max_results: usize,
    /// At most this many bytes of them are kept.
    pub max_bytes: u64,
}

/// A result in the order of its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) job: String,
    pub(super) ended_unix_ms: u64,
    pub(super) num_bytes: u64,
}

/// Kept results, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    results: VecDeque<Kept>,
    num_bytes: u64,
}

impl Shelf {
    /// Puts a result behind all others.
    pub(super) fn push(&mut self, kept: Kept) {
        self.num_bytes += kept.num_bytes;
        self.results.push_back(kept);
    }

    /// Takes the results that are kept no longer.
    pub(super) fn take_surplus(&mut self, limits: &Retention, now_unix_ms: u64) -> Vec<String> {
        let max_age_ms = u64::try_from(limits.max_age.as_millis()).unwrap_or(u64::MAX);
        let mut surplus = Vec::new();
        while let Some(oldest) = self.results.front() {
            let too_old = now_unix_ms.saturating_sub(oldest.ended_unix_ms) > max_age_ms;
            let too_many = self.results.len() > limits.max_results;
            if !(too_old || too_many || self.num_bytes > limits.max_bytes) {
                break;
            }
            self.num_bytes -= oldest.num_bytes;
            surplus.extend(self.results.pop_front().map(|kept| kept.job));
        }
        surplus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Retention = Retention {
        max_age: Duration::from_millis(100),
        max_results: 3,
        max_bytes: 1000,
    };

    fn shelf(results: &[(u64, u64)]) -> Shelf {
        let mut shelf = Shelf::default();
        for (index, &(ended_unix_ms, num_bytes)) in results.iter().enumerate() {
            shelf.push(Kept {
                job: index.to_string(),
                ended_unix_ms,
                num_bytes,
            });
        }
        shelf
    }

    #[test]
    fn nothing_within_the_limits_is_taken() {
        let mut shelf = shelf(&[(0, 500), (50, 250), (100, 250)]);
        assert!(shelf.take_surplus(&LIMITS, 100).is_empty());
    }

    #[test]
    fn the_oldest_goes_for_each_limit() {
        let taken = |results: &[(u64, u64)], now| shelf(results).take_surplus(&LIMITS, now);
        assert_eq!(taken(&[(0, 1), (50, 1)], 101), ["0"]);
        assert_eq!(taken(&[(0, 1), (0, 1), (0, 1), (0, 1)], 0), ["0"]);
        assert_eq!(taken(&[(0, 600), (0, 300), (0, 200)], 0), ["0"]);
    }

    #[test]
    fn a_clock_that_was_set_back_throws_nothing_away() {
        assert!(shelf(&[(1000, 1)]).take_surplus(&LIMITS, 0).is_empty());
    }
}
