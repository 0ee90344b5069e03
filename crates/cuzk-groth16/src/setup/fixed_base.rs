//! A key is millions of multiples of one point, so the multiples of its powers of two are looked up, not computed.
//!
//! A scalar is cut into signed digits of `w` bits; digit d of window i stands for the table's point d·2^(wi)·G. For a
//! block of scalars the points of one window are added to all running sums together, in affine form, with one
//! inversion for the whole block (Montgomery's trick). Scalars are first brought below half of the group order by
//! negation, so that 17 windows of 15 bits suffice.

use blstrs::Scalar;
use group::Group;
use rayon::prelude::*;

use super::digits::{Digit, Digits, Recoding};
use crate::curve::batch::{BATCH_PAIRS, PairBatch};
use crate::curve::{Affine, Pick, PointKernel};

/// Scalars of one block: as many as additions share an inversion.
pub(super) const BLOCK_LEN: usize = BATCH_PAIRS;

/// Windows of fewer bits would let the digits overflow 255 bits.
const MIN_WINDOW_BITS: usize = 5;
/// Above this the additions saved cost as much time in cache misses, as one window's table is 2 MiB here
/// (`speed_of_one_thread`), and memory doubles with each bit.
const MAX_WINDOW_BITS: usize = 15;

/// Tables of the multiples of one point, in the form of a kernel.
pub(super) struct FixedBase<K: PointKernel> {
    kernel: K,
    recoding: Recoding,
    /// 1·B, 2·B, …, 2^(w−1)·B with B = 2^(wi)·G, window after window.
    entries: Vec<K::Point>,
}

/// Space for one block, reused from block to block.
pub(super) struct BlockScratch<K: PointKernel> {
    /// Scalars in the form that digits are read from, and whether each was negated.
    scalars: Vec<(Digits, bool)>,
    sums: Vec<K::Point>,
    batch: PairBatch<K>,
}

impl<K: PointKernel> FixedBase<K> {
    /// Tables for `base` with the window size that makes `num_scalars` multiplications cheapest.
    pub(super) fn new(kernel: K, base: &Affine<K::Field>, num_scalars: usize) -> Self {
        Self::with_window(kernel, base, best_window_bits(num_scalars))
    }

    fn with_window(kernel: K, base: &Affine<K::Field>, window_bits: usize) -> Self {
        let recoding = Recoding::new(window_bits);
        let mut power = base.to_projective();
        let powers: Vec<Affine<K::Field>> = (0..recoding.num_windows())
            .map(|_| {
                let current = Affine::from_projective(&power);
                (0..window_bits).for_each(|_| power = power.double());
                current
            })
            .collect();
        let entries = powers
            .par_iter()
            .flat_map_iter(|power| multiples(kernel, power, window_bits - 1))
            .collect();
        Self {
            kernel,
            recoding,
            entries,
        }
    }

    /// Space for blocks of this base.
    pub(super) fn scratch(&self) -> BlockScratch<K> {
        BlockScratch {
            scalars: Vec::with_capacity(BLOCK_LEN),
            sums: Vec::with_capacity(BLOCK_LEN),
            batch: PairBatch::new(self.kernel),
        }
    }

    /// Appends `scalar`·G for each scalar of a block of at most [`BLOCK_LEN`].
    pub(super) fn multiply(
        &self,
        scalars: &[Scalar],
        scratch: &mut BlockScratch<K>,
        products: &mut Vec<Affine<K::Field>>,
    ) {
        debug_assert!(scalars.len() <= BLOCK_LEN, "one block");
        scratch.scalars.clear();
        scratch
            .scalars
            .extend(scalars.iter().map(|scalar| self.recoding.recode(scalar)));
        scratch.sums.clear();
        scratch.sums.resize(scalars.len(), K::INFINITY);
        let windows = self.entries.chunks_exact(self.recoding.half());
        for (window, table) in windows.enumerate() {
            self.add_window(window, table, scratch);
        }
        let signed = scratch.sums.iter().zip(&scratch.scalars);
        products.extend(signed.map(|(sum, (_, negative))| K::unpack(sum).negate_if(*negative)));
    }

    /// Adds the entries of `table` that the digits of `window` select to all sums.
    fn add_window(&self, window: usize, table: &[K::Point], scratch: &mut BlockScratch<K>) {
        let BlockScratch {
            scalars,
            sums,
            batch,
        } = scratch;
        for (index, (digits, _)) in scalars.iter().enumerate() {
            if let Digit::Signed {
                magnitude,
                negative,
            } = self.recoding.digit(digits, window)
            {
                let sum = Pick::new(0, index);
                let entry = Pick::new(1, magnitude - 1).negate_if(negative);
                // A block fills the batch with its last scalar at the earliest.
                let _full = batch.push([sums, table], [sum, entry], sum);
            }
        }
        batch.add_up([sums, table]);
        batch.scatter([sums, &mut []]);
    }
}

/// 1·`power` to 2^`log_count`·`power`: those known so far, each plus the largest of them, until there are enough.
fn multiples<K: PointKernel>(
    kernel: K,
    power: &Affine<K::Field>,
    log_count: usize,
) -> Vec<K::Point> {
    let mut multiples = Vec::with_capacity(1 << log_count);
    multiples.push(K::pack(power));
    let mut batch = PairBatch::new(kernel);
    for _ in 0..log_count {
        let num_known = multiples.len();
        multiples.resize(2 * num_known, K::INFINITY);
        let (known, next) = multiples.split_at_mut(num_known);
        let largest = Pick::new(0, num_known - 1);
        for index in 0..num_known {
            let pair = [Pick::new(0, index), largest];
            let full = batch.push([known, &[]], pair, Pick::new(1, index));
            if full || index + 1 == num_known {
                batch.add_up([known, &[]]);
                batch.scatter([&mut [], next]);
            }
        }
    }
    multiples
}

fn best_window_bits(num_scalars: usize) -> usize {
    (MIN_WINDOW_BITS..=MAX_WINDOW_BITS)
        .min_by_key(|bits| {
            let recoding = Recoding::new(*bits);
            recoding.num_windows() * (num_scalars + recoding.half())
        })
        .unwrap_or(MIN_WINDOW_BITS)
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use group::prime::PrimeCurveAffine;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;
    use crate::curve::{Arithmetic, CurveField, KernelVisitor};
    use crate::field::{Fp, Fp2};

    /// Small and large scalars of both signs, powers of two and their neighbours, random ones.
    fn scalars() -> Vec<Scalar> {
        let mut scalars: Vec<Scalar> = (0..20).map(Scalar::from).collect();
        let mut power = Scalar::ONE;
        for _ in 0..255 {
            scalars.extend([power - Scalar::ONE, power, power + Scalar::ONE]);
            power = power.double();
        }
        let half = Scalar::from(2).invert().expect("two is not zero");
        scalars.extend([half, half - Scalar::ONE, half + Scalar::ONE]);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        scalars.extend((0..100).map(|_| Scalar::random(&mut rng)));
        let negative: Vec<Scalar> = scalars.iter().map(|scalar| -*scalar).collect();
        scalars.extend(negative);
        scalars
    }

    /// Compares the products of `scalars` with double-and-add.
    struct Check<'a> {
        window_bits: usize,
        scalars: &'a [Scalar],
    }

    impl<F: CurveField> KernelVisitor<F> for Check<'_> {
        type Output = ();

        fn visit<K: PointKernel<Field = F>>(self, kernel: K) {
            let generator = F::BlstrsAffine::generator();
            let base = F::from_blstrs(&generator);
            let tables = FixedBase::with_window(kernel, &base, self.window_bits);
            let mut scratch = tables.scratch();
            let mut products = vec![base];
            for block in self.scalars.chunks(1000) {
                tables.multiply(block, &mut scratch, &mut products);
            }
            assert_eq!(products.len(), 1 + self.scalars.len());
            for (scalar, product) in self.scalars.iter().zip(&products[1..]) {
                let expected = Affine::<F>::from_projective(&(generator.to_curve() * *scalar));
                assert_eq!(*product, expected, "{scalar:?} by {kernel:?}");
            }
        }
    }

    fn check<F: CurveField>(window_bits: usize, scalars: &[Scalar]) {
        for arithmetic in [Arithmetic::Portable, Arithmetic::Fastest] {
            let check = Check {
                window_bits,
                scalars,
            };
            F::with_kernel(arithmetic, check);
        }
    }

    #[test]
    fn an_empty_block_gives_nothing() {
        check::<Fp>(MIN_WINDOW_BITS, &[]);
    }

    #[test]
    fn every_window_size_equals_double_and_add() {
        let scalars = scalars();
        for window_bits in MIN_WINDOW_BITS..=11 {
            check::<Fp>(window_bits, &scalars);
        }
        check::<Fp>(MAX_WINDOW_BITS, &scalars);
        for window_bits in [MIN_WINDOW_BITS, 8] {
            check::<Fp2>(window_bits, &scalars);
        }
    }

    #[test]
    fn zero_between_others_gives_infinity_and_disturbs_none() {
        check::<Fp>(6, &[Scalar::ZERO]);
        let mixed = [Scalar::from(5), Scalar::ZERO, -Scalar::ONE, Scalar::ZERO];
        check::<Fp>(6, &mixed);
        check::<Fp2>(6, &mixed);
    }

    #[test]
    fn a_table_holds_all_multiples_in_order() {
        for arithmetic in [Arithmetic::Portable, Arithmetic::Fastest] {
            check_table::<Fp>(arithmetic);
            check_table::<Fp2>(arithmetic);
        }
    }

    struct Table;

    impl<F: CurveField> KernelVisitor<F> for Table {
        type Output = Vec<Affine<F>>;

        fn visit<K: PointKernel<Field = F>>(self, kernel: K) -> Vec<Affine<F>> {
            let generator = F::from_blstrs(&F::BlstrsAffine::generator());
            // More than two blocks, so that the last doubling crosses a block's end.
            let multiples = multiples(kernel, &generator, 12);
            multiples.iter().map(K::unpack).collect()
        }
    }

    fn check_table<F: CurveField>(arithmetic: Arithmetic) {
        let multiples = F::with_kernel(arithmetic, Table);
        assert_eq!(multiples.len(), 1 << 12);
        let generator = F::BlstrsAffine::generator().to_curve();
        let mut sum = F::Projective::identity();
        for multiple in multiples {
            sum += generator;
            assert_eq!(multiple, Affine::from_projective(&sum));
        }
    }

    #[test]
    fn more_scalars_never_ask_for_smaller_windows() {
        let bits: Vec<usize> = (0..24)
            .map(|log| best_window_bits((1 << log) - 1))
            .collect();
        assert!(bits.is_sorted(), "{bits:?}");
        assert_eq!(bits[0], MIN_WINDOW_BITS);
        assert_eq!(bits[23], MAX_WINDOW_BITS);
    }

    fn time<F: CurveField>(arithmetic: Arithmetic, window_bits: usize) {
        let nanoseconds = F::with_kernel(arithmetic, Time { window_bits });
        let (group, name) = (F::NAME, arithmetic.name());
        let line = format!("{group} by {name}, {window_bits} bits: {nanoseconds} ns per point\n");
        std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).expect("stderr");
        assert!(nanoseconds > 0);
    }

    /// The best time of many blocks, which tells the code's speed even on a busy machine.
    struct Time {
        window_bits: usize,
    }

    impl<F: CurveField> KernelVisitor<F> for Time {
        type Output = u128;

        fn visit<K: PointKernel<Field = F>>(self, kernel: K) -> u128 {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let base = F::from_blstrs(&F::BlstrsAffine::generator());
            let tables = FixedBase::with_window(kernel, &base, self.window_bits);
            let (mut products, mut scratch) = (Vec::new(), tables.scratch());
            let mut best = u128::MAX;
            for _ in 0..200 {
                let scalars: Vec<Scalar> =
                    (0..BLOCK_LEN).map(|_| Scalar::random(&mut rng)).collect();
                products.clear();
                let start = std::time::Instant::now();
                tables.multiply(&scalars, &mut scratch, &mut products);
                best = best.min(start.elapsed().as_nanos());
            }
            best / BLOCK_LEN as u128
        }
    }

    #[test]
    #[ignore = "measures the time of one multiplication on one thread"]
    fn speed_of_one_thread() {
        for arithmetic in [Arithmetic::Fastest, Arithmetic::Portable] {
            for window_bits in [13, 15, 17] {
                time::<Fp>(arithmetic, window_bits);
                time::<Fp2>(arithmetic, window_bits);
            }
        }
    }
}
