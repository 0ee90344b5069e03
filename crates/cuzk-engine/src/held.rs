//! Partitions that a device holds, and which of them share a pass, as far as that can be told from outside.
//!
//! Of a pass, the one that is finished first leads it, for seconds, and whoever finishes another one meanwhile only waits. So
//! the others are left alone until the pass is over; their results are there then. The device may have taken fewer into the
//! pass than is supposed here. Those lead the next one, or wait for it: that costs time of a worker and nothing else.

use std::collections::VecDeque;

use cuzk_circuits::CircuitId;

use crate::jobs::JobId;

/// A partition on a device.
pub(crate) type InFlight = (JobId, CircuitId, usize);

/// How many partitions are finished at a time to lead a pass: one does, and one waits to lead the next, so that the device has no
/// pause between passes.
///
/// Each circuit has passes of its own, but a device makes one at a time, of whatever circuit. So the bound is per device: one per
/// circuit would let more workers wait, and no pass begin earlier.
const LEADERS: usize = 2;

/// What a device holds, in the order in which it got it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    partitions: Vec<(InFlight, Place)>,
    /// The first one leads a pass, the others wait to lead one.
    leaders: VecDeque<Leader>,
}

#[derive(Clone, Copy, Debug)]
struct Leader {
    partition: InFlight,
    per_pass: usize,
}

/// Where a partition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It is about to be started.
    Starts,
    /// It is started, and in no pass yet.
    Waits,
    /// It is finished, and leads a pass or waits to.
    Leads,
    /// It is in the pass that another one leads.
    Follows,
    /// Its pass is over.
    Passed,
}

impl Held {
    /// A partition that is about to be started.
    pub(crate) fn enter(&mut self, partition: InFlight) {
        self.partitions.push((partition, Place::Starts));
    }

    /// The partition may be in a pass from now on.
    pub(crate) fn started(&mut self, partition: InFlight) {
        self.put(partition, Place::Waits);
    }

    /// Whether a partition may be finished now to lead a pass of at most `per_pass` of its circuit; it does if so. A worker of
    /// the lane may do so beside all others.
    pub(crate) fn lead(&mut self, partition: InFlight, per_pass: usize, in_lane: bool) -> bool {
        let may_lead = self.place_of(partition) == Some(Place::Waits)
            && self.leaders.len() < LEADERS + usize::from(in_lane);
        if may_lead {
            self.put(partition, Place::Leads);
            self.leaders.push_back(Leader {
                partition,
                per_pass,
            });
            if self.leaders.len() == 1 {
                self.begin_pass();
            }
        }
        may_lead
    }

    /// Whether the partition's pass is over.
    pub(crate) fn has_passed(&self, partition: InFlight) -> bool {
        self.place_of(partition) == Some(Place::Passed)
    }

    /// The partition is finished, or given up.
    pub(crate) fn leave(&mut self, partition: InFlight) {
        let mut partitions = self.partitions.iter();
        if let Some(index) = partitions.position(|(other, _)| *other == partition) {
            self.partitions.remove(index);
        }
        let mut leaders = self.leaders.iter();
        match leaders.position(|leader| leader.partition == partition) {
            Some(0) => {
                self.leaders.pop_front();
                self.end_pass();
                self.begin_pass();
            }
            Some(index) => drop(self.leaders.remove(index)),
            None => {}
        }
    }

    /// Partitions of a circuit.
    pub(crate) fn num_of(&self, circuit: CircuitId) -> usize {
        self.of(circuit).count()
    }

    /// Partitions of a circuit that are started and in no pass yet.
    pub(crate) fn num_waiting(&self, circuit: CircuitId) -> usize {
        self.of(circuit)
            .filter(|place| *place == Place::Waits)
            .count()
    }

    /// Places of a circuit's partitions.
    fn of(&self, circuit: CircuitId) -> impl Iterator<Item = Place> {
        let partitions = self.partitions.iter();
        partitions.filter_map(move |((_, own, _), place)| (*own == circuit).then_some(*place))
    }

    /// All partitions.
    pub(crate) fn partitions(&self) -> Vec<InFlight> {
        self.partitions
            .iter()
            .map(|(partition, _)| *partition)
            .collect()
    }

    /// Those that have waited longest follow the first leader.
    fn begin_pass(&mut self) {
        let Some(Leader {
            partition: (_, circuit, _),
            per_pass,
        }) = self.leaders.front().copied()
        else {
            return;
        };
        let waiting = self
            .partitions
            .iter_mut()
            .filter(|((_, own, _), place)| *own == circuit && *place == Place::Waits);
        for (_, place) in waiting.take(per_pass.saturating_sub(1)) {
            *place = Place::Follows;
        }
    }

    fn end_pass(&mut self) {
        for (_, place) in &mut self.partitions {
            if *place == Place::Follows {
                *place = Place::Passed;
            }
        }
    }

    fn put(&mut self, partition: InFlight, to: Place) {
        let mut partitions = self.partitions.iter_mut();
        if let Some((_, place)) = partitions.find(|(other, _)| *other == partition) {
            *place = to;
        }
    }

    fn place_of(&self, partition: InFlight) -> Option<Place> {
        let mut partitions = self.partitions.iter();
        let found = partitions.find(|(other, _)| *other == partition)?;
        Some(found.1)
    }
}

#[cfg(test)]
mod tests {
    use cuzk_circuits::{Family, SectorSize};

    use super::*;

    const POREP: CircuitId = CircuitId::new(Family::PoRep, SectorSize::Kib2);
    const WINNING: CircuitId = CircuitId::new(Family::WinningPoSt, SectorSize::Kib2);

    /// A device that has started so many partitions of one job.
    fn started(count: usize) -> (Held, Vec<InFlight>) {
        let mut held = Held::default();
        let job = JobId::random();
        let partitions: Vec<_> = (0..count).map(|index| (job, POREP, index)).collect();
        for &partition in &partitions {
            held.enter(partition);
            held.started(partition);
        }
        (held, partitions)
    }

    #[test]
    fn those_of_a_pass_are_left_alone_until_it_is_over() {
        let (mut held, all) = started(3);
        assert!(held.lead(all[0], 3, false));
        assert!(!held.lead(all[1], 3, false) && !held.has_passed(all[1]));
        held.leave(all[0]);
        assert!(held.has_passed(all[1]) && held.has_passed(all[2]));
        assert!(!held.lead(all[1], 3, false));
    }

    #[test]
    fn one_that_is_not_in_the_pass_waits_to_lead_the_next_one_and_no_second_one_does() {
        let (mut held, all) = started(6);
        assert!(held.lead(all[0], 2, false));
        assert!(held.lead(all[2], 2, false));
        assert!(!held.lead(all[3], 2, false));
        held.leave(all[0]);
        assert!(held.has_passed(all[1]));
        // The oldest one follows, whoever leads.
        assert!(!held.lead(all[3], 2, false) && !held.has_passed(all[3]));
        assert!(held.lead(all[4], 2, false));
    }

    #[test]
    fn one_that_was_not_started_is_in_no_pass() {
        let (mut held, all) = started(1);
        let late = (JobId::random(), POREP, 0);
        held.enter(late);
        assert!(held.lead(all[0], 8, false));
        assert!(!held.lead(late, 8, false));
        held.started(late);
        assert!(held.lead(late, 8, false));
    }

    #[test]
    fn one_of_another_circuit_is_in_no_pass_of_this_one() {
        let (mut held, all) = started(2);
        let other = (JobId::random(), WINNING, 0);
        held.enter(other);
        held.started(other);
        assert!(held.lead(all[0], 8, false));
        assert!(held.lead(other, 8, false));
        held.leave(all[0]);
        assert!(held.has_passed(all[1]));
    }

    #[test]
    fn the_lane_leads_beside_those_who_wait_to() {
        let (mut held, all) = started(4);
        assert!(held.lead(all[0], 1, false) && held.lead(all[1], 1, false));
        assert!(!held.lead(all[2], 1, false));
        assert!(held.lead(all[2], 1, true));
        assert!(!held.lead(all[3], 1, true));
    }

    #[test]
    fn who_ends_before_its_turn_to_lead_leaves_the_pass_alone() {
        let (mut held, all) = started(4);
        assert!(held.lead(all[0], 2, false) && held.lead(all[2], 2, false));
        held.leave(all[2]);
        assert!(!held.has_passed(all[1]));
        assert!(held.lead(all[3], 2, false));
        held.leave(all[0]);
        held.leave(all[1]);
        held.leave(all[3]);
        assert!(held.partitions().is_empty() && held.leaders.is_empty());
    }
}
