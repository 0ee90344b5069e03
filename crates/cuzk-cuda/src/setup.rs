//! The development key of a 32 GiB circuit has 427 million points in G1 and 33 million in G2. A card multiplies them in
//! seconds where the processor takes hours; what is left to the host are the scalars.
//!
//! The points either stay on the card, for a machine whose disk has no room for 44 GiB, or leave it for the same writer
//! that takes the processor's: the bytes of the key do not tell who made it.

use std::ops::Range;

use blstrs::Scalar;
use cuzk_groth16::Section;
use cuzk_groth16::setup::{KeyScalars, PointSource, PointStream, StreamError};
use ff::Field;
use rayon::prelude::*;

use crate::{
    CudaError, Device, DeviceBuffer, DeviceKey, Fp, Fp2, RawScalar, ScalarForm,
    device_key::encode,
    driver::raw_scalars,
    elements::Base,
    fixed_base::{Factors, FixedBase, FixedGroup},
    transform::fill_powers,
};

/// Scalars uploaded at once; a card with many multiprocessors takes several rounds for them.
const CHUNK: usize = 1 << 22;
/// Points that one thread of the host prepares at once.
const HOST_BLOCK: usize = 1 << 13;

/// The vectors over G1, in the order of the file.
const IN_G1: [Section; 4] = [Section::H, Section::L, Section::A, Section::BG1];

impl DeviceKey {
    /// Makes a development key that stays on the device. The current rayon pool prepares the scalars.
    ///
    /// # Errors
    ///
    /// [`CudaError::OutOfMemory`] when [`crate::key_bytes`] and some GiB of tables exceed what is left,
    /// [`CudaError::Kernel`], [`CudaError::Driver`].
    pub fn generate(device: &Device, scalars: &KeyScalars) -> Result<Self, CudaError> {
        let mut g1 = Multiplier::<Fp>::new(device, scalars, &IN_G1, CHUNK)?;
        let h = g1.vector(Section::H)?;
        let l = g1.vector(Section::L)?;
        let a = g1.vector(Section::A)?;
        let b_g1 = g1.vector(Section::BG1)?;
        drop(g1);
        let mut g2 = Multiplier::<Fp2>::new(device, scalars, &[Section::BG2], CHUNK)?;
        Ok(Self {
            verifying_key: scalars.verifying_key().clone(),
            h,
            l,
            a,
            b_g1,
            b_g2: g2.vector(Section::BG2)?,
        })
    }
}

/// A device as the source of the points of a key file.
#[derive(Debug)]
pub struct DevicePoints<'a> {
    device: &'a Device,
    chunk: usize,
}

impl<'a> DevicePoints<'a> {
    /// Points from `device`.
    pub fn new(device: &'a Device) -> Self {
        Self {
            device,
            chunk: CHUNK,
        }
    }

    /// Points from `device`, `chunk` of them at once, for a card with little memory.
    ///
    /// # Panics
    ///
    /// When `chunk` is zero.
    pub fn by_chunks(device: &'a Device, chunk: usize) -> Self {
        assert!(chunk > 0, "a chunk has points");
        Self { device, chunk }
    }

    fn send_vectors<C: FixedGroup>(
        &self,
        scalars: &KeyScalars,
        sections: &[Section],
        stream: &mut PointStream<'_>,
    ) -> Result<(), StreamError> {
        let mut multiplier = Multiplier::<C>::new(self.device, scalars, sections, self.chunk)
            .map_err(from_device)?;
        let session = self.device.session();
        let mut points = session.allocate(self.chunk).map_err(from_device)?;
        let encoded = session.allocate(self.chunk).map_err(from_device)?;
        for &section in sections {
            let count = scalars.counts().of(section) as usize;
            stream.begin(section, count)?;
            for first in (0..count).step_by(self.chunk) {
                let len = self.chunk.min(count - first);
                let bytes = multiplier
                    .multiply(section, first..first + len, &mut points, 0)
                    .and_then(|()| encode(self.device, &points, 0..len, &encoded))
                    .and_then(|()| session.download_bytes(&encoded, len))
                    .map_err(from_device)?;
                stream.points(len, vec![bytes])?;
            }
        }
        Ok(())
    }
}

fn from_device(error: CudaError) -> StreamError {
    StreamError::Source(Box::new(error))
}

impl PointSource for DevicePoints<'_> {
    fn send(
        &mut self,
        scalars: &KeyScalars,
        stream: &mut PointStream<'_>,
    ) -> Result<(), StreamError> {
        self.send_vectors::<Fp>(scalars, &IN_G1, stream)?;
        self.send_vectors::<Fp2>(scalars, &[Section::BG2], stream)
    }
}

/// Multiplies the generator of one group with a key's scalars.
struct Multiplier<'a, C> {
    device: &'a Device,
    scalars: &'a KeyScalars,
    base: FixedBase<C>,
    staging: Vec<Scalar>,
    uploaded: DeviceBuffer<RawScalar>,
}

impl<'a, C: FixedGroup> Multiplier<'a, C> {
    fn new(
        device: &'a Device,
        scalars: &'a KeyScalars,
        sections: &[Section],
        chunk: usize,
    ) -> Result<Self, CudaError> {
        let counts = sections
            .iter()
            .map(|section| scalars.counts().of(*section) as usize);
        let (total, longest) = (counts.clone().sum(), counts.max().unwrap_or(0));
        let chunk = chunk.min(longest).max(1);
        Ok(Self {
            device,
            scalars,
            base: FixedBase::new(device, total, chunk)?,
            staging: vec![Scalar::ZERO; chunk],
            uploaded: device.session().allocate(chunk)?,
        })
    }

    /// All points of a vector.
    fn vector(&mut self, section: Section) -> Result<DeviceBuffer<Base<C>>, CudaError> {
        let count = self.scalars.counts().of(section) as usize;
        let mut points = self.device.session().allocate(count)?;
        for first in (0..count).step_by(self.staging.len()) {
            let range = first..count.min(first + self.staging.len());
            self.multiply(section, range, &mut points, first)?;
        }
        Ok(points)
    }

    /// Queues the points at positions `range` of a vector, at most a chunk, to `points` from number `place` on.
    ///
    /// While the device works on one chunk, the host prepares the next.
    fn multiply(
        &mut self,
        section: Section,
        range: Range<usize>,
        points: &mut DeviceBuffer<Base<C>>,
        place: usize,
    ) -> Result<(), CudaError> {
        let len = range.len();
        if section == Section::H {
            let [first, factor] = self.scalars.h_progression();
            let start = first * factor.pow_vartime([range.start as u64]);
            fill_powers(
                self.device,
                &mut self.uploaded,
                0,
                [start, factor],
                len as u64,
            )?;
        } else {
            let staged = &mut self.staging[..len];
            staged
                .par_chunks_mut(HOST_BLOCK)
                .enumerate()
                .for_each(|(block, out)| {
                    let first = range.start + block * HOST_BLOCK;
                    self.scalars.write(section, first, out);
                });
            self.device
                .session()
                .upload_scalars(&mut self.uploaded, raw_scalars(staged))?;
        }
        let target = place..place + len;
        let factors = Factors {
            scalars: &self.uploaded,
            form: ScalarForm::Montgomery,
        };
        self.base.multiply(self.device, factors, points, target)
    }
}
