//! cuzk-groth16
