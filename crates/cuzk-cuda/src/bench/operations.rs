//! The operations of a proof, timed on the device's own clock.

use blstrs::{G1Projective, G2Projective};
use group::Group;

use super::{ceilings::Ceilings, median};
use crate::{
    BenchPlan, Bitmap, BitmapSum, CudaError, Device, Finish, Fp, Fp2, MsmPlan, MultiExp, Quotient,
    ScalarForm, TimeLine, Transform, TransformKind,
    elements::Base,
    fill_random,
    fixed_base::{Factors, FixedBase, FixedGroup},
    repeat_bases,
};

/// Multiplications take up to a second.
const MULTIEXP_REPEATS: usize = 3;
const DISTINCT_BASES: usize = 1 << 14;
const TRANSFORM_SIZES: [u32; 5] = [20, 22, 24, 26, 27];
const G1_SIZES: [u32; 5] = [20, 22, 24, 26, 27];
const G2_SIZES: [u32; 3] = [20, 22, 24];
const FIXED_SIZES: [u32; 2] = [20, 24];
/// Multiplications of a transform of n elements per n log2 n.
const MULTIPLICATIONS_PER_STAGE: f64 = 0.5;
/// Transforms of a quotient.
const TRANSFORMS_OF_QUOTIENT: f64 = 6.0;
/// Base-field multiplications of an affine addition that shares its inversion: five, and a square that takes 0.8 of one.
const G1_ADDITION: f64 = 5.8;
/// The same in the extension: three for each of five, and two for the square.
const G2_ADDITION: f64 = 17.0;

/// A card under measurement.
pub(super) struct Bench<'a> {
    pub(super) device: &'a Device,
    pub(super) plan: BenchPlan,
    pub(super) ceilings: Ceilings,
}

/// What tells the operations of one group from those of another.
struct GroupBench<C> {
    multiexp: &'static str,
    bitmap_sum: &'static str,
    fixed_base: &'static str,
    sizes: &'static [u32],
    seconds_per_addition: f64,
    bases: Vec<Base<C>>,
}

impl Bench<'_> {
    pub(super) fn transforms(
        &self,
        lines: &mut Vec<TimeLine>,
        told: &mut dyn FnMut(&str),
    ) -> Result<(), CudaError> {
        for log_size in self.sizes(&TRANSFORM_SIZES) {
            told(&format!("transforms of 2^{log_size}"));
            let n = (1_u64 << log_size) as f64;
            let floor_ms = MULTIPLICATIONS_PER_STAGE * f64::from(log_size) * n
                / self.ceilings.scalar_field
                * 1e3;
            let [mut a, mut b, mut c] = [
                fill_random(self.device, 1 << log_size, 1)?,
                fill_random(self.device, 1 << log_size, 2)?,
                fill_random(self.device, 1 << log_size, 3)?,
            ];
            for (operation, kind) in [
                ("inverse transform", TransformKind::Inverse),
                ("coset transform", TransformKind::CosetForward),
            ] {
                let transform = Transform::new(self.device, log_size, kind)?;
                let ms = self
                    .device
                    .repeated(|| transform.run(self.device, &mut a, Finish::Plain))?;
                lines.push(line(operation, log_size, ms, floor_ms));
            }
            let quotient = Quotient::new(self.device, log_size)?;
            let ms = self
                .device
                .repeated(|| quotient.run(self.device, &mut a, &mut b, &mut c))?;
            let floor_ms = TRANSFORMS_OF_QUOTIENT * floor_ms;
            lines.push(line("quotient", log_size, ms, floor_ms));
        }
        Ok(())
    }

    pub(super) fn groups(
        &self,
        lines: &mut Vec<TimeLine>,
        told: &mut dyn FnMut(&str),
    ) -> Result<(), CudaError> {
        let g1 = GroupBench {
            multiexp: "multiexp g1",
            bitmap_sum: "bitmap sum g1",
            fixed_base: "fixed base g1",
            sizes: &G1_SIZES,
            seconds_per_addition: G1_ADDITION / self.ceilings.base_field,
            bases: Fp::bases(&points::<G1Projective>()),
        };
        self.group(&g1, lines, told)?;
        let g2 = GroupBench {
            multiexp: "multiexp g2",
            bitmap_sum: "bitmap sum g2",
            fixed_base: "fixed base g2",
            sizes: &G2_SIZES,
            seconds_per_addition: G2_ADDITION / self.ceilings.base_field,
            bases: Fp2::bases(&points::<G2Projective>()),
        };
        self.group(&g2, lines, told)
    }

    fn group<C: FixedGroup>(
        &self,
        group: &GroupBench<C>,
        lines: &mut Vec<TimeLine>,
        told: &mut dyn FnMut(&str),
    ) -> Result<(), CudaError> {
        for log_size in self.sizes(group.sizes) {
            told(&format!("{} of 2^{log_size}", group.multiexp));
            self.multiexp(group, log_size, lines)?;
            told(&format!("{} of 2^{log_size}", group.bitmap_sum));
            self.bitmap_sum(group, log_size, lines)?;
        }
        for log_size in self.sizes(&FIXED_SIZES) {
            told(&format!("{} of 2^{log_size}", group.fixed_base));
            self.fixed_base(group, log_size, lines)?;
        }
        Ok(())
    }

    fn multiexp<C: FixedGroup>(
        &self,
        group: &GroupBench<C>,
        log_size: u32,
        lines: &mut Vec<TimeLine>,
    ) -> Result<(), CudaError> {
        let terms = 1 << log_size;
        let scalars = fill_random(self.device, terms, 4)?;
        let bases = repeat_bases(self.device, &group.bases, terms)?;
        let chosen = MsmPlan::new(terms).width;
        let around = u32::from(self.plan.sweep);
        for width in chosen - around..=chosen + around {
            let plan = MsmPlan::with_width(terms, width);
            let mut room = MultiExp::new(self.device, plan)?;
            room.run(self.device, &bases, &scalars, ScalarForm::Montgomery)?;
            let mut runs = Vec::with_capacity(MULTIEXP_REPEATS);
            for _ in 0..MULTIEXP_REPEATS {
                let (_, times) =
                    room.run_timed(self.device, &bases, &scalars, ScalarForm::Montgomery)?;
                runs.push([times.sort_ms, times.accumulate_ms, times.reduce_ms]);
            }
            let stages = median(runs, |stages| stages.iter().sum());
            let floor_ms = plan.refs() as f64 * group.seconds_per_addition * 1e3;
            lines.push(TimeLine {
                width: Some(plan.width),
                stages_ms: Some(stages),
                ..line(group.multiexp, log_size, stages.iter().sum(), floor_ms)
            });
        }
        Ok(())
    }

    /// Half of the bits are set.
    fn bitmap_sum<C: FixedGroup>(
        &self,
        group: &GroupBench<C>,
        log_size: u32,
        lines: &mut Vec<TimeLine>,
    ) -> Result<(), CudaError> {
        let bases = repeat_bases(self.device, &group.bases, 1 << log_size)?;
        let random = fill_random(self.device, (1 << log_size) / 256, 5)?;
        let words: Vec<u32> = self
            .device
            .download_scalars(&random)?
            .iter()
            .flat_map(|scalar| scalar.0)
            .flat_map(|word| [word as u32, (word >> 32) as u32])
            .collect();
        let words = self.device.upload_words(&words)?;
        let mut room = BitmapSum::new(self.device, 1 << log_size)?;
        let ms = self
            .device
            .repeated(|| room.queue(self.device, &bases, &Bitmap::all(&words, 1 << log_size)))?;
        let additions = (1_u64 << (log_size - 1)) as f64;
        let floor_ms = additions * group.seconds_per_addition * 1e3;
        lines.push(line(group.bitmap_sum, log_size, ms, floor_ms));
        Ok(())
    }

    fn fixed_base<C: FixedGroup>(
        &self,
        group: &GroupBench<C>,
        log_size: u32,
        lines: &mut Vec<TimeLine>,
    ) -> Result<(), CudaError> {
        let count = 1 << log_size;
        let scalars = fill_random(self.device, count, 6)?;
        let base = FixedBase::<C>::new(self.device, count, count)?;
        let mut products = self.device.session().allocate(count)?;
        let factors = Factors {
            scalars: &scalars,
            form: ScalarForm::Montgomery,
        };
        let ms = self
            .device
            .repeated(|| base.multiply(self.device, factors, &mut products, 0..count))?;
        let additions = count as f64 * f64::from(base.windows() - 1);
        let floor_ms = additions * group.seconds_per_addition * 1e3;
        lines.push(line(group.fixed_base, log_size, ms, floor_ms));
        Ok(())
    }

    fn sizes<'s>(&self, of_operation: &'s [u32]) -> impl Iterator<Item = u32> + use<'s> {
        let BenchPlan {
            smallest, largest, ..
        } = self.plan;
        let sizes = of_operation.iter().copied();
        sizes.filter(move |log_size| (smallest..=largest).contains(log_size))
    }
}

fn line(operation: &'static str, log_size: u32, ms: f64, floor_ms: f64) -> TimeLine {
    TimeLine {
        operation,
        log_size,
        width: None,
        ms,
        floor_ms,
        ratio: ms / floor_ms,
        stages_ms: None,
    }
}

/// Different points, from a fixed one by steps of the generator.
fn points<P: Group>() -> Vec<P> {
    let step = P::generator();
    std::iter::successors(Some(step.double()), |point| Some(*point + step))
        .take(DISTINCT_BASES)
        .collect()
}
