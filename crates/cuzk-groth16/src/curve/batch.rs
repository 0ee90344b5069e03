//! Algorithms name pairs of points to add one at a time; kernels want them by the thousand.
//!
//! [`PairBatch`] collects pairs, as picks from two sources, and where each sum belongs, in one of two targets. Picked
//! points are asked for when they are named and read when the batch is added up, so that scattered ones have arrived
//! by then.

use super::kernel::{Pick, PointKernel, Sources};
use crate::field::prefetch;

/// Pairs per inversion: large enough to hide it, small enough that a batch stays in the second-level cache.
///
/// An inversion costs as much as about 40 eight-lane products; 1,024 pairs take 900 of them.
pub(crate) const BATCH_PAIRS: usize = 1024;

/// Additions that wait to be made together.
pub(crate) struct PairBatch<K: PointKernel> {
    kernel: K,
    pairs: Vec<[Pick; 2]>,
    places: Vec<Pick>,
    sums: Vec<K::Point>,
    scratch: K::Scratch,
}

impl<K: PointKernel> PairBatch<K> {
    pub(crate) fn new(kernel: K) -> Self {
        Self {
            kernel,
            pairs: Vec::with_capacity(BATCH_PAIRS),
            places: Vec::with_capacity(BATCH_PAIRS),
            sums: vec![K::INFINITY; BATCH_PAIRS],
            scratch: K::scratch(BATCH_PAIRS),
        }
    }

    /// Bytes that a batch holds.
    pub(crate) fn bytes() -> usize {
        BATCH_PAIRS * (size_of::<K::Point>() + 3 * size_of::<Pick>())
            + K::scratch_bytes(BATCH_PAIRS)
    }

    /// Names a pair and the place of its sum; `true` when the batch is full and must be added up.
    #[inline]
    #[must_use = "a full batch must be added up before another pair is named"]
    pub(crate) fn push(
        &mut self,
        sources: Sources<'_, K::Point>,
        pair: [Pick; 2],
        place: Pick,
    ) -> bool {
        prefetch(pair[0].of(&sources));
        prefetch(pair[1].of(&sources));
        self.pairs.push(pair);
        self.places.push(place);
        self.pairs.len() == BATCH_PAIRS
    }

    /// Makes the additions that wait; [`Self::scatter`] must follow.
    pub(crate) fn add_up(&mut self, sources: Sources<'_, K::Point>) {
        if !self.pairs.is_empty() {
            let sums = &mut self.sums[..self.pairs.len()];
            self.kernel
                .sum_pairs(sources, &self.pairs, sums, &mut self.scratch);
        }
    }

    /// Puts the sums into their places in two targets.
    pub(crate) fn scatter(&mut self, targets: [&mut [K::Point]; 2]) {
        let [first, second] = targets;
        for (place, sum) in self.places.iter().zip(&self.sums) {
            let target = if place.source() == 0 {
                &mut *first
            } else {
                &mut *second
            };
            target[place.index()] = *sum;
        }
        self.pairs.clear();
        self.places.clear();
    }
}

/// Adds `addends[i]` to `sums[i]` for every i; a lone `batch` call for each thousand.
pub(crate) fn add_each<K: PointKernel>(
    batch: &mut PairBatch<K>,
    sums: &mut [K::Point],
    addends: &[K::Point],
) {
    for first in (0..addends.len()).step_by(BATCH_PAIRS) {
        for index in first..addends.len().min(first + BATCH_PAIRS) {
            let pair = [Pick::new(0, index), Pick::new(1, index)];
            let _ = batch.push([sums, addends], pair, Pick::new(0, index));
        }
        batch.add_up([sums, addends]);
        batch.scatter([sums, &mut []]);
    }
}

/// The sum of `points`, by halving; leaves partial sums in the slice.
pub(crate) fn sum_list<K: PointKernel>(
    batch: &mut PairBatch<K>,
    points: &mut [K::Point],
) -> K::Point {
    let mut len = points.len();
    while len > 1 {
        let half = len / 2;
        let (low, high) = points[..len].split_at_mut(len - half);
        add_each(batch, &mut low[..half], high);
        len -= half;
    }
    points.first().copied().unwrap_or(K::INFINITY)
}

/// A sum of many points that arrive in runs, kept as [`BATCH_PAIRS`] partial sums.
pub(crate) struct RunningSum<K: PointKernel> {
    partial: Vec<K::Point>,
}

impl<K: PointKernel> RunningSum<K> {
    pub(crate) const fn new() -> Self {
        Self {
            partial: Vec::new(),
        }
    }

    /// Bytes that the partial sums take.
    pub(crate) const fn bytes() -> usize {
        BATCH_PAIRS * size_of::<K::Point>()
    }

    /// Adds all of `points`.
    pub(crate) fn add(&mut self, batch: &mut PairBatch<K>, points: &[K::Point]) {
        if self.partial.is_empty() {
            self.partial.resize(BATCH_PAIRS, K::INFINITY);
        }
        for points in points.chunks(BATCH_PAIRS) {
            add_each(batch, &mut self.partial[..points.len()], points);
        }
    }

    /// The sum of everything that was added.
    pub(crate) fn total(mut self, batch: &mut PairBatch<K>) -> K::Point {
        sum_list(batch, &mut self.partial)
    }
}
