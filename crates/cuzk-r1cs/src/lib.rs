//! cuzk-r1cs
