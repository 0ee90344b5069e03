//! cuzk-circuits
