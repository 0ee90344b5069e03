//! cuzk-testkit
