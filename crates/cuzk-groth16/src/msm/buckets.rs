//! Buckets of one window: sort a chunk's points into them, add them up within each, weigh the buckets.
//!
//! Points of a bucket are added pairwise in rounds, so that equal buckets, a single huge one and anything between
//! cost one addition per point and every inversion is shared by a full batch of independent sums.

use group::Group;

use super::scalars::{Recoded, Windows};
use crate::curve::batch::{BATCH_PAIRS, PairBatch, add_each};
use crate::curve::{CurveField, Pick, PointKernel};

/// Points that one task adds up, unless a single bucket has more: eight batches.
const TASK_POINTS: usize = 8 * BATCH_PAIRS;
/// Stripes into which buckets are cut for weighing; also the size of its batches.
const STRIPES: usize = 256;
/// Buckets below which weighing is done in projective coordinates.
const FEW_BUCKETS: usize = 32;

/// A chunk's non-zero digits of one window, sorted by bucket.
#[derive(Default)]
pub(crate) struct SortedDigits {
    /// Entries of bucket b are `offsets[b]..offsets[b + 1]`.
    offsets: Vec<u32>,
    /// Index of the point, shifted left by one; the lowest bit says that the point is to be subtracted.
    entries: Vec<u32>,
}

impl SortedDigits {
    /// Bytes for a chunk of `points` points.
    pub(crate) const fn bytes(points: usize, windows: Windows) -> usize {
        (points + windows.buckets() + 2) * size_of::<u32>()
    }

    /// Counting sort of the digits that `scalars` have in `window`.
    pub(crate) fn sort(&mut self, scalars: &[Recoded], windows: Windows, window: u32) {
        let offsets = &mut self.offsets;
        offsets.clear();
        offsets.resize(windows.buckets() + 2, 0);
        // Bucket b is counted at b + 2: after summing, b + 1 holds its start, and after placing, its end.
        for scalar in scalars {
            let digit = windows.digit(scalar, window);
            if digit != 0 {
                offsets[digit.unsigned_abs() as usize + 1] += 1;
            }
        }
        let mut total = 0;
        for offset in offsets.iter_mut() {
            total += *offset;
            *offset = total;
        }
        self.entries.clear();
        self.entries.resize(total as usize, 0);
        for (index, scalar) in scalars.iter().enumerate() {
            let digit = windows.digit(scalar, window);
            if digit != 0 {
                let place = &mut offsets[digit.unsigned_abs() as usize];
                self.entries[*place as usize] = (index as u32) << 1 | u32::from(digit < 0);
                *place += 1;
            }
        }
    }

    /// Cuts `buckets` into tasks of about equal work; buckets without entries at the ends are left out.
    pub(crate) fn tasks<'a, P>(&'a self, mut buckets: &'a mut [P]) -> Vec<BucketTask<'a, P>> {
        let mut tasks = Vec::with_capacity(self.entries.len() / TASK_POINTS + 1);
        let mut start = 0;
        let end = buckets.len();
        while start < end {
            let limit = self.offsets[start] as usize + TASK_POINTS;
            let full = self.offsets[start + 1..end].partition_point(|end| (*end as usize) < limit);
            let len = full + 1;
            let (own, rest) = buckets.split_at_mut(len);
            buckets = rest;
            if self.offsets[start] != self.offsets[start + len] {
                tasks.push(BucketTask {
                    buckets: own,
                    offsets: &self.offsets[start..=start + len],
                    entries: &self.entries,
                });
            }
            start += len;
        }
        tasks
    }
}

/// A range of buckets with the entries that belong to them.
pub(crate) struct BucketTask<'a, P> {
    buckets: &'a mut [P],
    offsets: &'a [u32],
    entries: &'a [u32],
}

/// Sums that are still to be added up in one bucket.
#[derive(Clone, Copy)]
struct Pending {
    bucket: u32,
    count: u32,
}

/// Reusable space of [`BucketTask::accumulate`].
pub(crate) struct BucketScratch<P> {
    /// Sums of this round and of the next, bucket by bucket.
    sums: [Vec<P>; 2],
    pending: Vec<Pending>,
}

impl<P> BucketScratch<P> {
    pub(crate) const fn new() -> Self {
        Self {
            sums: [Vec::new(), Vec::new()],
            pending: Vec::new(),
        }
    }

    /// Bytes for a usual task; one huge bucket takes up to three quarters of a chunk of points.
    pub(crate) const fn bytes() -> usize {
        TASK_POINTS * (size_of::<P>() + size_of::<Pending>())
    }
}

/// Sources and targets: 0 is the list of points or sums, 1 the buckets.
const LIST: usize = 0;
const BUCKETS: usize = 1;

impl<P: Copy> BucketTask<'_, P> {
    /// Adds every entry's point to its bucket.
    ///
    /// In each round the points of a bucket are added in pairs, and an odd one is added to the bucket itself.
    pub(crate) fn accumulate<K: PointKernel<Point = P>>(
        mut self,
        points: &[P],
        batch: &mut PairBatch<K>,
        scratch: &mut BucketScratch<P>,
    ) {
        let BucketScratch {
            sums: [current, next],
            pending,
        } = scratch;
        self.first_round(points, batch, current, pending);
        while !pending.is_empty() {
            next_round(self.buckets, batch, current, next, pending);
            std::mem::swap(current, next);
        }
    }

    fn first_round<K: PointKernel<Point = P>>(
        &mut self,
        points: &[P],
        batch: &mut PairBatch<K>,
        sums: &mut Vec<P>,
        pending: &mut Vec<Pending>,
    ) {
        let num_entries = self.offsets[self.offsets.len() - 1] - self.offsets[0];
        sums.resize(num_entries as usize / 2, K::INFINITY);
        pending.clear();
        let pick = |entry: u32| Pick::new(LIST, (entry >> 1) as usize).negate_if(entry & 1 == 1);
        let mut place = 0;
        for (bucket, bounds) in self.offsets.windows(2).enumerate() {
            let entries = &self.entries[bounds[0] as usize..bounds[1] as usize];
            let count = entries.len() as u32 / 2;
            if count > 0 {
                let bucket = bucket as u32;
                pending.push(Pending { bucket, count });
            }
            for pair in entries.chunks(2) {
                let (left, target) = match pair {
                    [_, right] => (pick(*right), Pick::new(LIST, place)),
                    _ => (Pick::new(BUCKETS, bucket), Pick::new(BUCKETS, bucket)),
                };
                place += pair.len() - 1;
                if batch.push([points, self.buckets], [left, pick(pair[0])], target) {
                    batch.add_up([points, self.buckets]);
                    batch.scatter([sums, self.buckets]);
                }
            }
        }
        batch.add_up([points, self.buckets]);
        batch.scatter([sums, self.buckets]);
    }
}

/// Adds pairs of sums of the same bucket, or the last one to the bucket.
fn next_round<K: PointKernel>(
    buckets: &mut [K::Point],
    batch: &mut PairBatch<K>,
    current: &[K::Point],
    next: &mut Vec<K::Point>,
    pending: &mut Vec<Pending>,
) {
    next.resize(current.len() / 2, K::INFINITY);
    let (mut from, mut place) = (0, 0);
    for pending in pending.iter_mut() {
        let bucket = pending.bucket as usize;
        let end = from + pending.count as usize;
        while from < end {
            let (left, target) = if from + 1 < end {
                (Pick::new(LIST, from + 1), Pick::new(LIST, place))
            } else {
                (Pick::new(BUCKETS, bucket), Pick::new(BUCKETS, bucket))
            };
            place += usize::from(from + 1 < end);
            let pair = [left, Pick::new(LIST, from)];
            if batch.push([current, buckets], pair, target) {
                batch.add_up([current, buckets]);
                batch.scatter([next, buckets]);
            }
            from += 2;
        }
        from = end;
        pending.count /= 2;
    }
    batch.add_up([current, buckets]);
    batch.scatter([next, buckets]);
    pending.retain(|pending| pending.count > 0);
}

/// Σ (b + 1)·bucket b.
///
/// Buckets are cut into stripes that are walked from their ends in step: a running sum per stripe, and the sum of the
/// running sums, which weighs each bucket by its place. The stripes' own weights are applied to the running sums.
pub(crate) fn weigh<K: PointKernel>(
    batch: &mut PairBatch<K>,
    buckets: &[K::Point],
) -> <K::Field as CurveField>::Projective {
    if buckets.len() <= FEW_BUCKETS {
        return weigh_few::<K>(buckets);
    }
    let stripes = STRIPES.min(buckets.len() / FEW_BUCKETS);
    let stripe_len = buckets.len() / stripes;
    let mut running = vec![K::INFINITY; stripes];
    let mut weighted = vec![K::INFINITY; stripes];
    let mut column = vec![K::INFINITY; stripes];
    for step in (0..stripe_len).rev() {
        for (stripe, bucket) in column.iter_mut().enumerate() {
            *bucket = buckets[stripe * stripe_len + step];
        }
        add_each(batch, &mut running, &column);
        add_each(batch, &mut weighted, &running);
    }
    let stripe_weights = weigh_few::<K>(&running[1..]);
    let scale = blstrs::Scalar::from(stripe_len as u64);
    let mut total = stripe_weights * scale;
    for sum in &weighted {
        total += K::unpack(sum).to_blstrs();
    }
    total
}

/// As [`weigh`], one addition after the other.
fn weigh_few<K: PointKernel>(buckets: &[K::Point]) -> <K::Field as CurveField>::Projective {
    let mut running = <K::Field as CurveField>::Projective::identity();
    let mut total = running;
    for bucket in buckets.iter().rev() {
        running += K::unpack(bucket).to_blstrs();
        total += running;
    }
    total
}
