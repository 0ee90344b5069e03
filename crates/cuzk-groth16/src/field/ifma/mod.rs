//! A 381-bit product costs 40 ns through `blst`; with AVX-512 IFMA eight of them together cost about 80 ns.
//!
//! Eight independent field elements are kept limb-sliced: limb j of all eight in one 512-bit register, 52 bits per
//! limb, because the instruction multiplies 52-bit halves. Montgomery's radix is 2^(52·limbs), not that of `blst`;
//! conversions are at the edges only. Nothing here runs unless [`Ifma::detect`] found the instructions, and every
//! caller has a portable twin that gives the same results.

#![allow(
    unsafe_code,
    reason = "vector loads and stores, and calls into code compiled for detected instructions"
)]

pub(crate) mod butterflies;
pub(crate) mod element;
pub(crate) mod lanes;
pub(crate) mod montgomery;
pub(crate) mod points;
pub(crate) mod pointwise;
pub(crate) mod scalar;

/// Proof that this processor has the instructions that this module is compiled for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ifma(());

impl Ifma {
    /// The proof, where the processor and the operating system offer AVX-512 F and IFMA.
    pub(crate) fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512ifma");
        found.then_some(Self(()))
    }
}
