//! The oracle: every product by double-and-add, every sum in projective coordinates.

use blstrs::Scalar;
use ff::Field;
use group::Group;

use super::error::MsmError;
use super::segment::ScalarSegment;
use super::source::BaseSource;
use crate::curve::{CurveField, decode_point_unchecked};

/// Σ sᵢ·Pᵢ, the obvious way.
///
/// # Errors
/// [`MsmError`] when the scalars do not fit the bases.
pub fn msm_naive<F: CurveField>(
    bases: &dyn BaseSource<F>,
    segments: &[ScalarSegment<'_>],
) -> Result<F::Projective, MsmError> {
    let scalars: Vec<Scalar> = ScalarSegment::checked(bases, segments)?
        .iter()
        .flat_map(|segment| segment.to_scalars())
        .collect();
    let encoded = bases.encoded(0..bases.len());
    let mut sum = F::Projective::identity();
    for (scalar, bytes) in scalars.iter().zip(encoded.chunks_exact(2 * F::BYTES)) {
        if !bool::from(scalar.is_zero()) {
            sum += decode_point_unchecked::<F>(bytes).to_projective() * scalar;
        }
    }
    Ok(sum)
}
