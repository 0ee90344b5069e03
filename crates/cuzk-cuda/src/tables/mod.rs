//! A compiled circuit in the form of the kernels: flat arrays, and variables as numbers that need no search.

mod queries;
mod rows;
#[cfg(test)]
mod tests;

pub use queries::{QueryPart, QueryTables, WideTerms};
pub use rows::{RowTables, TemplateRows};
