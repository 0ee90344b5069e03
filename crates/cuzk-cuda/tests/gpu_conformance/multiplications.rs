//! Multi-scalar multiplications and bitmap sums over G1 and G2.
//!
//! All points are known multiples of the generator, so the sum over the multiples is the oracle.

use blstrs::{G1Affine, G2Affine, Scalar};
use cuzk_cuda::{
    Base, BitmapSum, CudaError, Device, DeviceGroup, Fp, Fp2, MsmPlan, MultiExp, RawScalar,
    ScalarForm,
};
use ff::Field;
use group::{Curve, Group};

use crate::{device, many_random_scalars, random_scalars};

/// A group with its blstrs types.
pub(crate) trait TestGroup:
    DeviceGroup<Point: Curve<AffineRepr: Copy> + Group<Scalar = Scalar>>
{
    fn base(point: &<Self::Point as Curve>::AffineRepr) -> Base<Self>;
}

impl TestGroup for Fp {
    fn base(point: &G1Affine) -> Base<Self> {
        Base::from(point)
    }
}

impl TestGroup for Fp2 {
    fn base(point: &G2Affine) -> Base<Self> {
        Base::from(point)
    }
}

/// A choice from other points, by number.
enum Pick {
    Infinity,
    Point(usize),
    Opposite(usize),
}

/// Points and what multiple of the generator each is.
#[derive(Clone)]
pub(crate) struct Points<C> {
    multiples: Vec<Scalar>,
    pub(crate) bases: Vec<Base<C>>,
}

impl<C: TestGroup> Points<C> {
    /// Different points, from a random one by steps of the generator.
    pub(crate) fn distinct(len: usize, seed: u64) -> Self {
        let step = C::Point::generator();
        let mut multiple = random_scalars(1, seed)[0];
        let mut point = step * multiple;
        let mut points = Self {
            multiples: Vec::new(),
            bases: Vec::new(),
        };
        for _ in 0..len {
            points.multiples.push(multiple);
            points.bases.push(C::base(&point.to_affine()));
            multiple += Scalar::ONE;
            point += step;
        }
        points
    }

    /// The chosen points.
    fn select(&self, picks: impl Iterator<Item = Pick>) -> Self {
        let (multiples, bases) = picks
            .map(|pick| match pick {
                Pick::Infinity => (Scalar::ZERO, Base::default()),
                Pick::Point(i) => (self.multiples[i], self.bases[i]),
                Pick::Opposite(i) => {
                    let opposite = -self.bases[i].to_point();
                    (-self.multiples[i], C::base(&opposite.to_affine()))
                }
            })
            .unzip();
        Self { multiples, bases }
    }

    fn sum(&self, scalars: &[Scalar]) -> C::Point {
        C::Point::generator()
            * self
                .multiples
                .iter()
                .zip(scalars)
                .map(|(m, s)| m * s)
                .sum::<Scalar>()
    }
}

pub(crate) fn check<C: TestGroup>(
    device: &Device,
    plan: MsmPlan,
    points: &Points<C>,
    scalars: &[Scalar],
    case: &str,
) {
    let bases = device.upload_bases(&points.bases).unwrap();
    let expected = points.sum(scalars);
    let mut room = MultiExp::new(device, plan).unwrap();
    let montgomery = device.upload_scalars(scalars).unwrap();
    let got = room
        .run(device, &bases, &montgomery, ScalarForm::Montgomery)
        .unwrap();
    assert_eq!(got, expected, "{case}: {plan:?}, Montgomery form");
    let canonical: Vec<RawScalar> = scalars.iter().map(RawScalar::canonical).collect();
    let canonical = device.upload_raw_scalars(&canonical).unwrap();
    let got = room
        .run(device, &bases, &canonical, ScalarForm::Canonical)
        .unwrap();
    assert_eq!(got, expected, "{case}: {plan:?}, canonical form");
}

fn every_size<C: TestGroup>(sizes: &[usize]) {
    let device = device();
    for &len in sizes {
        let (points, scalars) = (
            Points::<C>::distinct(len, 3),
            random_scalars(len, len as u64),
        );
        check(&device, MsmPlan::new(len), &points, &scalars, "uniform");
    }
}

fn every_width<C: TestGroup>(len: usize) {
    let device = device();
    let (points, scalars) = (Points::<C>::distinct(len, 4), random_scalars(len, 5));
    for width in 4..=24 {
        check(
            &device,
            MsmPlan::with_width(len, width),
            &points,
            &scalars,
            "width",
        );
    }
}

/// The plan with the widest digits whose buckets are added up in groups.
fn grouped(len: usize) -> MsmPlan {
    let plan = MsmPlan::with_width(len, len.ilog2()).with_groups_from(0);
    assert!(plan.log_group() > 0);
    plan
}

fn uneven_scalars<C: TestGroup>(len: usize) {
    let device = device();
    let points = Points::<C>::distinct(len, 6);
    let random = random_scalars(len, 7);
    let half = Scalar::from(2).invert().unwrap();
    let each = |scalar: &dyn Fn(usize) -> Scalar| (0..len).map(scalar).collect::<Vec<_>>();
    let cases = [
        ("all zero", vec![Scalar::ZERO; len]),
        ("all one", vec![Scalar::ONE; len]),
        ("all minus one", vec![-Scalar::ONE; len]),
        ("all equal", vec![random[0]; len]),
        (
            "around half of the field",
            each(&|i| [half, half - Scalar::ONE, -half][i % 3]),
        ),
        (
            "half zero",
            each(&|i| if i % 2 == 0 { Scalar::ZERO } else { random[i] }),
        ),
        (
            "one huge bucket",
            each(&|i| {
                if i % 10 == 0 {
                    random[i]
                } else {
                    Scalar::from(77)
                }
            }),
        ),
        ("small", each(&|i| Scalar::from(i as u64 % 5))),
        (
            "powers of two",
            each(&|i| Scalar::from(2).pow_vartime([i as u64 % 256])),
        ),
    ];
    for (case, scalars) in cases {
        check(&device, MsmPlan::new(len), &points, &scalars, case);
        let wide = MsmPlan::with_width(len, 16);
        for plan in [wide, grouped(len)] {
            check(&device, plan, &points, &scalars, case);
        }
    }
}

fn uneven_points<C: TestGroup>(len: usize) {
    let device = device();
    let points = Points::<C>::distinct(len, 8);
    let pick = |choose: fn(usize) -> Pick| points.select((0..len).map(choose));
    let cases = [
        ("all infinity", pick(|_| Pick::Infinity)),
        (
            "every third infinity",
            pick(|i| {
                if i % 3 == 0 {
                    Pick::Infinity
                } else {
                    Pick::Point(i)
                }
            }),
        ),
        ("all equal", pick(|_| Pick::Point(0))),
        ("pairs", pick(|i| Pick::Point(i / 2))),
        (
            "opposites",
            pick(|i| {
                if i % 2 == 0 {
                    Pick::Point(i / 2)
                } else {
                    Pick::Opposite(i / 2)
                }
            }),
        ),
    ];
    let random = random_scalars(len, 9);
    let paired: Vec<Scalar> = (0..len).map(|i| random[i / 2]).collect();
    for (case, points) in cases {
        for scalars in [&vec![Scalar::ONE; len], &random, &paired] {
            check(&device, MsmPlan::with_width(len, 6), &points, scalars, case);
            check(&device, MsmPlan::new(len), &points, scalars, case);
            check(&device, grouped(len), &points, scalars, case);
        }
    }
}

pub(crate) fn bitmap_sums<C: TestGroup>(device: &Device, sizes: &[usize]) {
    for &len in sizes {
        let points = Points::<C>::distinct(len, 10);
        let bases = device.upload_bases(&points.bases).unwrap();
        let mut room = BitmapSum::new(device, len).unwrap();
        for (case, selected) in [
            ("none", (|_| false) as fn(usize) -> bool),
            ("all", |_| true),
            ("every third", |i| i % 3 == 0),
            ("few", |i| i % 131 == 32),
        ] {
            // Bits beyond the length are set, and must not count.
            let mut words = vec![0_u32; len.div_ceil(32)];
            for (w, word) in words.iter_mut().enumerate() {
                for bit in 0..32 {
                    let i = 32 * w + bit;
                    *word |= u32::from(i >= len || selected(i)) << bit;
                }
            }
            let scalars: Vec<Scalar> = (0..len)
                .map(|i| Scalar::from(u64::from(selected(i))))
                .collect();
            let words = device.upload_words(&words).unwrap();
            assert_eq!(
                room.run(device, &bases, &words).unwrap(),
                points.sum(&scalars),
                "{case} of {len}"
            );
        }
    }
}

fn repeats<C: TestGroup>(len: usize, times: usize)
where
    C::Point: PartialEq,
{
    let device = device();
    let bases = device
        .upload_bases(&Points::<C>::distinct(len, 11).bases)
        .unwrap();
    let scalars = device.upload_scalars(&random_scalars(len, 12)).unwrap();
    let mut room = MultiExp::<C>::new(&device, MsmPlan::new(len)).unwrap();
    let mut run = || {
        let sum = room
            .run(&device, &bases, &scalars, ScalarForm::Montgomery)
            .unwrap();
        C::base(&sum.to_affine())
    };
    let first = run();
    let before = device.used_memory();
    for repeat in 0..times {
        assert_eq!(run(), first, "repeat {repeat}");
    }
    assert_eq!(device.used_memory(), before);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_no_terms_sum_to_infinity() {
    every_size::<Fp>(&[0]);
    every_size::<Fp2>(&[0]);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_g1_of_every_size_is_the_sum_of_multiples() {
    every_size::<Fp>(&[
        1, 2, 3, 4, 31, 32, 33, 255, 256, 257, 1023, 1025, 4095, 4096, 4097, 65535, 65537,
    ]);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_g1_of_a_real_query_length_is_the_sum_of_multiples() {
    let (len, distinct) = (10_615_314, 1 << 12);
    let device = device();
    let few = Points::<Fp>::distinct(distinct, 14);
    let points = few.select((0..len).map(|i| Pick::Point(i % distinct)));
    check(
        &device,
        MsmPlan::new(len),
        &points,
        &random_scalars(len, 15),
        "uniform",
    );
}

/// As the sum over h of a 32 GiB PoRep: the widest digits, and buckets that are added up in groups.
#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_g1_of_a_proof_of_replication_s_length_is_the_sum_of_multiples() {
    let (len, distinct) = ((1 << 26) + 12_345, 1 << 12);
    let device = device();
    let few = Points::<Fp>::distinct(distinct, 16);
    let points = few.select((0..len).map(|i| Pick::Point(i % distinct)));
    let plan = MsmPlan::new(len);
    assert_eq!(plan.width, 24);
    assert!(plan.log_group() > 0);
    check(
        &device,
        plan,
        &points,
        &many_random_scalars(len, 17),
        "uniform",
    );
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_g1_of_every_width_is_the_sum_of_multiples() {
    every_width::<Fp>(3000);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_g1_accepts_uneven_scalars() {
    uneven_scalars::<Fp>(20_000);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_g1_accepts_infinity_repeats_and_opposites() {
    uneven_points::<Fp>(5000);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_g1_bitmap_sums_agree_with_plain_sums() {
    bitmap_sums::<Fp>(&device(), &[0, 1, 31, 32, 33, 1000, 131_071, 131_073]);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_g2_of_every_size_is_the_sum_of_multiples() {
    every_size::<Fp2>(&[1, 2, 3, 33, 257, 4097, 65537, (1 << 21) + 1]);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_g2_of_every_width_is_the_sum_of_multiples() {
    every_width::<Fp2>(1000);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_g2_accepts_uneven_scalars() {
    uneven_scalars::<Fp2>(5000);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_g2_accepts_infinity_repeats_and_opposites() {
    uneven_points::<Fp2>(5000);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_g2_bitmap_sums_agree_with_plain_sums() {
    bitmap_sums::<Fp2>(&device(), &[0, 1, 33, 1000, 40_000]);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_repeated_multiplications_are_bit_equal() {
    repeats::<Fp>(30_000, 1000);
    repeats::<Fp2>(10_000, 1000);
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_too_few_bases_or_scalars_are_refused() {
    let device = device();
    let bases = device
        .upload_bases(&Points::<Fp>::distinct(3, 1).bases)
        .unwrap();
    let scalars = device.upload_scalars(&random_scalars(4, 1)).unwrap();
    let mut room = MultiExp::<Fp>::new(&device, MsmPlan::new(4)).unwrap();
    let got = room.run(&device, &bases, &scalars, ScalarForm::Montgomery);
    assert_eq!(
        got,
        Err(CudaError::Length {
            what: "bases",
            got: 3,
            expected: 4
        })
    );
}

fn room_is_as_planned<C: TestGroup>(base_bytes: usize) {
    for log_terms in [0, 10, 16, 20, 24] {
        let device = device();
        let plan = MsmPlan::new(1 << log_terms);
        let _room = MultiExp::<C>::new(&device, plan).unwrap();
        let (planned, used) = (plan.room_bytes(base_bytes), device.used_memory());
        let most = planned + planned / 100 + (1 << 20);
        assert!(
            (planned..=most).contains(&used),
            "2^{log_terms}: {used} bytes"
        );
    }
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_the_room_of_a_multiplication_takes_what_its_plan_says() {
    room_is_as_planned::<Fp>(size_of::<Base<Fp>>());
    room_is_as_planned::<Fp2>(size_of::<Base<Fp2>>());
}
