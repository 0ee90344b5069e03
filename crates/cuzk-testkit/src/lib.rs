#![doc = include_str!("../README.md")]

pub mod circuits;
pub mod conformance;
pub mod fake;
pub mod keys;
