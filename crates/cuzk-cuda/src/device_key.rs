//! A proof multiplies with every point of a key, and reading 44 GiB for each proof costs more than the arithmetic; a
//! card with enough memory keeps the points for as long as the key is used.

use std::ops::Range;

use cuzk_groth16::{ProvingKey, QueryCounts, Section, VerifyingKey};

use crate::{
    CudaError, Device, DeviceBuffer, DeviceGroup, G1Base, G2Base,
    driver::{Arguments, Grid},
    elements::Base,
};

/// Points uploaded at once; their pages of the key file leave memory before the next ones are read.
const CHUNK_POINTS: usize = 1 << 20;
const CODEC_THREADS: u32 = 256;

/// The five queries of a proving key in device memory, in the order of the key file, and its verifying key.
///
/// Montgomery form, affine: what [`crate::MultiExp`] and [`crate::BitmapSum`] take as bases.
#[derive(Debug)]
pub struct DeviceKey {
    /// The single points, with α, β and δ that provers need.
    pub verifying_key: VerifyingKey,
    /// τ^i (τ^n − 1) / δ for i from 0 to n − 2.
    pub h: DeviceBuffer<G1Base>,
    /// One point for each auxiliary variable.
    pub l: DeviceBuffer<G1Base>,
    /// All inputs, then the auxiliary variables that occur in A.
    pub a: DeviceBuffer<G1Base>,
    /// The inputs that occur in B, then the auxiliary variables that do.
    pub b_g1: DeviceBuffer<G1Base>,
    /// The same as `b_g1` in G2.
    pub b_g2: DeviceBuffer<G2Base>,
}

impl DeviceKey {
    /// Uploads the queries of a key file. Every point is checked to lie on its curve, as it passes; membership in the
    /// subgroup is the business of [`ProvingKey::check_points`].
    ///
    /// # Errors
    ///
    /// [`CudaError::OutOfMemory`] when [`crate::key_bytes`] exceeds what is left, [`CudaError::BadPoint`],
    /// [`CudaError::Driver`].
    pub fn upload(device: &Device, key: &ProvingKey) -> Result<Self, CudaError> {
        EmptyKey::allocate(device, key)?.fill(device, key)
    }

    /// The bytes that a key file has for a vector; none for sections that are not on the device.
    ///
    /// # Errors
    ///
    /// [`CudaError::OutOfMemory`], [`CudaError::Driver`].
    pub fn encoded(&self, device: &Device, section: Section) -> Result<Vec<u8>, CudaError> {
        match section {
            Section::H => encoded(device, &self.h),
            Section::L => encoded(device, &self.l),
            Section::A => encoded(device, &self.a),
            Section::BG1 => encoded(device, &self.b_g1),
            Section::BG2 => encoded(device, &self.b_g2),
            _ => Ok(Vec::new()),
        }
    }

    /// Lengths of the key's vectors.
    pub fn counts(&self) -> QueryCounts {
        QueryCounts {
            ic: self.verifying_key.ic.len() as u64,
            h: self.h.len() as u64,
            l: self.l.len() as u64,
            a: self.a.len() as u64,
            b_g1: self.b_g1.len() as u64,
            b_g2: self.b_g2.len() as u64,
        }
    }
}

/// The memory of a key that was not uploaded yet.
pub(crate) struct EmptyKey(DeviceKey);

impl EmptyKey {
    pub(crate) fn allocate(device: &Device, key: &ProvingKey) -> Result<Self, CudaError> {
        let (session, counts) = (device.session(), key.counts());
        let len = |section| counts.of(section) as usize;
        Ok(Self(DeviceKey {
            verifying_key: key.verifying_key().clone(),
            h: session.allocate(len(Section::H))?,
            l: session.allocate(len(Section::L))?,
            a: session.allocate(len(Section::A))?,
            b_g1: session.allocate(len(Section::BG1))?,
            b_g2: session.allocate(len(Section::BG2))?,
        }))
    }

    /// As [`DeviceKey::upload`], whose key this was allocated for.
    pub(crate) fn fill(self, device: &Device, key: &ProvingKey) -> Result<DeviceKey, CudaError> {
        let Self(mut points) = self;
        fill_query(device, (key, Section::H), &mut points.h)?;
        fill_query(device, (key, Section::L), &mut points.l)?;
        fill_query(device, (key, Section::A), &mut points.a)?;
        fill_query(device, (key, Section::BG1), &mut points.b_g1)?;
        fill_query(device, (key, Section::BG2), &mut points.b_g2)?;
        Ok(points)
    }
}

/// Uploads the points of a query, checked to lie on their curve.
fn fill_query<C: DeviceGroup>(
    device: &Device,
    (key, section): (&ProvingKey, Section),
    points: &mut DeviceBuffer<Base<C>>,
) -> Result<(), CudaError> {
    let width = section.point_bytes();
    let bytes = key.section_bytes(section);
    let bad = device.uploaded(&[u32::MAX])?;
    for (number, chunk) in bytes.chunks(CHUNK_POINTS * width).enumerate() {
        let (first, count) = (number * CHUNK_POINTS, chunk.len() / width);
        device.session().upload_bytes(points, first, chunk)?;
        key.release(section, first..first + count);
        decode(device, points, (first, first..first + count), (&bad, 0))?;
    }
    match device.session().download(&bad)?.first() {
        Some(&index) if index != u32::MAX => Err(CudaError::BadPoint { section, index }),
        _ => Ok(()),
    }
}

/// Queues the decoding of the points of a range in place, the first of which is number `number` of its query; the smallest
/// number that is no point goes to a value of `marks`, if it is smaller than that.
pub(crate) fn decode<C: DeviceGroup>(
    device: &Device,
    points: &DeviceBuffer<Base<C>>,
    (number, range): (usize, Range<usize>),
    (marks, mark): (&DeviceBuffer<u32>, usize),
) -> Result<(), CudaError> {
    let arguments = Arguments::new()
        .buffer_from(points, range.start)
        .word(number as u32)
        .word(range.len() as u32)
        .buffer_from(marks, mark);
    let grid = Grid::for_items(range.len() as u64, CODEC_THREADS);
    device.session().launch(C::KERNELS.decode, grid, &arguments)
}

fn encoded<C: DeviceGroup>(
    device: &Device,
    points: &DeviceBuffer<Base<C>>,
) -> Result<Vec<u8>, CudaError> {
    let mut bytes = Vec::with_capacity(points.len() * size_of::<Base<C>>());
    let room = device.session().allocate(points.len().min(CHUNK_POINTS))?;
    for first in (0..points.len()).step_by(CHUNK_POINTS) {
        let count = CHUNK_POINTS.min(points.len() - first);
        encode(device, points, first..first + count, &room)?;
        bytes.append(&mut device.session().download_bytes(&room, count)?);
    }
    Ok(bytes)
}

/// Queues the encoding of the points of a range, to the beginning of `bytes`.
pub(crate) fn encode<C: DeviceGroup>(
    device: &Device,
    points: &DeviceBuffer<Base<C>>,
    range: Range<usize>,
    bytes: &DeviceBuffer<Base<C>>,
) -> Result<(), CudaError> {
    let arguments = Arguments::new()
        .buffer(bytes)
        .buffer_from(points, range.start)
        .word(range.len() as u32);
    let grid = Grid::for_items(range.len() as u64, CODEC_THREADS);
    device.session().launch(C::KERNELS.encode, grid, &arguments)
}
