//! Which partition comes first, wherever several wait.
//!
//! Interleaving the partitions of all jobs makes every job late, so the oldest job goes first; what must be on chain in
//! seconds goes before what may take an hour. The same key orders every queue, the waiters for memory included.

use std::cmp::Reverse;

use cuzk_circuits::Family;
use tokio::time::Instant;

/// How urgent a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// After everything else.
    Low,
    /// PoRep and SnapDeals, unless the client says otherwise.
    Normal,
    /// WindowPoSt, unless the client says otherwise.
    High,
    /// WinningPoSt, unless the client says otherwise.
    Critical,
}

impl Priority {
    /// The priority of a job whose client names none.
    pub const fn default_of(family: Family) -> Self {
        match family {
            Family::WinningPoSt => Self::Critical,
            Family::WindowPoSt => Self::High,
            Family::PoRep | Family::SnapDeals => Self::Normal,
        }
    }
}

/// Where a partition stands in every queue: the smallest rank is served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Rank {
    priority: Reverse<Priority>,
    /// Jobs without a deadline come after those with one.
    deadline: (bool, Option<Instant>),
    /// Turn of the job's tenant, 0 where tenants are not told apart.
    turn: u64,
    sequence: u64,
    partition: usize,
}

impl Rank {
    /// The rank of a job's first partition.
    pub(crate) const fn of_job(
        priority: Priority,
        deadline: Option<Instant>,
        turn: u64,
        sequence: u64,
    ) -> Self {
        Self {
            priority: Reverse(priority),
            deadline: (deadline.is_none(), deadline),
            turn,
            sequence,
            partition: 0,
        }
    }

    /// The rank of a partition of the same job.
    pub(crate) const fn of_partition(self, partition: usize) -> Self {
        Self { partition, ..self }
    }

    pub(crate) const fn turn(self) -> u64 {
        self.turn
    }

    pub(crate) const fn sequence(self) -> u64 {
        self.sequence
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn rank(priority: Priority, deadline: Option<Instant>, sequence: u64) -> Rank {
        Rank::of_job(priority, deadline, 0, sequence)
    }

    #[test]
    fn the_oldest_job_is_first_with_all_its_partitions() {
        let (old, new) = (
            rank(Priority::Normal, None, 1),
            rank(Priority::Normal, None, 2),
        );
        assert!(old.of_partition(9) < new.of_partition(0));
        assert!(old.of_partition(0) < old.of_partition(1));
    }

    #[test]
    fn priority_comes_before_deadline_and_deadline_before_age() {
        let soon = Some(Instant::now());
        let later = soon.map(|soon| soon + Duration::from_secs(1));
        let expected = [
            rank(Priority::Critical, None, 9),
            rank(Priority::High, later, 8),
            rank(Priority::Normal, soon, 7),
            rank(Priority::Normal, later, 6),
            rank(Priority::Normal, None, 5),
            rank(Priority::Low, soon, 4),
        ];
        let mut sorted = expected;
        sorted.reverse();
        sorted.sort_unstable();
        assert_eq!(sorted, expected);
    }

    #[test]
    fn each_family_has_its_default() {
        let defaults = Family::ALL.map(Priority::default_of);
        assert_eq!(
            defaults,
            [
                Priority::Normal,
                Priority::Normal,
                Priority::High,
                Priority::Critical
            ]
        );
    }
}
