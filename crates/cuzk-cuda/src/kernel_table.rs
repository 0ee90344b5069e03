//! What a bench of a card tells, whether or not this program can run one.

use std::collections::BTreeMap;

use serde::Serialize;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BenchPlan {
    /// Operations on fewer than 2^`smallest` elements are left out.
    pub smallest: u32,
    /// Operations on more than 2^`largest` elements are left out.
    pub largest: u32,
    /// Multiplications also with digits one bit narrower and one bit wider than the tuning table says.
    pub sweep: bool,
}

/// The time of one operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimeLine {
    /// Such as "multiexp g1".
    pub operation: &'static str,
    /// Logarithm of the number of elements.
    pub log_size: u32,
    /// Bits of a digit, of multiplications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Median of several runs.
    pub ms: f64,
    /// The same by the field multiplications alone.
    pub floor_ms: f64,
    /// `ms` over `floor_ms`.
    pub ratio: f64,
    /// Of a multiplication: digits and their grouping, sums of buckets, weighted sums of buckets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stages_ms: Option<[f64; 3]>,
}

/// A rate of the card.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RateLine {
    /// Of what.
    pub rate: &'static str,
    /// Operations, or bytes.
    pub per_second: f64,
    /// The most that is possible by the card's clocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_per_second: Option<f64>,
    /// `per_second` over its bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
}

impl RateLine {
    /// A rate beside its bound.
    pub fn new(rate: &'static str, per_second: f64, bound_per_second: Option<f64>) -> Self {
        Self {
            rate,
            per_second,
            bound_per_second,
            ratio: bound_per_second.map(|bound| per_second / bound),
        }
    }
}

/// The rate of a copy beside the others of the same run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CopyLine {
    /// Such as "upload, page-locked".
    pub copy: &'static str,
    /// Bytes that arrive.
    pub bytes_per_second: f64,
    /// The rate over that of each of the others.
    pub ratio_to: BTreeMap<&'static str, f64>,
}

impl CopyLine {
    /// Lines of all copies, by name and rate.
    pub fn all(rates: &[(&'static str, f64)]) -> Vec<Self> {
        let others = |own: &'static str| rates.iter().filter(move |(other, _)| *other != own);
        rates
            .iter()
            .map(|&(copy, bytes_per_second)| Self {
                copy,
                bytes_per_second,
                ratio_to: others(copy)
                    .map(|(other, rate)| (*other, bytes_per_second / rate))
                    .collect(),
            })
            .collect()
    }
}

/// The values of all rows of a circuit, by its templates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluationLine {
    /// Rows that have values; zeros follow up to the size of the domain.
    pub num_rows: u64,
    /// Logarithm of that size.
    pub log_domain: u32,
    /// Median of several runs.
    pub ms: f64,
    /// Rows that have values.
    pub rows_per_second: f64,
    /// Bytes of all three values of each row of the domain.
    pub bytes_written_per_second: f64,
    /// The bytes over those that a copy within the card writes in the same time.
    pub ratio_to_device_copy: f64,
    /// Whether every row held.
    pub satisfied: bool,
}

/// The table of a card.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelTable {
    /// What the card does when it does one thing only.
    pub rates: Vec<RateLine>,
    /// What copies do.
    pub copies: Vec<CopyLine>,
    /// What row values take.
    pub evaluation: EvaluationLine,
    /// What the operations take.
    pub times: Vec<TimeLine>,
    /// Most bytes of the card in use at a time.
    pub peak_device_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_compared_with_all_others_and_not_with_itself() {
        let lines = CopyLine::all(&[("up", 10.0), ("down", 5.0), ("within", 40.0)]);
        assert_eq!(
            lines[0].ratio_to,
            BTreeMap::from([("down", 2.0), ("within", 0.25)])
        );
        assert_eq!(
            lines[2].ratio_to,
            BTreeMap::from([("up", 4.0), ("down", 8.0)])
        );
    }
}
