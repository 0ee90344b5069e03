//! Times by size, in buckets that fit both a verification and a proof of an hour.

use std::time::Duration;

/// Upper bounds in seconds.
pub(super) const BOUNDS: [f64; 14] = [
    0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0, 600.0, 3600.0,
];

/// Counts per bucket, not cumulative; the last is for what is larger than every bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Histogram {
    counts: [u64; BOUNDS.len() + 1],
    sum: Duration,
}

impl Histogram {
    pub(super) fn observe(&mut self, value: Duration) {
        let seconds = value.as_secs_f64();
        let bucket = BOUNDS.partition_point(|bound| *bound < seconds);
        self.counts[bucket] += 1;
        self.sum += value;
    }

    /// Bounds with the number of values up to each.
    pub(super) fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        BOUNDS
            .into_iter()
            .zip(self.counts)
            .scan(0, |total, (bound, count)| {
                *total += count;
                Some((bound, *total))
            })
    }

    pub(super) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(super) fn sum_seconds(&self) -> f64 {
        self.sum.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_on_a_bound_is_in_the_bucket_that_the_bound_closes() {
        let mut histogram = Histogram::default();
        for ms in [1, 2, 5, 4_000_000] {
            histogram.observe(Duration::from_millis(ms));
        }
        let counts: Vec<u64> = histogram.cumulative().map(|(_, count)| count).collect();
        assert_eq!(counts[..3], [1, 3, 3]);
        assert_eq!(
            counts.last(),
            Some(&3),
            "an hour is not enough for the last"
        );
        assert_eq!(histogram.count(), 4);
        assert!((histogram.sum_seconds() - 4000.008).abs() < 1e-9);
    }
}
