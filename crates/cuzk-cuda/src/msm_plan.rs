//! The cost of a multi-scalar multiplication depends on the width of its digits: wide digits mean fewer additions and
//! more buckets. The plan chooses the width by the number of terms and derives every size from it.

use group::Group;

use crate::{
    elements::{Partial, combine_windows},
    host_field::Coordinate,
};

/// Terms of one multiplication: a reference has 31 bits for the base.
pub const MAX_TERMS: usize = 1 << 28;

/// Bits of a scalar once it is negated into the lower half of the field.
const SCALAR_BITS: u32 = 254;
/// Low bits of a bucket's number that one block sorts by, when that leaves few high bits.
const FINE_BITS: u32 = 9;
/// High bits of a bucket's number, at most: a tile's runs get shorter with more.
const MAX_COARSE_BITS: u32 = 12;
/// A segment's length is counted in a table of this many entries.
const MAX_SEGMENT: u32 = 1023;
const MIN_SEGMENT: u32 = 32;
/// Bytes of the items of windows that are sorted together.
const SCRATCH_BYTES: usize = 1 << 30;
/// Bytes of a segment, and of a split bucket's description, on the device.
const SEGMENT_BYTES: usize = 12;
const SPLIT_BYTES: usize = 20;
/// Buckets from which on adding them up in groups takes less time than it takes to start.
const MIN_GROUPED_BUCKETS: usize = 1 << 20;
/// Entries per window that the host adds up.
const HOST_ENTRIES_LOG: u32 = 5;

/// Widths by number of terms, chosen by `cuzk bench kernels --sweep` on an H200 (`sm_90`). `(log2 of the terms, width)`, rising.
const WIDTHS: [(u32, u32); 10] = [
    (6, 7),
    (9, 9),
    (11, 10),
    (12, 11),
    (14, 13),
    (16, 15),
    (20, 17),
    (22, 20),
    (24, 22),
    (26, 24),
];

/// Sizes of a multiplication of `terms` terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MsmPlan {
    /// Number of bases and scalars.
    pub terms: usize,
    /// Bits of a digit.
    pub width: u32,
    min_grouped_buckets: usize,
}

/// One step of the reduction: chunks of 2^`log_chunk` entries whose unit of weight is 2^`log_unit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReduceStep {
    /// Logarithm of the entries that become one.
    pub log_chunk: u32,
    /// Logarithm of the weight of one entry.
    pub log_unit: u32,
}

impl MsmPlan {
    /// The plan with the width of the tuning table.
    pub fn new(terms: usize) -> Self {
        let log = terms.checked_ilog2().unwrap_or(0);
        let mut width = WIDTHS[0].1;
        for (from, candidate) in WIDTHS {
            if log >= from {
                width = candidate;
            }
        }
        Self::with_width(terms, width)
    }

    /// The plan whose digits have at most `width` bits, between 4 and 24: as many as the number of digits needs.
    pub fn with_width(terms: usize, width: u32) -> Self {
        let windows = (SCALAR_BITS + 1).div_ceil(width.clamp(4, 24));
        Self {
            terms,
            width: (SCALAR_BITS + 1).div_ceil(windows),
            min_grouped_buckets: MIN_GROUPED_BUCKETS,
        }
    }

    /// The same plan, but buckets are added up in groups if there are at least `buckets`: as few as a test likes.
    #[must_use]
    pub fn with_groups_from(self, buckets: usize) -> Self {
        Self {
            min_grouped_buckets: buckets,
            ..self
        }
    }

    /// Digits of a scalar.
    pub fn windows(self) -> usize {
        (SCALAR_BITS + 1).div_ceil(self.width) as usize
    }

    /// Bits of digit number `window`: they differ by at most one, so that no window has few, long buckets.
    pub fn window_bits(self, window: usize) -> u32 {
        let bits = (SCALAR_BITS + 1) as usize / self.windows();
        bits as u32 + u32::from(window < self.wide_windows())
    }

    /// Windows, from the lowest, that have one bit more than the others.
    pub fn wide_windows(self) -> usize {
        (SCALAR_BITS + 1) as usize % self.windows()
    }

    /// Logarithm of the buckets of a window.
    pub fn log_buckets(self) -> u32 {
        self.width - 1
    }

    /// Buckets of all windows.
    pub fn buckets(self) -> usize {
        self.windows() << self.log_buckets()
    }

    /// Low bits of a bucket's number, which one block sorts by.
    pub fn fine_bits(self) -> u32 {
        let log_buckets = self.log_buckets();
        FINE_BITS
            .max(log_buckets.saturating_sub(MAX_COARSE_BITS))
            .min(log_buckets)
    }

    /// The first window with half as many buckets as the widest, or the number of windows.
    pub fn first_narrow_window(self) -> usize {
        match self.wide_windows() {
            0 => self.windows(),
            wide => wide,
        }
    }

    /// High bits of a bucket's number.
    pub fn coarse_bits(self) -> u32 {
        self.log_buckets() - self.fine_bits()
    }

    /// References of all windows.
    pub fn refs(self) -> usize {
        self.terms * self.windows()
    }

    /// Longest segment: twice the mean of uniform scalars in the narrowest window, so that only uneven buckets are
    /// split.
    pub fn max_segment(self) -> u32 {
        let narrowest = self.window_bits(self.windows() - 1) - 1;
        let mean = (self.terms >> narrowest).min(MAX_SEGMENT as usize) as u32;
        (2 * mean).clamp(MIN_SEGMENT, MAX_SEGMENT)
    }

    /// Buckets that may be longer than a segment.
    pub fn max_splits(self) -> usize {
        self.buckets()
            .min(self.refs() / self.max_segment() as usize)
    }

    /// Segments of split buckets: each has at least half of the longest length.
    pub fn max_partials(self) -> usize {
        2 * (self.refs() / self.max_segment() as usize)
    }

    /// Bytes of device memory that a multiplication with bases of `base_bytes` takes, but for a hundredth of them and a MiB.
    pub fn room_bytes(self, base_bytes: usize) -> u64 {
        let refs = 4 * self.refs();
        let items = 8 * self.terms * self.group();
        let segments = (SEGMENT_BYTES + base_bytes) * (self.buckets() + self.max_partials());
        let offsets = 4 * self.buckets();
        let splits = SPLIT_BYTES * self.max_splits();
        // Partials are two points of four coordinates each.
        let partials = 4 * base_bytes * self.partial_entries().iter().sum::<usize>();
        (refs + items + segments + offsets + splits + partials) as u64
    }

    /// Windows that are sorted at once: their items take a GiB together, or more where there is one.
    pub(crate) fn group(self) -> usize {
        (SCRATCH_BYTES / (8 * self.terms.max(1))).clamp(1, self.windows())
    }

    /// Logarithm of the buckets that are added up, as groups and as columns, before the reduction: 0 where they are too few
    /// for that, or the references and partial sums of their members leave too little room.
    pub fn log_group(self) -> u32 {
        const LOG_GROUP: u32 = 5;
        let narrowest = self.window_bits(self.windows() - 1) - 1;
        let room = 2 * self.buckets() <= self.refs()
            && 2 * (self.buckets() >> LOG_GROUP) <= self.max_partials();
        if self.buckets() >= self.min_grouped_buckets && narrowest >= 2 * LOG_GROUP && room {
            LOG_GROUP
        } else {
            0
        }
    }

    /// Steps from buckets, or groups of them, to the entries that the host adds up.
    pub fn reduction(self) -> Vec<ReduceStep> {
        const THREADS_LOG: u32 = 17;
        // Steps take as long as their chunks, since their threads are few.
        const CHUNK_LOG: u32 = 3;
        let log_group = self.log_group();
        let mut left = self.log_buckets() - log_group;
        let total = (self.buckets() >> log_group).ilog2();
        let first = total.saturating_sub(THREADS_LOG).clamp(2, 6).min(left);
        let mut steps = vec![ReduceStep {
            log_chunk: first,
            log_unit: log_group,
        }];
        left -= first;
        let mut log_unit = log_group + first;
        while left > HOST_ENTRIES_LOG {
            let log_chunk = CHUNK_LOG.min(left - 3);
            steps.push(ReduceStep {
                log_chunk,
                log_unit,
            });
            left -= log_chunk;
            log_unit += log_chunk;
        }
        steps
    }

    /// Entries after the steps of the reduction, which take turns with two buffers.
    pub(crate) fn partial_entries(self) -> [usize; 2] {
        let steps = self.reduction();
        let after = |step: &ReduceStep| self.buckets() >> (step.log_unit + step.log_chunk);
        [0, 1].map(|number| steps.get(number).map_or(0, after))
    }

    /// Entries that are left when the device is done.
    pub fn num_results(self) -> usize {
        self.buckets() >> self.taken()
    }

    /// Bits of a bucket's number that groups and the reduction take.
    pub(crate) fn taken(self) -> u32 {
        let chunks = self.reduction();
        self.log_group() + chunks.iter().map(|step| step.log_chunk).sum::<u32>()
    }

    /// The result from the entries that are left.
    pub fn combine<C: Coordinate>(self, entries: &[Partial<C>]) -> C::Point {
        if self.terms == 0 {
            return C::Point::identity();
        }
        let bits: Vec<u32> = (0..self.windows()).map(|w| self.window_bits(w)).collect();
        combine_windows(entries, &bits, self.taken())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plans() -> impl Iterator<Item = MsmPlan> {
        (0..=28).flat_map(|log| {
            [(1_usize << log) - 1, 1 << log, (1 << log) + 1]
                .into_iter()
                .flat_map(|terms| (4..=24).map(move |width| MsmPlan::with_width(terms, width)))
                .flat_map(|plan| [plan, plan.with_groups_from(0)])
        })
    }

    #[test]
    fn no_terms_still_give_a_plan() {
        assert!(MsmPlan::new(0).windows() > 0);
    }

    #[test]
    fn windows_cover_the_bit_above_the_scalar() {
        for plan in plans() {
            let bits: u32 = (0..plan.windows()).map(|w| plan.window_bits(w)).sum();
            assert_eq!(bits, SCALAR_BITS + 1);
            assert!((0..plan.windows()).all(|w| plan.window_bits(w) <= plan.width));
        }
    }

    #[test]
    fn the_reduction_ends_with_few_entries_and_counts_every_bucket() {
        for plan in plans() {
            let steps = plan.reduction();
            assert!(plan.log_buckets() - plan.taken() <= HOST_ENTRIES_LOG);
            let mut unit = plan.log_group();
            for step in steps {
                assert_eq!(step.log_unit, unit);
                assert!(step.log_chunk > 0);
                unit += step.log_chunk;
            }
        }
    }

    #[test]
    fn segments_of_the_worst_case_fit() {
        for plan in plans() {
            let longest = plan.max_segment() as usize;
            let parts = plan.terms.div_ceil(longest);
            if plan.terms > longest {
                assert!(parts * plan.windows() <= plan.max_partials(), "{plan:?}");
                assert!(plan.windows() <= plan.max_splits(), "{plan:?}");
            }
        }
    }

    #[test]
    fn groups_and_their_members_find_room() {
        for plan in plans().filter(|plan| plan.log_group() > 0) {
            let sums = 2 * (plan.buckets() >> plan.log_group());
            assert!(sums <= plan.max_partials(), "{plan:?}");
            assert!(sums << plan.log_group() <= plan.refs(), "{plan:?}");
            assert!(plan.windows() << plan.log_group() <= plan.max_splits());
        }
    }

    #[test]
    fn large_sums_add_up_their_buckets_in_groups() {
        assert_eq!(MsmPlan::new(1 << 16).log_group(), 0);
        assert!((22..=28).all(|log| MsmPlan::new(1 << log).log_group() > 0));
    }

    #[test]
    fn the_table_rises() {
        assert!(
            WIDTHS
                .windows(2)
                .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1)
        );
    }
}
