//! Where bases come from: anything that shows ranges of uncompressed points.

use std::marker::PhantomData;
use std::ops::Range;

use crate::curve::{Affine, CurveField, encode_point};

/// A vector of bases in uncompressed encoding, all known to be valid points of the curve over `F`.
pub trait BaseSource<F: CurveField>: Sync {
    /// Number of bases.
    fn len(&self) -> usize;

    /// Whether there are no bases.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The encodings of a range of bases, `2 * F::BYTES` bytes each.
    fn encoded(&self, range: Range<usize>) -> &[u8];

    /// Says that a range was read for the last time in this multiplication; its pages may be given back.
    fn release(&self, range: Range<usize>) {
        let _ = range;
    }
}

/// Bases that lie in memory.
#[derive(Clone, Debug)]
pub struct EncodedBases<F> {
    bytes: Vec<u8>,
    field: PhantomData<F>,
}

impl<F: CurveField> EncodedBases<F> {
    /// Encodes `points`.
    pub fn from_points(points: &[Affine<F>]) -> Self {
        let width = 2 * F::BYTES;
        let mut bytes = vec![0; width * points.len()];
        for (point, bytes) in points.iter().zip(bytes.chunks_exact_mut(width)) {
            encode_point(point, bytes);
        }
        Self {
            bytes,
            field: PhantomData,
        }
    }
}

impl<F: CurveField> BaseSource<F> for EncodedBases<F> {
    fn len(&self) -> usize {
        self.bytes.len() / (2 * F::BYTES)
    }

    fn encoded(&self, range: Range<usize>) -> &[u8] {
        let width = 2 * F::BYTES;
        &self.bytes[range.start * width..range.end * width]
    }
}
