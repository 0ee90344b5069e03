//! Are the values of 130 million rows equal that two ways computed, if 12 GiB are too much to keep them?
//!
//! The values of each vector are the coefficients of a polynomial, and two polynomials that differ have the same value at a
//! point that was drawn at random with a probability of 2^-227. Rows may come in any order and on many threads, because
//! their shares are added up.

use ff::Field as _;

use crate::{Fr, ProductSum};

/// The polynomials of a, b, c at one point: equal for equal rows, different for different ones unless the point was chosen
/// with the rows in view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowDigest(pub [Fr; 3]);

/// Rows that share a power of the point.
const CHUNK_ROWS: usize = 1024;

/// What the rows are multiplied with.
pub(crate) struct RowWeights {
    /// Powers of the point, from 0.
    low: Vec<Fr>,
    /// The power number `CHUNK_ROWS`.
    step: Fr,
}

impl RowWeights {
    pub(crate) fn new(point: Fr) -> Self {
        let mut low = vec![Fr::ONE; CHUNK_ROWS];
        for index in 1..CHUNK_ROWS {
            low[index] = low[index - 1] * point;
        }
        let step = low[CHUNK_ROWS - 1] * point;
        Self { low, step }
    }
}

/// A digest of the rows that came so far.
pub(crate) struct RowFold<'a> {
    weights: &'a RowWeights,
    chunk: usize,
    /// Of the rows of `chunk`, not yet multiplied with its power.
    partial: [ProductSum; 3],
    total: RowDigest,
}

impl<'a> RowFold<'a> {
    pub(crate) fn new(weights: &'a RowWeights) -> Self {
        Self {
            weights,
            chunk: 0,
            partial: Default::default(),
            total: RowDigest::default(),
        }
    }

    /// Adds the values of a, b, c in a row.
    #[inline]
    pub(crate) fn add(&mut self, row: usize, values: [Fr; 3]) {
        if row / CHUNK_ROWS != self.chunk {
            self.close_chunk();
            self.chunk = row / CHUNK_ROWS;
        }
        let weight = self.weights.low[row % CHUNK_ROWS];
        for (sum, value) in self.partial.iter_mut().zip(values) {
            sum.add(value, weight);
        }
    }

    pub(crate) fn finish(mut self) -> RowDigest {
        self.close_chunk();
        self.total
    }

    fn close_chunk(&mut self) {
        let weight = self.weights.step.pow_vartime([self.chunk as u64]);
        let [a, b, c] = std::mem::take(&mut self.partial).map(|sum| sum.value() * weight);
        self.total.add(RowDigest([a, b, c]));
    }
}

impl RowDigest {
    /// The digest of the rows of both.
    pub(crate) fn add(&mut self, other: Self) {
        for (sum, share) in self.0.iter_mut().zip(other.0) {
            *sum += share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of a row that no other row has.
    fn values(row: usize) -> [Fr; 3] {
        [1, 2, 3].map(|side| Fr::from((3 * row + side) as u64))
    }

    fn digest(rows: impl Iterator<Item = (usize, [Fr; 3])>, weights: &RowWeights) -> RowDigest {
        let mut fold = RowFold::new(weights);
        for (row, values) in rows {
            fold.add(row, values);
        }
        fold.finish()
    }

    #[test]
    fn it_is_the_value_of_the_polynomials_in_any_order_of_the_rows() {
        let point = Fr::from(0x1234_5678_9abc_def1);
        let weights = RowWeights::new(point);
        let num_rows = 3 * CHUNK_ROWS + 5;
        let expected = [0, 1, 2].map(|side| {
            (0..num_rows)
                .rev()
                .fold(Fr::ZERO, |sum, row| sum * point + values(row)[side])
        });
        let found = digest((0..num_rows).map(|row| (row, values(row))), &weights);
        assert_eq!(found, RowDigest(expected));
        let backwards = (0..num_rows).rev().map(|row| (row, values(row)));
        assert_eq!(digest(backwards, &weights), found);
        let mut halves = digest((0..1500).map(|row| (row, values(row))), &weights);
        halves.add(digest(
            (1500..num_rows).map(|row| (row, values(row))),
            &weights,
        ));
        assert_eq!(halves, found);
    }

    #[test]
    fn one_value_of_one_row_changes_it() {
        let weights = RowWeights::new(Fr::from(77));
        let all = |changed: Option<(usize, usize)>| {
            let rows = (0..2100).map(|row| {
                let mut values = values(row);
                if let Some((_, side)) = changed.filter(|&(at, _)| at == row) {
                    values[side] += Fr::ONE;
                }
                (row, values)
            });
            digest(rows, &weights)
        };
        for (row, side) in [(0, 0), (1023, 1), (1024, 2), (2099, 0)] {
            assert_ne!(all(Some((row, side))), all(None), "row {row} side {side}");
        }
    }
}
