//! What a bench of a card tells, whether or not this program can run one.

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

/// The table of a card.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelTable {
    /// What the card does when it does one thing only.
    pub rates: Vec<RateLine>,
    /// What the operations take.
    pub times: Vec<TimeLine>,
    /// Most bytes of the card in use at a time.
    pub peak_device_bytes: u64,
}
