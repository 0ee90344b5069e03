//! A key is millions of multiples of one point: they are sums of table entries, one for each digit of the scalar.
//!
//! The table holds every digit's multiple of every power of two that a window begins with, so nothing is doubled, and the
//! sums are segments of equal length for the kernels that sum buckets. The table of wide digits is itself computed by a
//! table of narrow ones, which comes from the host.

use std::ops::Range;

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use group::{Curve, Group};

use crate::{
    CudaError, Device, DeviceBuffer, DeviceGroup, Fp, Fp2, RawScalar, ScalarForm,
    driver::{Arguments, Grid},
    elements::Base,
    kernels,
    multiexp::{SEGMENT_WORDS, sum_grid},
};

const THREADS: u32 = 256;
/// Bits of a scalar once it is negated into the lower half of the field, and one for the sign.
const SCALAR_BITS: u32 = 255;
/// Bits of a digit of the table that the host makes: four thousand points.
const NARROW_BITS: u32 = 8;
/// Wider digits save less than a twentieth of the additions, and their table takes gigabytes.
const MAX_BITS: u32 = 20;
/// Words of the description of the work: segments, next.
const WORK_WORDS: usize = 2;

/// A group with host arithmetic for the first table.
pub(crate) trait FixedGroup: DeviceGroup {
    /// Points as bases.
    fn bases(points: &[Self::Point]) -> Vec<Base<Self>>;
}

impl FixedGroup for Fp {
    fn bases(points: &[G1Projective]) -> Vec<Base<Self>> {
        let mut affine = vec![G1Affine::default(); points.len()];
        G1Projective::batch_normalize(points, &mut affine);
        affine.iter().map(Base::from).collect()
    }
}

impl FixedGroup for Fp2 {
    fn bases(points: &[G2Projective]) -> Vec<Base<Self>> {
        let mut affine = vec![G2Affine::default(); points.len()];
        G2Projective::batch_normalize(points, &mut affine);
        affine.iter().map(Base::from).collect()
    }
}

/// How scalars are cut into digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Digits {
    bits: u32,
}

impl Digits {
    fn windows(self) -> u32 {
        SCALAR_BITS.div_ceil(self.bits)
    }

    /// Entries of one window: magnitudes from 0 on.
    fn entries(self) -> usize {
        (1 << (self.bits - 1)) + 1
    }

    fn table_len(self) -> usize {
        self.windows() as usize * self.entries()
    }

    /// As the kernels read it: windows, bits of each, and how many have one bit more.
    fn words(self) -> [u32; 3] {
        [self.windows(), self.bits, 0]
    }

    /// The digits that take the fewest additions for so many scalars, those of the table included.
    fn best(num_scalars: usize) -> Self {
        (NARROW_BITS..=MAX_BITS)
            .map(|bits| Self { bits })
            .min_by_key(|digits| {
                let of_table = match digits.bits {
                    NARROW_BITS => 0,
                    _ => digits.table_len() as u64 * u64::from(Self::NARROW.windows()),
                };
                num_scalars as u64 * u64::from(digits.windows()) + of_table
            })
            .unwrap_or(Self::NARROW)
    }

    const NARROW: Self = Self { bits: NARROW_BITS };
}

/// Scalars on the device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Factors<'a> {
    pub(crate) scalars: &'a DeviceBuffer<RawScalar>,
    pub(crate) form: ScalarForm,
}

/// A table of the generator's multiples on the device, and room to use it.
#[derive(Debug)]
pub(crate) struct FixedBase<C> {
    digits: Digits,
    table: DeviceBuffer<Base<C>>,
    room: usize,
    refs: DeviceBuffer<u32>,
    segments: DeviceBuffer<u32>,
    work: DeviceBuffer<u32>,
}

impl<C: FixedGroup> FixedBase<C> {
    /// A table for `num_scalars` multiplications in all, `room` of them at once.
    ///
    /// # Errors
    ///
    /// [`CudaError::OutOfMemory`], [`CudaError::Kernel`], [`CudaError::Driver`].
    pub(crate) fn new(device: &Device, num_scalars: usize, room: usize) -> Result<Self, CudaError> {
        let table = device.uploaded(&C::bases(&narrow_table::<C::Point>()))?;
        let narrow = Self::with_table(device, Digits::NARROW, table, room)?;
        let digits = Digits::best(num_scalars);
        if digits == Digits::NARROW {
            return Ok(narrow);
        }
        let session = device.session();
        let scalars: DeviceBuffer<RawScalar> = session.allocate(digits.table_len())?;
        let arguments = Arguments::new()
            .buffer(&scalars)
            .words(digits.words())
            .word(scalars.len() as u32);
        session.launch(
            kernels::TABLE_SCALARS,
            Grid::for_items(scalars.len() as u64, THREADS),
            &arguments,
        )?;
        let mut table = session.allocate(scalars.len())?;
        let all = 0..scalars.len();
        let factors = Factors {
            scalars: &scalars,
            form: ScalarForm::Canonical,
        };
        narrow.multiply(device, factors, &mut table, all)?;
        drop(narrow);
        Self::with_table(device, digits, table, room)
    }

    fn with_table(
        device: &Device,
        digits: Digits,
        table: DeviceBuffer<Base<C>>,
        room: usize,
    ) -> Result<Self, CudaError> {
        let session = device.session();
        Ok(Self {
            digits,
            table,
            room,
            refs: session.allocate(room * digits.windows() as usize)?,
            segments: session.allocate(SEGMENT_WORDS * room)?,
            work: session.allocate(WORK_WORDS)?,
        })
    }

    /// Entries that a product adds up.
    pub(crate) fn windows(&self) -> u32 {
        self.digits.windows()
    }

    /// Queues `products[range.start + i] = factors[i]` times the generator, for as many as the range has.
    ///
    /// # Errors
    ///
    /// [`CudaError::Length`] when the range exceeds the scalars or the products, [`CudaError::Kernel`].
    pub(crate) fn multiply(
        &self,
        device: &Device,
        factors: Factors<'_>,
        products: &mut DeviceBuffer<Base<C>>,
        range: Range<usize>,
    ) -> Result<(), CudaError> {
        let Factors { scalars, form } = factors;
        for (what, got, expected) in [
            ("scalars", scalars.len(), range.len()),
            ("products", products.len(), range.end),
        ] {
            if got < expected {
                return Err(CudaError::Length {
                    what,
                    got,
                    expected,
                });
            }
        }
        let session = device.session();
        for first in (0..range.len()).step_by(self.room.max(1)) {
            let count = self.room.min(range.len() - first);
            let cut = Arguments::new()
                .buffer(&self.refs)
                .buffer(&self.segments)
                .buffer(&self.work)
                .buffer_from(scalars, first)
                .words(self.digits.words())
                .word(count as u32)
                .word(u32::from(form == ScalarForm::Montgomery));
            let grid = Grid::for_items(count as u64, THREADS);
            session.launch(kernels::TABLE_SEGMENTS, grid, &cut)?;
            let sum = Arguments::new()
                .buffer_from(products, range.start + first)
                .buffer(&self.segments)
                .buffer_from(&self.work, 0)
                .buffer_from(&self.work, 1)
                .buffer(&self.table)
                .buffer(&self.refs);
            session.launch(C::KERNELS.sum_segments, sum_grid::<C>(device), &sum)?;
        }
        Ok(())
    }
}

/// 0 to 2^(bits - 1) times 2^(bits w) times the generator, window after window.
fn narrow_table<P: Group>() -> Vec<P> {
    let digits = Digits::NARROW;
    let mut power = P::generator();
    let mut table = Vec::with_capacity(digits.table_len());
    for _ in 0..digits.windows() {
        table.extend(
            std::iter::successors(Some(P::identity()), |entry| Some(*entry + power))
                .take(digits.entries()),
        );
        for _ in 0..digits.bits {
            power = power.double();
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_digits_pay_for_their_table_only_with_many_scalars() {
        let bits: Vec<u32> = (0..32).map(|log| Digits::best(1 << log).bits).collect();
        assert!(bits.is_sorted(), "{bits:?}");
        assert_eq!((bits[0], bits[31]), (NARROW_BITS, MAX_BITS));
    }

    #[test]
    fn the_narrow_table_begins_each_window_at_infinity() {
        let table = narrow_table::<G1Projective>();
        let entries = Digits::NARROW.entries();
        assert_eq!(table.len(), Digits::NARROW.table_len());
        for window in table.chunks(entries) {
            assert_eq!(window[0], G1Projective::identity());
            assert_eq!(
                window[entries - 1],
                window[1] * blstrs::Scalar::from(1 << (NARROW_BITS - 1))
            );
        }
        let second = G1Projective::generator() * blstrs::Scalar::from(1 << NARROW_BITS);
        assert_eq!(table[entries + 1], second);
    }
}
