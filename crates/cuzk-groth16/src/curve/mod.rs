//! Points of G1 and G2 in the one form that the prover works on: affine, Montgomery, 96 and 192 bytes.
//!
//! [`Affine`] has the layout of `blst`'s affine points, infinity being the pair of zeros (which lies on neither
//! curve), so conversion to and from `blstrs` copies bytes. [`CurveField`] ties a coordinate field to its curve,
//! which lets one generic implementation serve both groups. Sums of many points go through a [`PointKernel`].

#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        unused_imports,
        reason = "elsewhere there is one arithmetic and nothing to choose"
    )
)]

mod affine;
pub(crate) mod batch;
mod encoding;
pub(crate) mod kernel;
#[cfg(test)]
mod tests;

pub use affine::{Affine, CurveField, G1Point, G2Point};
pub use encoding::{PointError, decode_point, decode_point_unchecked, encode_point};
pub use kernel::Arithmetic;
pub(crate) use kernel::{KernelVisitor, Pick, PointKernel, Sources};
