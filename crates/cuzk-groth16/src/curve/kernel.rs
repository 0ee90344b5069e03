//! The prover spends its time adding points, so the additions are behind one trait with two implementations.
//!
//! A [`PointKernel`] adds many pairs with one shared inversion and chooses its own form for stored points:
//! [`Portable`] works on [`Affine`] points through `blst`, [`Vectorized`] on eight pairs at a time. Code above is
//! generic over the kernel; [`Kernels::with_kernel`] picks the one for this processor.

#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        unused_variables,
        clippy::unused_self,
        reason = "elsewhere there is one arithmetic and nothing to choose"
    )
)]

use std::fmt::Debug;

use super::affine::{Affine, CurveField};
use super::encoding::decode_point_unchecked;
use crate::field::{Coordinate, Fp, Fp2, InversionScratch, batch_invert};

/// Which implementation of point addition runs; the results are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// The fastest that this processor offers.
    #[default]
    Fastest,
    /// The one that runs everywhere.
    Portable,
}

impl Arithmetic {
    /// "avx512-ifma" or "blst": what this choice means on this processor.
    pub fn name(self) -> &'static str {
        match self.vectorized() {
            Some(_) => "avx512-ifma",
            None => "blst",
        }
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn vectorized(self) -> Option<crate::field::ifma::Ifma> {
        match self {
            Self::Fastest => crate::field::ifma::Ifma::detect(),
            Self::Portable => None,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn vectorized(self) -> Option<std::convert::Infallible> {
        None
    }
}

/// Two slices of points from which operands are picked.
pub(crate) type Sources<'a, P> = [&'a [P]; 2];

/// An operand of an addition: a point of one of two sources, or its negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick(u32);

impl Pick {
    /// Point `index`, below 2^30, of source `source`, 0 or 1.
    #[inline]
    pub(crate) const fn new(source: usize, index: usize) -> Self {
        Self((index as u32) << 2 | (source as u32) << 1)
    }

    /// The negative of what was picked when `condition` holds.
    #[inline]
    #[must_use]
    pub(crate) const fn negate_if(self, condition: bool) -> Self {
        Self(self.0 ^ condition as u32)
    }

    #[inline]
    pub(crate) const fn source(self) -> usize {
        (self.0 >> 1 & 1) as usize
    }

    #[inline]
    pub(crate) const fn index(self) -> usize {
        (self.0 >> 2) as usize
    }

    #[inline]
    pub(crate) const fn is_negative(self) -> bool {
        self.0 & 1 == 1
    }

    /// The picked point as it is stored, not negated.
    #[inline]
    pub(crate) fn of<'a, P>(self, sources: &Sources<'a, P>) -> &'a P {
        &sources[self.source()][self.index()]
    }
}

/// Addition of many pairs of points in the form that suits the processor.
pub trait PointKernel: Copy + Debug + Send + Sync {
    /// The coordinate field, which names the curve.
    type Field: CurveField;
    /// A point as this kernel stores it.
    type Point: Copy + Debug + Send + Sync;
    /// Reusable space of [`Self::sum_pairs`].
    type Scratch: Send;

    /// The neutral element.
    const INFINITY: Self::Point;

    /// The inverse of `point` when `condition` holds, `point` otherwise.
    fn negate_if(point: &Self::Point, condition: bool) -> Self::Point;
    /// Takes a point into this kernel's form.
    fn pack(point: &Affine<Self::Field>) -> Self::Point;
    /// Takes a point out of this kernel's form.
    fn unpack(point: &Self::Point) -> Affine<Self::Field>;
    /// Decodes uncompressed points that were checked before; both slices have the same length.
    fn decode(self, encoded: &[&[u8]], points: &mut [Self::Point]);
    /// Space for batches of up to `pairs` pairs.
    fn scratch(pairs: usize) -> Self::Scratch;
    /// Bytes that [`Self::scratch`] takes.
    fn scratch_bytes(pairs: usize) -> usize;
    /// Puts the sum of each pair of picked points into `sums`, which is as long as `pairs`.
    fn sum_pairs(
        self,
        sources: Sources<'_, Self::Point>,
        pairs: &[[Pick; 2]],
        sums: &mut [Self::Point],
        scratch: &mut Self::Scratch,
    );
}

/// Work that is generic over the kernel.
pub trait KernelVisitor<F: CurveField> {
    /// What the work yields.
    type Output;
    /// Does the work with `kernel`.
    fn visit<K: PointKernel<Field = F>>(self, kernel: K) -> Self::Output;
}

/// The kernels of a curve.
pub trait Kernels: Coordinate {
    /// Calls `visitor` with the kernel that `arithmetic` means on this processor.
    fn with_kernel<V: KernelVisitor<Self>>(arithmetic: Arithmetic, visitor: V) -> V::Output
    where
        Self: CurveField;
}

/// Batched affine addition through the scalar field arithmetic of `blst`.
#[derive(Debug)]
pub(crate) struct Portable<F>(std::marker::PhantomData<F>);

impl<F> Clone for Portable<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Portable<F> {}

impl<F> Portable<F> {
    pub(crate) const fn new() -> Self {
        Self(std::marker::PhantomData)
    }
}

/// Space of [`Portable`].
pub(crate) struct PortableScratch<F> {
    /// Denominators of the slopes, then their inverses.
    denominators: Vec<F>,
    inversion: InversionScratch<F>,
}

impl<F: CurveField> PointKernel for Portable<F> {
    type Field = F;
    type Point = Affine<F>;
    type Scratch = PortableScratch<F>;

    const INFINITY: Affine<F> = Affine::INFINITY;

    #[inline]
    fn negate_if(point: &Affine<F>, condition: bool) -> Affine<F> {
        point.negate_if(condition)
    }

    fn pack(point: &Affine<F>) -> Affine<F> {
        *point
    }

    fn unpack(point: &Affine<F>) -> Affine<F> {
        *point
    }

    fn decode(self, encoded: &[&[u8]], points: &mut [Affine<F>]) {
        for (bytes, point) in encoded.iter().zip(points) {
            *point = decode_point_unchecked(bytes);
        }
    }

    fn scratch(pairs: usize) -> PortableScratch<F> {
        PortableScratch {
            denominators: Vec::with_capacity(pairs),
            inversion: InversionScratch::new(),
        }
    }

    fn scratch_bytes(pairs: usize) -> usize {
        2 * pairs * size_of::<F>()
    }

    fn sum_pairs(
        self,
        sources: Sources<'_, Affine<F>>,
        pairs: &[[Pick; 2]],
        sums: &mut [Affine<F>],
        scratch: &mut PortableScratch<F>,
    ) {
        let denominators = &mut scratch.denominators;
        denominators.clear();
        denominators.resize(pairs.len(), F::ZERO);
        for (denominator, [left, right]) in denominators.iter_mut().zip(pairs) {
            let (first, second) = (left.of(&sources), right.of(&sources));
            if first.x == second.x {
                *denominator = first.y.double().negate_if(left.is_negative());
            } else {
                denominator.set_sub(&second.x, &first.x);
            }
        }
        batch_invert(denominators, &mut scratch.inversion);
        for ((sum, [left, right]), inverse) in sums.iter_mut().zip(pairs).zip(denominators.iter()) {
            let left = left.of(&sources).negate_if(left.is_negative());
            let right = right.of(&sources).negate_if(right.is_negative());
            finish_sum(&left, &right, inverse, sum);
        }
    }
}

/// The sum of two points, given the inverse of the denominator of the slope between them.
#[inline]
fn finish_sum<F: CurveField>(
    left: &Affine<F>,
    right: &Affine<F>,
    inverse: &F,
    sum: &mut Affine<F>,
) {
    if left.is_infinity() {
        *sum = *right;
        return;
    }
    if right.is_infinity() {
        *sum = *left;
        return;
    }
    let mut slope = F::ZERO;
    if left.x != right.x {
        slope.set_sub(&right.y, &left.y);
        slope.mul_assign(inverse);
    } else if left.y == right.y {
        let square = left.x.square();
        slope = square.double().add(&square).mul(inverse);
    } else {
        *sum = Affine::INFINITY;
        return;
    }
    sum.x.set_mul(&slope, &slope);
    sum.x.sub_assign(&left.x);
    sum.x.sub_assign(&right.x);
    sum.y.set_sub(&left.x, &sum.x);
    sum.y.mul_assign(&slope);
    sum.y.sub_assign(&left.y);
}

#[cfg(target_arch = "x86_64")]
pub(crate) use vectorized::Vectorized;

#[cfg(target_arch = "x86_64")]
mod vectorized {
    use super::{Affine, CurveField, Pick, PointKernel, Sources};
    use crate::field::ifma::Ifma;
    use crate::field::ifma::element::Coefficients;
    use crate::field::ifma::points::{PackedPoint, PairScratch, decode, sum_pairs};

    /// Batched affine addition, eight pairs at a time, over a field of N base-field coefficients.
    #[derive(Debug)]
    pub(crate) struct Vectorized<F, const N: usize> {
        ifma: Ifma,
        field: std::marker::PhantomData<F>,
    }

    impl<F, const N: usize> Clone for Vectorized<F, N> {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl<F, const N: usize> Copy for Vectorized<F, N> {}

    impl<F, const N: usize> Vectorized<F, N> {
        pub(crate) const fn new(ifma: Ifma) -> Self {
            Self {
                ifma,
                field: std::marker::PhantomData,
            }
        }
    }

    impl<F: CurveField + Coefficients<N>, const N: usize> PointKernel for Vectorized<F, N> {
        type Field = F;
        type Point = PackedPoint<N>;
        type Scratch = PairScratch<N>;

        const INFINITY: PackedPoint<N> = PackedPoint::INFINITY;

        #[inline]
        fn negate_if(point: &PackedPoint<N>, condition: bool) -> PackedPoint<N> {
            point.negate_if(condition)
        }

        fn pack(point: &Affine<F>) -> PackedPoint<N> {
            PackedPoint::from_affine(point)
        }

        fn unpack(point: &PackedPoint<N>) -> Affine<F> {
            point.to_affine()
        }

        fn decode(self, encoded: &[&[u8]], points: &mut [PackedPoint<N>]) {
            decode::<F, N>(self.ifma, encoded, points);
        }

        fn scratch(pairs: usize) -> PairScratch<N> {
            PairScratch::new(pairs)
        }

        fn scratch_bytes(pairs: usize) -> usize {
            PairScratch::<N>::bytes(pairs)
        }

        fn sum_pairs(
            self,
            sources: Sources<'_, PackedPoint<N>>,
            pairs: &[[Pick; 2]],
            sums: &mut [PackedPoint<N>],
            scratch: &mut PairScratch<N>,
        ) {
            sum_pairs::<F, N>(self.ifma, sources, pairs, sums, scratch);
        }
    }
}

macro_rules! kernels {
    ($field:ty, $coefficients:literal) => {
        impl Kernels for $field {
            fn with_kernel<V: KernelVisitor<Self>>(
                arithmetic: Arithmetic,
                visitor: V,
            ) -> V::Output {
                #[cfg(target_arch = "x86_64")]
                if let Some(ifma) = arithmetic.vectorized() {
                    return visitor.visit(Vectorized::<$field, $coefficients>::new(ifma));
                }
                visitor.visit(Portable::new())
            }
        }
    };
}

kernels!(Fp, 1);
kernels!(Fp2, 2);
