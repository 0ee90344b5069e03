//! Between wire messages and the engine's own types, in both directions. Nothing else in this crate knows both.

mod answer;
mod request;
mod status;
mod words;

pub(crate) use answer::{answer_of, ms};
pub(crate) use request::{job_request, terms_of};
pub(crate) use status::{capabilities, health, job_info, status_response};
pub(crate) use words::{kind_of, priority_of, queue_name};
