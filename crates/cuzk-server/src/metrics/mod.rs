//! What the engine does, as numbers over time. Counters and histograms are a fold over the engine's events; gauges are read
//! from its state when somebody asks.

mod catalog;
mod fold;
mod histogram;
mod text;

pub use catalog::{METRICS, Metric, MetricKind, reference};
pub(crate) use fold::Fold;
pub(crate) use text::render;
