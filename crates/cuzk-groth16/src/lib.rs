//! cuzk-groth16

mod curve;
mod field;

pub use curve::{
    Affine, CurveField, G1Point, G2Point, PointError, decode_point, decode_point_unchecked,
    encode_point,
};
pub use field::{Coordinate, Fp, Fp2, InversionScratch, batch_invert};
