//! The words of the wire for kinds, queues and priorities, each table once.

use cuzk_circuits::Family;
use cuzk_engine::Priority;
use cuzk_proto::v1;

/// What queues and metrics call each family.
pub(crate) const QUEUE_NAMES: [(Family, &str); 4] = [
    (Family::PoRep, "porep-c2"),
    (Family::SnapDeals, "snap-update"),
    (Family::WindowPoSt, "window-post"),
    (Family::WinningPoSt, "winning-post"),
];

/// The queue of a family.
pub(crate) fn queue_name(family: Family) -> &'static str {
    match family {
        Family::PoRep => QUEUE_NAMES[0].1,
        Family::SnapDeals => QUEUE_NAMES[1].1,
        Family::WindowPoSt => QUEUE_NAMES[2].1,
        Family::WinningPoSt => QUEUE_NAMES[3].1,
    }
}

/// A family as the wire's kind.
pub(crate) fn kind_of(family: Family) -> v1::ProofKind {
    match family {
        Family::PoRep => v1::ProofKind::PorepSealCommit,
        Family::SnapDeals => v1::ProofKind::SnapDealsUpdate,
        Family::WindowPoSt => v1::ProofKind::WindowPostPartition,
        Family::WinningPoSt => v1::ProofKind::WinningPost,
    }
}

/// A priority on the wire.
pub(crate) fn priority_of(priority: Priority) -> v1::Priority {
    match priority {
        Priority::Low => v1::Priority::Low,
        Priority::Normal => v1::Priority::Normal,
        Priority::High => v1::Priority::High,
        Priority::Critical => v1::Priority::Critical,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_the_queue_of_its_row() {
        for (family, name) in QUEUE_NAMES {
            assert_eq!(queue_name(family), name);
        }
    }
}
