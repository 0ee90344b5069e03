//! Every kernel against projective addition by `blstrs`.

use group::Group;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::kernel::Kernels;
use super::*;
use crate::field::{Fp, Fp2};

/// Runs `$visitor` with both kernels of both curves.
macro_rules! with_all_kernels {
    ($visitor:expr) => {
        for arithmetic in [Arithmetic::Fastest, Arithmetic::Portable] {
            Fp::with_kernel(arithmetic, $visitor);
            Fp2::with_kernel(arithmetic, $visitor);
        }
    };
}

fn random_points<F: CurveField>(count: usize) -> Vec<Affine<F>> {
    let mut rng = ChaCha8Rng::seed_from_u64(count as u64);
    let step = F::Projective::random(&mut rng);
    let mut point = F::Projective::random(&mut rng);
    (0..count)
        .map(|_| {
            point += step;
            Affine::from_projective(&point)
        })
        .collect()
}

fn sums<K: PointKernel>(
    kernel: K,
    sources: Sources<'_, Affine<K::Field>>,
    pairs: &[[Pick; 2]],
) -> Vec<Affine<K::Field>> {
    let sources = sources.map(|points| points.iter().map(K::pack).collect::<Vec<_>>());
    let mut sums = vec![K::INFINITY; pairs.len()];
    let mut scratch = K::scratch(pairs.len());
    kernel.sum_pairs([&sources[0], &sources[1]], pairs, &mut sums, &mut scratch);
    sums.iter().map(K::unpack).collect()
}

fn expected<F: CurveField>(sources: Sources<'_, Affine<F>>, pairs: &[[Pick; 2]]) -> Vec<Affine<F>> {
    let operand = |pick: Pick| {
        pick.of(&sources)
            .negate_if(pick.is_negative())
            .to_projective()
    };
    pairs
        .iter()
        .map(|[left, right]| Affine::from_projective(&(operand(*left) + operand(*right))))
        .collect()
}

#[derive(Clone, Copy)]
struct Lengths;

impl<F: CurveField> KernelVisitor<F> for Lengths {
    type Output = ();

    fn visit<K: PointKernel<Field = F>>(self, kernel: K) {
        let (left, right) = (random_points::<F>(70), random_points::<F>(71));
        for len in [0, 1, 2, 7, 8, 9, 16, 63, 64, 65] {
            let pairs: Vec<[Pick; 2]> = (0..len)
                .map(|i| {
                    let first = Pick::new(0, i).negate_if(i % 3 == 0);
                    [first, Pick::new(1, i + 1).negate_if(i % 2 == 0)]
                })
                .collect();
            let found = sums(kernel, [&left, &right], &pairs);
            assert_eq!(
                found,
                expected([&left, &right], &pairs),
                "{kernel:?}, {len}"
            );
        }
    }
}

#[test]
fn batches_of_any_length_add_up() {
    with_all_kernels!(Lengths);
}

#[derive(Clone, Copy)]
struct SpecialPairs;

impl<F: CurveField> KernelVisitor<F> for SpecialPairs {
    type Output = ();

    /// All pairs of two points, their negatives and infinity, in every lane.
    fn visit<K: PointKernel<Field = F>>(self, kernel: K) {
        let points = random_points::<F>(2);
        let points = [
            Affine::INFINITY,
            points[0],
            points[1],
            points[0].negate_if(true),
        ];
        let mut pairs = Vec::new();
        for i in 0..points.len() {
            for j in 0..points.len() {
                for signs in 0..4 {
                    let left = Pick::new(0, i).negate_if(signs & 1 == 1);
                    pairs.push([left, Pick::new(0, j).negate_if(signs & 2 == 2)]);
                }
            }
        }
        for lane in 0..8 {
            pairs.rotate_left(lane);
            let found = sums(kernel, [&points, &[]], &pairs);
            assert_eq!(found, expected([&points, &[]], &pairs), "{kernel:?}");
        }
    }
}

#[test]
fn equal_opposite_and_infinite_operands_add_up() {
    with_all_kernels!(SpecialPairs);
}

#[derive(Clone, Copy)]
struct Chain;

impl<F: CurveField> KernelVisitor<F> for Chain {
    type Output = ();

    /// Sums of sums, with changing signs, as buckets have them.
    fn visit<K: PointKernel<Field = F>>(self, kernel: K) {
        let points = random_points::<F>(16);
        let packed: Vec<K::Point> = points.iter().map(K::pack).collect();
        let mut expected: Vec<F::Projective> = points.iter().map(Affine::to_projective).collect();
        let mut running = packed.clone();
        let mut scratch = K::scratch(16);
        for round in 0..200 {
            let picks: Vec<[Pick; 2]> = (0..16)
                .map(|i| {
                    let left = Pick::new(0, i).negate_if((round + i) % 3 == 0);
                    [left, Pick::new(1, (i + round) % 16).negate_if(i % 2 == 0)]
                })
                .collect();
            let mut next = running.clone();
            kernel.sum_pairs([&running, &packed], &picks, &mut next, &mut scratch);
            running = next;
            for (i, sum) in expected.iter_mut().enumerate() {
                let addend = points[(i + round) % 16].negate_if(i % 2 == 0);
                let own = if (round + i) % 3 == 0 { -*sum } else { *sum };
                *sum = own + addend.to_blstrs();
            }
        }
        let found: Vec<F::Projective> = running
            .iter()
            .map(|sum| K::unpack(sum).to_projective())
            .collect();
        assert_eq!(found, expected, "{kernel:?}");
    }
}

#[test]
fn long_chains_of_sums_and_negations_stay_exact() {
    with_all_kernels!(Chain);
}

#[derive(Clone, Copy)]
struct Encodings;

impl<F: CurveField> KernelVisitor<F> for Encodings {
    type Output = ();

    fn visit<K: PointKernel<Field = F>>(self, kernel: K) {
        let mut points = random_points::<F>(19);
        points[3] = Affine::INFINITY;
        let bytes: Vec<Vec<u8>> = points
            .iter()
            .map(|point| {
                let mut bytes = vec![0; 2 * F::BYTES];
                encode_point(point, &mut bytes);
                bytes
            })
            .collect();
        for len in [0, 1, 8, 19] {
            let encoded: Vec<&[u8]> = bytes[..len].iter().map(Vec::as_slice).collect();
            let mut decoded = vec![K::INFINITY; len];
            kernel.decode(&encoded, &mut decoded);
            for (decoded, point) in decoded.iter().zip(&points) {
                assert_eq!(K::unpack(decoded), *point, "{kernel:?}");
                assert_eq!(K::unpack(&K::pack(point)), *point);
                let negative = K::unpack(&K::negate_if(decoded, true));
                assert_eq!(negative, point.negate_if(true));
            }
        }
    }
}

#[test]
fn points_survive_decoding_packing_and_negation() {
    with_all_kernels!(Encodings);
}
