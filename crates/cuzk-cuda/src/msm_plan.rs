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
/// Buckets that one block groups in shared memory.
const MAX_FINE_BITS: u32 = 9;
/// A segment's length is counted in a table of this many entries.
const MAX_SEGMENT: u32 = 1023;
const MIN_SEGMENT: u32 = 32;
/// Bytes of the items of windows that are sorted together.
const SCRATCH_BYTES: usize = 1 << 30;
/// Bytes of a segment, and of a split bucket's description, on the device.
const SEGMENT_BYTES: usize = 12;
const SPLIT_BYTES: usize = 20;
/// Entries per window that the host adds up.
const HOST_ENTRIES_LOG: u32 = 5;

/// Widths by number of terms, chosen by `cuzk bench kernels --sweep` on an H200 (`sm_90`). `(log2 of the terms, width)`, rising.
const WIDTHS: [(u32, u32); 9] = [
    (6, 7),
    (9, 9),
    (11, 10),
    (12, 11),
    (14, 12),
    (16, 15),
    (22, 17),
    (24, 20),
    (26, 22),
];

/// Sizes of a multiplication of `terms` terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MsmPlan {
    /// Number of bases and scalars.
    pub terms: usize,
    /// Bits of a digit.
    pub width: u32,
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
        self.log_buckets().min(MAX_FINE_BITS)
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
        let partials = 4 * base_bytes * (self.buckets() >> self.reduction()[0].log_chunk);
        (refs + items + segments + offsets + splits + partials) as u64
    }

    /// Windows that are sorted at once: their items take a GiB together, or more where there is one.
    pub(crate) fn group(self) -> usize {
        (SCRATCH_BYTES / (8 * self.terms.max(1))).clamp(1, self.windows())
    }

    /// Steps from buckets to the entries that the host adds up.
    pub fn reduction(self) -> Vec<ReduceStep> {
        const THREADS_LOG: u32 = 17;
        const CHUNK_LOG: u32 = 5;
        let mut left = self.log_buckets();
        let total = self.buckets().ilog2();
        let first = total.saturating_sub(THREADS_LOG).clamp(2, 6).min(left);
        let mut steps = vec![ReduceStep {
            log_chunk: first,
            log_unit: 0,
        }];
        left -= first;
        let mut log_unit = first;
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

    /// Entries that are left when the device is done.
    pub fn num_results(self) -> usize {
        self.buckets() >> self.taken()
    }

    /// Bits of a bucket's number that the reduction takes.
    fn taken(self) -> u32 {
        self.reduction().iter().map(|step| step.log_chunk).sum()
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
            let taken: u32 = steps.iter().map(|step| step.log_chunk).sum();
            assert!(plan.log_buckets() - taken <= HOST_ENTRIES_LOG);
            let mut unit = 0;
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
    fn the_table_rises() {
        assert!(
            WIDTHS
                .windows(2)
                .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1)
        );
    }
}
