//! How much of a streamed key is on the card at a time, and how many proofs share a pass over it, follow from the memory that
//! may be used. The parts of a key should be large, since sums over few bases cost more per base; what an upload takes matters
//! less the more proofs use it.

use crate::{Fp, Fp2, MsmPlan};

pub(crate) const G1_BASE_BYTES: usize = 2 * size_of::<Fp>();
pub(crate) const G2_BASE_BYTES: usize = 2 * size_of::<Fp2>();

/// Parts that are on the card at a time: one that is used, and one that arrives.
const PARTS: u64 = 2;

/// Bases of a part, as powers of two: the least, the least for which proofs are let share, and the most.
const MIN_LOG_PART: u32 = 18;
const MIN_LOG_SHARED_PART: u32 = 22;
const MAX_LOG_PART: u32 = 27;

/// Device bytes of a proof, by what they depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofSizes {
    /// A value for each row of the domain.
    pub domain_bytes: u64,
    /// The packed witness.
    pub witness_bytes: u64,
    /// Room of a sum over bits, in the group that needs more.
    pub bitmap_bytes: u64,
}

/// Which keys pass through the card in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streaming {
    /// Those that the card cannot hold beside the work of a proof.
    WhatDoesNotFit,
    /// All, by the memory that may be used.
    All,
    /// All, by this plan.
    Planned(PassPlan),
}

/// What a pass over a streamed key holds at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassPlan {
    /// Bases of G1 in a part of a query; half as many of G2, which are as many bytes.
    pub max_g1: usize,
    /// Proofs whose quotients are on the card at a time; the query h passes through the card once for so many.
    pub quotients: usize,
    /// Proofs that share a pass.
    pub proofs: usize,
}

impl PassPlan {
    /// Proofs that share a pass at most: a PoRep's. By then the pass over a 32 GiB PoRep's key takes a tenth of the time of their
    /// sums, and an urgent proof has to wait for the end of a pass.
    pub const MAX_PROOFS: usize = 10;

    /// The plan with which a pass stays within `available` bytes: as many proofs as may share it, then the largest parts, then
    /// as many quotients as fit besides.
    ///
    /// # Errors
    /// The bytes that a pass for one proof needs at least.
    pub fn within(sizes: ProofSizes, available: u64) -> Result<Self, u64> {
        let shared = (1..=Self::MAX_PROOFS).rev().flat_map(|proofs| {
            let logs = (MIN_LOG_SHARED_PART..=MAX_LOG_PART).rev();
            logs.map(move |log| Self::of(log, proofs))
        });
        let smaller = (MIN_LOG_PART..MIN_LOG_SHARED_PART).rev();
        let mut plans = shared.chain(smaller.map(|log| Self::of(log, 1)));
        plans
            .find(|plan| plan.bytes(sizes) <= available)
            .map(|plan| plan.with_quotients(sizes, available))
            .ok_or_else(|| Self::of(MIN_LOG_PART, 1).bytes(sizes))
    }

    fn of(log_part: u32, proofs: usize) -> Self {
        Self {
            max_g1: 1 << log_part,
            quotients: 1,
            proofs,
        }
    }

    fn with_quotients(self, sizes: ProofSizes, available: u64) -> Self {
        let counts = (1..=self.proofs).rev();
        let mut plans = counts.map(|quotients| Self { quotients, ..self });
        plans
            .find(|plan| plan.bytes(sizes) <= available)
            .unwrap_or(Self {
                quotients: 1,
                ..self
            })
    }

    /// The same parts for as many proofs as fit now, at least one.
    #[must_use]
    pub fn refitted(self, sizes: ProofSizes, available: u64) -> Self {
        let counts = (1..=self.proofs).rev();
        let mut plans = counts.map(|proofs| Self {
            proofs,
            quotients: 1,
            ..self
        });
        let fitting = plans.find(|plan| plan.bytes(sizes) <= available);
        match fitting {
            Some(plan) => {
                let quotients = plan.with_quotients(sizes, available).quotients;
                Self {
                    quotients: quotients.min(self.quotients),
                    ..plan
                }
            }
            None => self.alone(),
        }
    }

    /// A plan with small parts, if these are large: for a pass that finds less memory.
    pub fn smaller(self) -> Option<Self> {
        let small = Self {
            max_g1: 1 << MIN_LOG_SHARED_PART,
            quotients: 1,
            ..self
        };
        (small.max_g1 < self.max_g1).then_some(small)
    }

    /// The same parts for one proof.
    #[must_use]
    pub fn alone(self) -> Self {
        Self {
            proofs: 1,
            quotients: 1,
            ..self
        }
    }

    /// Bases of G2 in a part.
    pub fn max_g2(self) -> usize {
        self.max_g1 / 2
    }

    /// Device bytes of a pass, at most.
    pub fn bytes(self, sizes: ProofSizes) -> u64 {
        let quotients = self.quotients as u64 * sizes.domain_bytes;
        let part = (self.max_g1 * G1_BASE_BYTES) as u64;
        let of_g1 = room_bytes(self.max_g1, G1_BASE_BYTES);
        let of_g2 = room_bytes(self.max_g2(), G2_BASE_BYTES);
        // Of the last quotient of a group, there are the values of three sides; its part of h has been allocated by then.
        let transforms = quotients + 2 * sizes.domain_bytes + part;
        let h = quotients + PARTS * part + of_g1;
        // A part of a sparse query has few bases and still all positions.
        let others = PARTS * part + of_g1.max(of_g2).max(sizes.bitmap_bytes);
        self.proofs as u64 * sizes.witness_bytes + transforms.max(h).max(others)
    }
}

/// Bytes of multiplications over up to `points` terms. The last part of a query is one base short of a power of two, and then
/// has narrower digits and more of them.
pub(crate) fn room_bytes(points: usize, base_bytes: usize) -> u64 {
    const ROUNDING: u64 = 1 << 20;
    let room = [points, points.saturating_sub(1)]
        .map(|terms| MsmPlan::new(terms).room_bytes(base_bytes))
        .into_iter()
        .fold(0, u64::max);
    room + room / 100 + ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    /// Of a 32 GiB PoRep's partition.
    const POREP: ProofSizes = ProofSizes {
        domain_bytes: 32 << 27,
        witness_bytes: 72 << 20,
        bitmap_bytes: 600 << 20,
    };

    /// Of a full WindowPoSt partition, whose variables are nearly all wide.
    const WINDOW: ProofSizes = ProofSizes {
        witness_bytes: 4 * GIB,
        ..POREP
    };

    fn within(sizes: ProofSizes, available: u64) -> PassPlan {
        let plan = PassPlan::within(sizes, available).expect("it fits");
        assert!(plan.bytes(sizes) <= available, "{plan:?}");
        assert!((1..=plan.proofs).contains(&plan.quotients), "{plan:?}");
        plan
    }

    #[test]
    fn a_pass_over_a_large_key_in_16_gib_has_all_partitions_of_a_proof_and_large_parts() {
        let plan = within(POREP, 16 * GIB);
        assert_eq!(plan.proofs, PassPlan::MAX_PROOFS);
        assert_eq!(plan.quotients, 1);
        assert!(plan.max_g1 >= 1 << 24, "{plan:?}");
    }

    #[test]
    fn memory_that_is_left_is_for_quotients() {
        let plan = within(POREP, 70 * GIB);
        assert_eq!(plan.proofs, PassPlan::MAX_PROOFS);
        assert!(plan.quotients > 4, "{plan:?}");
    }

    #[test]
    fn large_witnesses_share_less() {
        assert_eq!(within(WINDOW, 18 * GIB).proofs, 1);
        assert_eq!(within(WINDOW, 24 * GIB).proofs, 2);
    }

    #[test]
    fn every_limit_gives_a_plan_within_it_or_is_below_what_one_proof_needs() {
        for sizes in [POREP, WINDOW] {
            let needed = PassPlan::within(sizes, 0).expect_err("nothing fits");
            // Three sides of the domain, the witness, and a part.
            assert!(needed > 3 * sizes.domain_bytes + sizes.witness_bytes);
            assert_eq!(PassPlan::within(sizes, needed - 1), Err(needed));
            let mut before = within(sizes, needed);
            for limit in (needed..80 * GIB).step_by(GIB as usize / 4) {
                let plan = within(sizes, limit);
                assert!(plan.proofs >= before.proofs, "{before:?} {plan:?}");
                before = plan;
            }
        }
    }

    #[test]
    fn a_pass_for_which_less_is_left_has_fewer_proofs_and_the_same_parts() {
        let plan = within(WINDOW, 60 * GIB);
        assert!(plan.proofs > 2, "{plan:?}");
        assert_eq!(plan.refitted(WINDOW, 60 * GIB), plan);
        for available in [0, 20 * GIB, 40 * GIB, 80 * GIB] {
            let fitted = plan.refitted(WINDOW, available);
            assert_eq!(fitted.max_g1, plan.max_g1);
            assert!(fitted.proofs <= plan.proofs && fitted.quotients <= fitted.proofs);
            assert!(fitted.proofs == 1 || fitted.bytes(WINDOW) <= available);
        }
        assert_eq!(plan.refitted(WINDOW, 0).proofs, 1);
    }

    #[test]
    fn small_parts_leave_memory_to_others() {
        let plan = within(WINDOW, 18 * GIB);
        assert_eq!(plan.alone(), plan, "it takes all that there is");
        let small = plan.smaller().expect("its parts are large");
        assert!(small.alone().bytes(WINDOW) + GIB < 18 * GIB);
        assert_eq!(small.smaller(), None);
    }

    #[test]
    fn the_last_part_has_room_though_it_is_one_base_shorter() {
        for log in MIN_LOG_PART..=MAX_LOG_PART {
            for base_bytes in [G1_BASE_BYTES, G2_BASE_BYTES] {
                let room = room_bytes(1 << log, base_bytes);
                for terms in [1 << log, (1 << log) - 1, (1 << log) / 2 - 1] {
                    assert!(
                        MsmPlan::new(terms).room_bytes(base_bytes) <= room,
                        "{terms}"
                    );
                }
            }
        }
    }
}
