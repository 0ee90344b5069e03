//! The driver: walks the bases once, chunk by chunk, and keeps every thread busy within a chunk.
//!
//! Per chunk: decode selected bases of all blocks in parallel, adding those with scalar ±1 to running sums on the way;
//! then, for all windows in parallel, sort digits and add points to buckets, ranges of buckets in parallel. At the end
//! the windows are weighed in parallel and joined by doubling.

use group::Group;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::buckets::{BucketScratch, SortedDigits, weigh};
use super::error::MsmError;
use super::plan::{BLOCK_SCALARS, Block, Plan, choose_windows, chunk_points};
use super::pool::Pool;
use super::scalars::{Recoded, WindowBits, Windows, recode};
use super::segment::{NonZero, ScalarSegment};
use super::source::BaseSource;
use crate::curve::batch::{PairBatch, RunningSum};
use crate::curve::{Arithmetic, CurveField, KernelVisitor, PointKernel};

/// Choices that change the speed of a multiplication and not its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MsmSettings {
    /// Implementation of point addition.
    pub arithmetic: Arithmetic,
    /// Bits per window; by a count of additions when `None`.
    pub window_bits: Option<WindowBits>,
}

/// Σ sᵢ·Pᵢ over the selected scalars of all segments and the bases, in order, on the threads of `pool`.
///
/// # Errors
/// [`MsmError::Length`] when the segments select more or fewer scalars than there are bases.
pub fn msm<F: CurveField>(
    pool: &ThreadPool,
    bases: &dyn BaseSource<F>,
    segments: &[ScalarSegment<'_>],
    settings: MsmSettings,
) -> Result<F::Projective, MsmError> {
    ScalarSegment::checked(bases, segments)?;
    Ok(pool.install(|| {
        let visitor = Multiplication {
            bases,
            segments,
            window_bits: settings.window_bits,
        };
        F::with_kernel(settings.arithmetic, visitor)
    }))
}

/// Upper estimate of the bytes that [`msm`] allocates for `num_wide` scalars other than 0 and ±1 on `threads` threads.
///
/// One bucket that holds most of a chunk takes up to 8 MiB (G1) more per window in work.
pub fn scratch_bytes<F: CurveField>(
    num_wide: usize,
    threads: usize,
    settings: MsmSettings,
) -> usize {
    let visitor = Estimate {
        num_wide,
        threads,
        window_bits: settings.window_bits,
        field: std::marker::PhantomData,
    };
    F::with_kernel(settings.arithmetic, visitor)
}

struct Estimate<F> {
    num_wide: usize,
    threads: usize,
    window_bits: Option<WindowBits>,
    field: std::marker::PhantomData<F>,
}

impl<F: CurveField> KernelVisitor<F> for Estimate<F> {
    type Output = usize;

    fn visit<K: PointKernel<Field = F>>(self, _: K) -> usize {
        let point = size_of::<K::Point>();
        let per_thread = Workspace::<K>::bytes();
        let mut bytes = self.threads * per_thread;
        if self.num_wide > 0 {
            let windows = windows_for::<K>(self.num_wide, self.window_bits);
            let chunk = self.num_wide.min(chunk_points(self.num_wide));
            let sorted = SortedDigits::bytes(chunk, windows);
            bytes += windows.count as usize * windows.buckets() * point;
            bytes += chunk * (point + size_of::<Recoded>());
            bytes += sorted * self.threads.min(windows.count as usize);
        }
        bytes
    }
}

fn windows_for<K: PointKernel>(num_wide: usize, window_bits: Option<WindowBits>) -> Windows {
    window_bits.map_or_else(
        || choose_windows(num_wide, size_of::<K::Point>()),
        |bits| Windows::of_bits(bits.get()),
    )
}

struct Multiplication<'a, F> {
    bases: &'a dyn BaseSource<F>,
    segments: &'a [ScalarSegment<'a>],
    window_bits: Option<WindowBits>,
}

impl<F: CurveField> KernelVisitor<F> for Multiplication<'_, F> {
    type Output = F::Projective;

    fn visit<K: PointKernel<Field = F>>(self, kernel: K) -> F::Projective {
        let plan = Plan::new(self.segments);
        let windows = windows_for::<K>(plan.num_wide, self.window_bits);
        let mut state = State::new(kernel, &plan, windows);
        for chunk in plan.chunks() {
            state.add_chunk(self.bases, chunk);
            let (first, last) = (chunk[0], chunk[chunk.len() - 1]);
            self.bases
                .release(first.first_base..last.first_base + last.num_bases);
        }
        state.total()
    }
}

/// What a thread needs while it works on a block or on a range of buckets.
struct Workspace<K: PointKernel> {
    batch: PairBatch<K>,
    buckets: BucketScratch<K::Point>,
    /// Sum of the bases with scalar ±1 that met this workspace.
    units: RunningSum<K>,
    decoded: Vec<K::Point>,
}

impl<K: PointKernel> Workspace<K> {
    fn new(kernel: K) -> Self {
        Self {
            batch: PairBatch::new(kernel),
            buckets: BucketScratch::new(),
            units: RunningSum::new(),
            decoded: Vec::new(),
        }
    }

    fn bytes() -> usize {
        PairBatch::<K>::bytes()
            + BucketScratch::<K::Point>::bytes()
            + RunningSum::<K>::bytes()
            + BLOCK_SCALARS * (size_of::<K::Point>() + size_of::<&[u8]>())
    }
}

struct State<K: PointKernel> {
    kernel: K,
    windows: Windows,
    bias: Recoded,
    /// Buckets of all windows, window by window; empty when no scalar is wide.
    buckets: Vec<K::Point>,
    /// The chunk's wide points and scalars.
    points: Vec<K::Point>,
    scalars: Vec<Recoded>,
    workspaces: Pool<Workspace<K>>,
    sorts: Pool<SortedDigits>,
}

impl<K: PointKernel> State<K> {
    fn new(kernel: K, plan: &Plan<'_>, windows: Windows) -> Self {
        let chunk = plan.num_wide.min(chunk_points(plan.num_wide));
        let num_buckets = if chunk == 0 {
            0
        } else {
            windows.count as usize * windows.buckets()
        };
        Self {
            kernel,
            windows,
            bias: windows.bias(),
            buckets: vec![K::INFINITY; num_buckets],
            points: vec![K::INFINITY; chunk],
            scalars: vec![Recoded::default(); chunk],
            workspaces: Pool::new(),
            sorts: Pool::new(),
        }
    }

    fn add_chunk(&mut self, bases: &dyn BaseSource<K::Field>, chunk: &[Block<'_>]) {
        let num_wide = self.decode_chunk(bases, chunk);
        if num_wide == 0 {
            return;
        }
        let (kernel, windows) = (self.kernel, self.windows);
        let points = &self.points[..num_wide];
        let scalars = &self.scalars[..num_wide];
        let (workspaces, sorts) = (&self.workspaces, &self.sorts);
        self.buckets
            .par_chunks_mut(windows.buckets())
            .enumerate()
            .for_each(|(window, buckets)| {
                sorts.with(SortedDigits::default, |sorted| {
                    sorted.sort(scalars, windows, window as u32);
                    sorted.tasks(buckets).into_par_iter().for_each(|task| {
                        workspaces.with(
                            || Workspace::new(kernel),
                            |workspace| {
                                let Workspace { batch, buckets, .. } = workspace;
                                task.accumulate(points, batch, buckets);
                            },
                        );
                    });
                });
            });
    }

    /// Fills `points` and `scalars` with the chunk's wide ones, adds up the others; returns the number of wide ones.
    fn decode_chunk(&mut self, bases: &dyn BaseSource<K::Field>, chunk: &[Block<'_>]) -> usize {
        let mut tasks = Vec::with_capacity(chunk.len());
        let mut points = self.points.as_mut_slice();
        let mut scalars = self.scalars.as_mut_slice();
        for block in chunk {
            let (own_points, rest_points) = points.split_at_mut(block.num_wide);
            let (own_scalars, rest_scalars) = scalars.split_at_mut(block.num_wide);
            tasks.push((block, own_points, own_scalars));
            (points, scalars) = (rest_points, rest_scalars);
        }
        let (kernel, bias) = (self.kernel, self.bias);
        tasks.into_par_iter().for_each(|(block, points, scalars)| {
            self.workspaces.with(
                || Workspace::new(kernel),
                |workspace| {
                    let wide = WideScalars {
                        bias: &bias,
                        points,
                        scalars,
                    };
                    decode_block(kernel, bases, block, workspace, wide);
                },
            );
        });
        chunk.iter().map(|block| block.num_wide).sum()
    }

    fn total(self) -> <K::Field as CurveField>::Projective {
        let windows = self.windows;
        let sums: Vec<<K::Field as CurveField>::Projective> = self
            .buckets
            .par_chunks(windows.buckets())
            .map(|buckets| {
                self.workspaces.with(
                    || Workspace::new(self.kernel),
                    |workspace| weigh(&mut workspace.batch, buckets),
                )
            })
            .collect();
        let mut total = <K::Field as CurveField>::Projective::identity();
        for sum in sums.iter().rev() {
            for _ in 0..windows.bits {
                total = total.double();
            }
            total += sum;
        }
        for mut workspace in self.workspaces.into_values() {
            let units = workspace.units.total(&mut workspace.batch);
            total += K::unpack(&units).to_blstrs();
        }
        total
    }
}

/// Where a block's wide scalars and their bases go.
struct WideScalars<'a, P> {
    bias: &'a Recoded,
    points: &'a mut [P],
    scalars: &'a mut [Recoded],
}

/// Decodes the bases of one block whose scalars are not zero.
fn decode_block<K: PointKernel>(
    kernel: K,
    bases: &dyn BaseSource<K::Field>,
    block: &Block<'_>,
    workspace: &mut Workspace<K>,
    wide_scalars: WideScalars<'_, K::Point>,
) {
    let WideScalars {
        bias,
        points,
        scalars,
    } = wide_scalars;
    let width = 2 * <K::Field as crate::field::Coordinate>::BYTES;
    let encoded = bases.encoded(block.first_base..block.first_base + block.num_bases);
    let mut units = Vec::new();
    let mut wide = Vec::with_capacity(block.num_wide);
    block.scalars.for_each_non_zero(|base, value| {
        let bytes = &encoded[base * width..][..width];
        match value {
            NonZero::One => units.push((bytes, false)),
            NonZero::MinusOne => units.push((bytes, true)),
            NonZero::Wide(scalar) => {
                let (recoded, negate) = recode(&scalar, bias);
                scalars[wide.len()] = recoded;
                wide.push((bytes, negate));
            }
        }
    });
    decode_signed(kernel, &wide, points);

    let Workspace {
        batch,
        units: sum,
        decoded,
        ..
    } = workspace;
    decoded.resize(units.len(), K::INFINITY);
    decode_signed(kernel, &units, decoded);
    sum.add(batch, decoded);
}

/// Decodes points and negates those that are marked.
fn decode_signed<K: PointKernel>(kernel: K, encoded: &[(&[u8], bool)], points: &mut [K::Point]) {
    const STEP: usize = 64;
    for (encoded, points) in encoded.chunks(STEP).zip(points.chunks_mut(STEP)) {
        let mut bytes: [&[u8]; STEP] = [&[]; STEP];
        for (bytes, (encoded, _)) in bytes.iter_mut().zip(encoded) {
            *bytes = encoded;
        }
        kernel.decode(&bytes[..encoded.len()], points);
        for ((_, negate), point) in encoded.iter().zip(points) {
            *point = K::negate_if(point, *negate);
        }
    }
}
