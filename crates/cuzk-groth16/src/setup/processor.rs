//! The points of a key, computed on the processor: workers of the rayon pool take the blocks of a batch, while the
//! batch before is hashed and written.

use std::ops::Range;

use blstrs::Scalar;
use ff::Field;
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

use super::KeyScalars;
use super::fixed_base::{BLOCK_LEN, BlockScratch, FixedBase};
use super::stream::{PointSource, PointStream, StreamError};
use crate::curve::{Affine, Arithmetic, CurveField, KernelVisitor, PointKernel, encode_point};
use crate::field::{Coordinate, Fp, Fp2};
use crate::key::Section;

/// Blocks of one batch: several for each worker, so that none waits long for the last.
const MIN_BLOCKS_PER_BATCH: usize = 64;
const BLOCKS_PER_THREAD: usize = 8;

/// The current rayon pool as a source of points.
pub(super) struct ProcessorPoints;

impl PointSource for ProcessorPoints {
    fn send(
        &mut self,
        scalars: &KeyScalars,
        stream: &mut PointStream<'_>,
    ) -> Result<(), StreamError> {
        let in_g1 = [Section::H, Section::L, Section::A, Section::BG1];
        send_vectors::<Fp>(scalars, &in_g1, stream)?;
        send_vectors::<Fp2>(scalars, &[Section::BG2], stream)
    }
}

fn send_vectors<F: CurveField>(
    scalars: &KeyScalars,
    sections: &[Section],
    stream: &mut PointStream<'_>,
) -> Result<(), StreamError> {
    let vectors = SendVectors {
        scalars,
        sections,
        stream,
    };
    F::with_kernel(Arithmetic::Fastest, vectors)
}

/// Sends vectors of one group with tables that are gone when the other group's are made.
struct SendVectors<'a, 's> {
    scalars: &'a KeyScalars,
    sections: &'a [Section],
    stream: &'a mut PointStream<'s>,
}

impl<F: CurveField> KernelVisitor<F> for SendVectors<'_, '_> {
    type Output = Result<(), StreamError>;

    fn visit<K: PointKernel<Field = F>>(self, kernel: K) -> Result<(), StreamError> {
        let count = |section: Section| self.scalars.counts().of(section) as usize;
        let total = self.sections.iter().map(|section| count(*section)).sum();
        let generator = F::from_blstrs(&F::BlstrsAffine::generator());
        let base = FixedBase::new(kernel, &generator, total);
        for &section in self.sections {
            debug_assert_eq!(section.point_bytes(), 2 * F::BYTES, "base of the group");
            self.stream.begin(section, count(section))?;
            send_vector(&base, self.scalars, section, self.stream)?;
        }
        Ok(())
    }
}

fn send_vector<K: PointKernel>(
    base: &FixedBase<K>,
    scalars: &KeyScalars,
    section: Section,
    stream: &mut PointStream<'_>,
) -> Result<(), StreamError> {
    let count = scalars.counts().of(section) as usize;
    let blocks_per_batch =
        MIN_BLOCKS_PER_BATCH.max(BLOCKS_PER_THREAD * rayon::current_num_threads());
    let batch_len = blocks_per_batch * BLOCK_LEN;
    for start in (0..count).step_by(batch_len) {
        let end = count.min(start + batch_len);
        let batch: Vec<Vec<u8>> = (start..end)
            .into_par_iter()
            .step_by(BLOCK_LEN)
            .map_init(
                || Workspace::new(base),
                |space, first| {
                    space.encode(base, scalars, section, first..end.min(first + BLOCK_LEN))
                },
            )
            .collect();
        stream.points(end - start, batch)?;
    }
    Ok(())
}

/// One worker's space for a block.
struct Workspace<K: PointKernel> {
    scalars: Vec<Scalar>,
    points: Vec<Affine<K::Field>>,
    scratch: BlockScratch<K>,
}

impl<K: PointKernel> Workspace<K> {
    fn new(base: &FixedBase<K>) -> Self {
        Self {
            scalars: vec![Scalar::ZERO; BLOCK_LEN],
            points: Vec::with_capacity(BLOCK_LEN),
            scratch: base.scratch(),
        }
    }

    fn encode(
        &mut self,
        base: &FixedBase<K>,
        scalars: &KeyScalars,
        section: Section,
        range: Range<usize>,
    ) -> Vec<u8> {
        let block = &mut self.scalars[..range.len()];
        scalars.write(section, range.start, block);
        self.points.clear();
        base.multiply(block, &mut self.scratch, &mut self.points);
        let width = 2 * K::Field::BYTES;
        let mut bytes = vec![0; self.points.len() * width];
        for (point, bytes) in self.points.iter().zip(bytes.chunks_exact_mut(width)) {
            encode_point(point, bytes);
        }
        bytes
    }
}
