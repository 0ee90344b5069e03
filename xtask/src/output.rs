//! The one place that writes to the terminal, so that printing stays denied everywhere else.
#![allow(
    clippy::print_stdout,
    reason = "this module is where the program prints"
)]

/// Prints one line to standard output.
pub(crate) fn line(text: impl std::fmt::Display) {
    println!("{text}");
}
