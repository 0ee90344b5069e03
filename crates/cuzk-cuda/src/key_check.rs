//! Are all 460 million points of a key what they should be? A random combination of them is one multiplication on the
//! device, and the same combination of their scalars is one sum on the host: they agree by chance once in 2^254 times.

use blstrs::Scalar;
use cuzk_groth16::Section;
use cuzk_groth16::setup::KeyScalars;
use ff::Field;
use group::Group;
use rayon::prelude::*;

use crate::{
    CudaError, Device, DeviceBuffer, DeviceGroup, DeviceKey, MsmPlan, MultiExp, ScalarForm,
    elements::Base, fill_random,
};

const BLOCK: usize = 1 << 13;

impl DeviceKey {
    /// The first query that is not the multiples of the generator by `scalars`, or none; `seed` chooses the combination.
    ///
    /// # Errors
    ///
    /// [`CudaError::OutOfMemory`], [`CudaError::Kernel`], [`CudaError::Driver`].
    pub fn check(
        &self,
        device: &Device,
        scalars: &KeyScalars,
        seed: u64,
    ) -> Result<Option<Section>, CudaError> {
        let in_g1 = [
            (Section::H, &self.h),
            (Section::L, &self.l),
            (Section::A, &self.a),
            (Section::BG1, &self.b_g1),
        ];
        for (section, points) in in_g1 {
            if !is_multiple_of(device, points, scalars, section, seed)? {
                return Ok(Some(section));
            }
        }
        let in_g2 = is_multiple_of(device, &self.b_g2, scalars, Section::BG2, seed)?;
        Ok((!in_g2).then_some(Section::BG2))
    }
}

fn is_multiple_of<C: DeviceGroup<Point: Group<Scalar = Scalar>>>(
    device: &Device,
    points: &DeviceBuffer<Base<C>>,
    scalars: &KeyScalars,
    section: Section,
    seed: u64,
) -> Result<bool, CudaError> {
    let len = points.len();
    if scalars.counts().of(section) != len as u64 {
        return Ok(false);
    }
    let factors = fill_random(device, len, seed)?;
    let mut room = MultiExp::new(device, MsmPlan::new(len))?;
    let sum = room.run(device, points, &factors, ScalarForm::Montgomery)?;
    let factors = device.download_scalars(&factors)?;
    let expected: Scalar = factors
        .par_chunks(BLOCK)
        .enumerate()
        .map_init(
            || vec![Scalar::ZERO; BLOCK],
            |own, (block, factors)| {
                let own = &mut own[..factors.len()];
                scalars.write(section, block * BLOCK, own);
                let terms = own.iter().zip(factors);
                terms
                    .map(|(scalar, factor)| scalar * factor.to_scalar())
                    .sum::<Scalar>()
            },
        )
        .sum();
    Ok(sum == C::Point::generator() * expected)
}
