//! Multi-scalar multiplication by buckets: digits, references grouped by bucket, sums of buckets by batched
//! affine additions, weighted sums of buckets; the host adds what is left of each window.

use std::ops::Range;

use crate::{
    CudaError, Device, MAX_TERMS, MsmPlan, RawScalar,
    driver::{Arguments, DeviceBuffer, Grid},
    elements::{Base, Partial, Xyzz},
    kernels::{self, DeviceGroup},
};

const DIGIT_THREADS: u32 = 256;
const SORT_THREADS: u32 = 1024;
/// Items of a thread in a partition.
const ITEMS: u32 = 16;
/// Items of a block that counts them.
const TILE: u64 = (ITEMS * SORT_THREADS) as u64;
const SUM_THREADS: u32 = 128;
pub(crate) const JOIN_THREADS: u32 = 64;
const REDUCE_THREADS: u32 = 128;
const SPLIT_THREADS: u32 = 128;
/// Words of a segment, and of a split bucket's description, on the device.
pub(crate) const SEGMENT_WORDS: usize = 3;
pub(crate) const SPLIT_WORDS: usize = 5;
/// Words of the counters: segments, partials, splits, next, and one per length.
const COUNTER_WORDS: usize = 4 + 1024;
const COUNTER_SEGMENTS: usize = 0;
const COUNTER_SPLITS: usize = 2;
const COUNTER_NEXT: usize = 3;

/// The form of scalars on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarForm {
    /// Montgomery form, as blst keeps them.
    Montgomery,
    /// The number itself, below the modulus.
    Canonical,
}

/// The terms of a multiplication, consecutive ones of a list.
#[derive(Clone, Debug)]
pub(crate) struct Terms<'a> {
    /// Scalars on the device.
    pub(crate) scalars: &'a DeviceBuffer<RawScalar>,
    /// Their form.
    pub(crate) form: ScalarForm,
    /// Which terms of the list.
    pub(crate) range: Range<usize>,
    /// Which scalar and which base each term has.
    pub(crate) pairing: Pairing<'a>,
}

/// Which scalar is multiplied with which base.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pairing<'a> {
    /// Scalar i with base i - range.start.
    InOrder,
    /// Scalar i with the base whose number has the same `bits` bits in reversed order.
    Reversed { bits: u32 },
    /// By lists of numbers.
    Listed(TermNumbers<'a>),
}

/// Term i is scalar number `scalars[i]` times base number `bases[i] - first_base`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TermNumbers<'a> {
    pub(crate) scalars: &'a DeviceBuffer<u32>,
    pub(crate) bases: &'a DeviceBuffer<u32>,
    /// Number of the first base that is there.
    pub(crate) first_base: u32,
}

impl<'a> Terms<'a> {
    /// Scalars of a range, in order.
    pub(crate) fn in_order(
        scalars: &'a DeviceBuffer<RawScalar>,
        form: ScalarForm,
        range: Range<usize>,
    ) -> Self {
        Self {
            scalars,
            form,
            range,
            pairing: Pairing::InOrder,
        }
    }

    /// The scalars of 2^n that come in bit-reversed order, but for the last one. That is the last one in order, too.
    pub(crate) fn reversed(scalars: &'a DeviceBuffer<RawScalar>, form: ScalarForm) -> Self {
        Self {
            scalars,
            form,
            range: 0..scalars.len() - 1,
            pairing: Pairing::Reversed {
                bits: scalars.len().ilog2(),
            },
        }
    }

    /// Terms of the whole list.
    fn available(&self) -> usize {
        match self.pairing {
            Pairing::InOrder | Pairing::Reversed { .. } => self.scalars.len(),
            Pairing::Listed(numbers) => numbers.scalars.len().min(numbers.bases.len()),
        }
    }

    /// The kernels' arguments for scalars and their numbers.
    fn scalars(&self, arguments: Arguments) -> Arguments {
        let first = self.range.start;
        match self.pairing {
            Pairing::InOrder | Pairing::Reversed { .. } => {
                arguments.buffer_from(self.scalars, first).null()
            }
            Pairing::Listed(numbers) => arguments
                .buffer(self.scalars)
                .buffer_from(numbers.scalars, first),
        }
    }

    /// The kernels' arguments for numbers of bases.
    fn bases(&self, arguments: Arguments) -> Arguments {
        match self.pairing {
            Pairing::InOrder => arguments.null().word(0).word(0),
            Pairing::Reversed { bits } => arguments.null().word(0).word(bits),
            Pairing::Listed(numbers) => arguments
                .buffer_from(numbers.bases, self.range.start)
                .word(numbers.first_base)
                .word(0),
        }
    }
}

/// Room for multiplications of one size. Reusing it saves allocations.
#[derive(Debug)]
pub struct MultiExp<C> {
    plan: MsmPlan,
    rows: DeviceBuffer<u32>,
    items: DeviceBuffer<u64>,
    starts: DeviceBuffer<u32>,
    cursors: DeviceBuffer<u32>,
    offsets: DeviceBuffer<u32>,
    counters: DeviceBuffer<u32>,
    splits: DeviceBuffer<u32>,
    segments: DeviceBuffer<u32>,
    sums: DeviceBuffer<Base<C>>,
    partials: [DeviceBuffer<Partial<C>>; 2],
    group: usize,
}

/// Milliseconds of the stages of one multiplication.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MultiExpTimes {
    /// Digits and their grouping by bucket.
    pub sort_ms: f64,
    /// Sums of buckets.
    pub accumulate_ms: f64,
    /// Weighted sums of buckets.
    pub reduce_ms: f64,
}

impl<C: DeviceGroup> MultiExp<C> {
    /// Allocates for multiplications by `plan`.
    ///
    /// # Errors
    ///
    /// [`CudaError::TooManyTerms`], [`CudaError::OutOfMemory`].
    pub fn new(device: &Device, plan: MsmPlan) -> Result<Self, CudaError> {
        let max = MAX_TERMS.min(u32::MAX as usize / plan.windows());
        if plan.terms > max {
            return Err(CudaError::TooManyTerms {
                terms: plan.terms,
                max,
            });
        }
        let session = device.session();
        let windows = plan.windows();
        let group = plan.group();
        let bins = 1_usize << plan.coarse_bits();
        let [odd, even] = plan.partial_entries();
        Ok(Self {
            plan,
            rows: session.allocate(plan.refs())?,
            items: session.allocate(group * plan.terms)?,
            starts: session.allocate(windows * (bins + 1))?,
            cursors: session.allocate(windows * bins)?,
            offsets: session.allocate(windows * ((1 << plan.log_buckets()) + 1))?,
            counters: session.allocate(COUNTER_WORDS)?,
            splits: session.allocate(SPLIT_WORDS * plan.max_splits())?,
            segments: session.allocate(SEGMENT_WORDS * (plan.buckets() + plan.max_partials()))?,
            sums: session.allocate(plan.buckets() + plan.max_partials())?,
            partials: [session.allocate(odd)?, session.allocate(even)?],
            group,
        })
    }

    /// The plan that the room was made for.
    pub fn plan(&self) -> MsmPlan {
        self.plan
    }

    /// The sum of scalars\[i\] * bases\[i\]. Waits for the device.
    ///
    /// # Errors
    ///
    /// [`CudaError::Length`] when there are fewer bases or scalars than the plan's terms, [`CudaError::Kernel`],
    /// [`CudaError::Driver`].
    pub fn run(
        &mut self,
        device: &Device,
        bases: &DeviceBuffer<Base<C>>,
        scalars: &DeviceBuffer<RawScalar>,
        form: ScalarForm,
    ) -> Result<C::Point, CudaError> {
        let plan = self.plan;
        let terms = Terms::in_order(scalars, form, 0..plan.terms);
        let left = self.queue(device, bases, &terms)?;
        let entries = device.session().download_first(left, plan.num_results())?;
        Ok(plan.combine(&entries))
    }

    /// Queues a multiplication; the first [`MsmPlan::num_results`] values of the buffer will be what
    /// [`MsmPlan::combine`] takes. The caller has bases for all base numbers, and scalars for all scalar numbers.
    ///
    /// # Errors
    ///
    /// Those of [`MultiExp::run`].
    pub(crate) fn queue(
        &mut self,
        device: &Device,
        bases: &DeviceBuffer<Base<C>>,
        terms: &Terms<'_>,
    ) -> Result<&DeviceBuffer<Partial<C>>, CudaError> {
        self.check("terms", terms.range.len())?;
        let available = terms.available();
        if terms.range.end > available {
            return Err(CudaError::Length {
                what: "terms",
                got: available,
                expected: terms.range.end,
            });
        }
        if !matches!(terms.pairing, Pairing::Listed(_)) {
            self.check("bases", bases.len())?;
        }
        let mut last = 0;
        if self.plan.terms > 0 {
            self.sort(device, terms)?;
            self.accumulate(device, bases)?;
            last = self.reduce(device)?;
        }
        Ok(&self.partials[last])
    }

    /// As [`MultiExp::run`], with the device time of each stage.
    ///
    /// # Errors
    ///
    /// Those of [`MultiExp::run`].
    pub fn run_timed(
        &mut self,
        device: &Device,
        bases: &DeviceBuffer<Base<C>>,
        scalars: &DeviceBuffer<RawScalar>,
        form: ScalarForm,
    ) -> Result<(C::Point, MultiExpTimes), CudaError> {
        self.check("bases", bases.len())?;
        self.check("scalars", scalars.len())?;
        let terms = Terms::in_order(scalars, form, 0..self.plan.terms);
        let sort_ms = device.time(|| self.sort(device, &terms))?;
        let accumulate_ms = device.time(|| self.accumulate(device, bases))?;
        let mut last = 0;
        let reduce_ms = device.time(|| {
            last = self.reduce(device)?;
            Ok(())
        })?;
        let entries = device
            .session()
            .download_first(&self.partials[last], self.plan.num_results())?;
        Ok((
            self.plan.combine(&entries),
            MultiExpTimes {
                sort_ms,
                accumulate_ms,
                reduce_ms,
            },
        ))
    }

    fn check(&self, what: &'static str, got: usize) -> Result<(), CudaError> {
        if got < self.plan.terms {
            return Err(CudaError::Length {
                what,
                got,
                expected: self.plan.terms,
            });
        }
        Ok(())
    }

    fn layout(&self) -> [u32; 6] {
        let plan = self.plan;
        [
            plan.terms as u32,
            0,
            plan.terms as u32,
            plan.coarse_bits(),
            plan.fine_bits(),
            plan.first_narrow_window() as u32,
        ]
    }

    fn sort(&mut self, device: &Device, terms: &Terms<'_>) -> Result<(), CudaError> {
        let plan = self.plan;
        let session = device.session();
        let (windows, num_terms) = (plan.windows() as u32, plan.terms as u64);
        let montgomery = u32::from(terms.form == ScalarForm::Montgomery);
        let bins = 1_u32 << plan.coarse_bits();
        let tiles =
            Grid::new(num_terms.div_ceil(TILE) as u32, SORT_THREADS).shared(4 * bins as usize);
        let shared_memory = device.info().shared_memory as usize;
        let scatters = scatter_grid(plan, shared_memory);
        let (fine_grid, capacity) = fine_grid(plan, shared_memory);
        let digits = terms
            .scalars(Arguments::new().buffer(&self.rows))
            .words(self.layout())
            .words([
                windows,
                plan.window_bits(plan.windows() - 1),
                plan.wide_windows() as u32,
            ])
            .word(montgomery);
        session.launch(
            kernels::DIGITS,
            Grid::for_items(num_terms, DIGIT_THREADS),
            &digits,
        )?;
        session.clear(&mut self.cursors)?;
        let count = Arguments::new()
            .buffer(&self.cursors)
            .buffer(&self.rows)
            .words(self.layout());
        session.launch(kernels::COARSE_COUNT, tiles.rows(windows), &count)?;
        let scan = Arguments::new()
            .buffer(&self.starts)
            .buffer(&self.cursors)
            .words(self.layout());
        session.launch(
            kernels::COARSE_SCAN,
            Grid::new(windows, SORT_THREADS),
            &scan,
        )?;
        for first in (0..windows).step_by(self.group) {
            let rows = (windows - first).min(self.group as u32);
            let scatter = Arguments::new()
                .buffer(&self.items)
                .buffer(&self.cursors)
                .buffer(&self.rows);
            let scatter = terms.bases(scatter).words(self.layout()).word(first);
            session.launch(kernels::COARSE_SCATTER, scatters.rows(rows), &scatter)?;
            let fine = Arguments::new()
                .buffer(&self.rows)
                .buffer(&self.offsets)
                .buffer(&self.items)
                .buffer(&self.starts)
                .words(self.layout())
                .word(first)
                .word(capacity);
            session.launch(kernels::FINE_SORT, fine_grid.rows(rows), &fine)?;
        }
        Ok(())
    }

    fn accumulate(
        &mut self,
        device: &Device,
        bases: &DeviceBuffer<Base<C>>,
    ) -> Result<(), CudaError> {
        let plan = self.plan;
        let session = device.session();
        let per_window = 1_u32 << plan.log_buckets();
        let runs = [plan.windows() as u32, per_window, plan.max_segment()];
        let by_bucket = Grid::for_items(plan.buckets() as u64, SORT_THREADS);
        session.clear(&mut self.counters)?;
        let with_runs = |arguments: Arguments| runs.into_iter().fold(arguments, Arguments::word);
        let planned = Arguments::new()
            .buffer(&self.counters)
            .buffer(&self.splits)
            .buffer(&self.offsets);
        session.launch(kernels::PLAN_SEGMENTS, by_bucket, &with_runs(planned))?;
        let counters = Arguments::new().buffer(&self.counters);
        session.launch(kernels::SCAN_LENGTHS, Grid::new(1, SORT_THREADS), &counters)?;
        let write = Arguments::new()
            .buffer(&self.segments)
            .buffer(&self.counters)
            .buffer(&self.sums)
            .buffer(&self.offsets);
        let write = with_runs(write).word(units::<C>());
        session.launch(kernels::WRITE_SEGMENTS, by_bucket, &write)?;
        let split = Arguments::new()
            .buffer(&self.segments)
            .buffer(&self.counters)
            .buffer(&self.splits)
            .word(plan.buckets() as u32);
        let multiprocessors = device.info().multiprocessors;
        let all = Grid::new(8 * multiprocessors, SPLIT_THREADS);
        session.launch(kernels::WRITE_SPLIT_SEGMENTS, all, &split)?;
        self.sum_segments(device, bases)?;
        self.join_splits(device)
    }

    /// Sums of the counted segments over `bases`.
    fn sum_segments(
        &self,
        device: &Device,
        bases: &DeviceBuffer<Base<C>>,
    ) -> Result<(), CudaError> {
        let sum = Arguments::new()
            .buffer(&self.sums)
            .buffer(&self.segments)
            .buffer_from(&self.counters, COUNTER_SEGMENTS)
            .buffer_from(&self.counters, COUNTER_NEXT)
            .buffer(bases)
            .buffer(&self.rows);
        let session = device.session();
        session.launch(C::KERNELS.sum_segments, sum_grid::<C>(device), &sum)
    }

    /// Sums of the counted splits.
    fn join_splits(&self, device: &Device) -> Result<(), CudaError> {
        let join = Arguments::new()
            .buffer(&self.sums)
            .buffer(&self.splits)
            .buffer_from(&self.counters, COUNTER_SPLITS)
            .word(self.plan.buckets() as u32);
        let grid = join_grid::<C>(8 * device.info().multiprocessors);
        device.session().launch(C::KERNELS.join_splits, grid, &join)
    }

    /// Adds buckets up as groups, whose sums follow those of the buckets, and as columns, whose sums replace the first ones of
    /// each window.
    fn add_groups(&self, device: &Device) -> Result<(), CudaError> {
        let (plan, session) = (self.plan, device.session());
        let windows = plan.windows() as u32;
        let groups = [
            windows,
            plan.first_narrow_window() as u32,
            plan.log_buckets(),
            plan.log_group(),
        ];
        let segments = Arguments::new()
            .buffer(&self.segments)
            .buffer(&self.counters)
            .buffer(&self.rows)
            .buffer(&self.sums)
            .words(groups)
            .word(units::<C>());
        let slots = 1 << (plan.log_buckets() - plan.log_group());
        session.launch(
            kernels::WRITE_GROUP_SEGMENTS,
            Grid::for_items(slots, SORT_THREADS).rows(windows),
            &segments,
        )?;
        self.sum_segments(device, &self.sums)?;
        let columns = Arguments::new()
            .buffer(&self.splits)
            .buffer(&self.counters)
            .words(groups);
        let grid = Grid::for_items(u64::from(windows) << plan.log_group(), SPLIT_THREADS);
        session.launch(kernels::WRITE_COLUMN_SPLITS, grid, &columns)?;
        self.join_splits(device)
    }

    /// Returns which of the two buffers holds the entries that are left.
    fn reduce(&mut self, device: &Device) -> Result<usize, CudaError> {
        let (plan, session) = (self.plan, device.session());
        let log_group = plan.log_group();
        if log_group > 0 {
            self.add_groups(device)?;
        }
        let mut target = 0;
        for (number, step) in plan.reduction().into_iter().enumerate() {
            let chunks = plan.buckets() >> (step.log_unit + step.log_chunk);
            let grid = Grid::for_items(chunks as u64, REDUCE_THREADS);
            target = number % 2;
            let out = Arguments::new().buffer(&self.partials[target]);
            let (kernel, from) = match (number, log_group) {
                (0, 0) => (C::KERNELS.reduce_buckets, out.buffer(&self.sums)),
                (0, _) => (
                    C::KERNELS.reduce_groups,
                    out.buffer_from(&self.sums, plan.buckets()),
                ),
                _ => (
                    C::KERNELS.reduce_partials,
                    out.buffer(&self.partials[1 - target]),
                ),
            };
            let mut arguments = from.word(chunks as u32).word(step.log_chunk);
            if step.log_unit > 0 {
                arguments = arguments.word(step.log_unit);
            }
            session.launch(kernel, grid, &arguments)?;
        }
        if log_group > 0 {
            let windows = plan.windows() as u32;
            let columns = Arguments::new()
                .buffer(&self.partials[target])
                .buffer(&self.sums)
                .word(windows)
                .word(plan.log_buckets())
                .word(plan.log_buckets() - plan.taken())
                .word(1 << log_group);
            let grid = Grid::for_items(u64::from(windows), REDUCE_THREADS);
            session.launch(C::KERNELS.add_columns, grid, &columns)?;
        }
        Ok(target)
    }
}

/// Units of 16 bytes of a base on the device.
fn units<C>() -> u32 {
    (size_of::<Base<C>>() / 16) as u32
}

/// Blocks that sort their tiles in shared memory, beside two words a bin.
fn scatter_grid(plan: MsmPlan, shared_memory: usize) -> Grid {
    let bytes = |threads: u32| (8 * ITEMS * threads + (8 << plan.coarse_bits())) as usize;
    let mut threads = SORT_THREADS;
    while threads > 32 && bytes(threads) > shared_memory {
        threads /= 2;
    }
    let tile = u64::from(ITEMS * threads);
    let tiles = (plan.terms as u64).div_ceil(tile) as u32;
    Grid::new(tiles, threads).shared(bytes(threads))
}

/// A block for each bin, and how many references it has room for in shared memory: a quarter more than a bin of uniform digits
/// has.
fn fine_grid(plan: MsmPlan, shared_memory: usize) -> (Grid, u32) {
    let counters = 4 << plan.fine_bits();
    let mean = plan.terms >> plan.coarse_bits();
    let capacity = (mean + mean / 4 + SORT_THREADS as usize).min((shared_memory - counters) / 4);
    let grid = Grid::new(1 << plan.coarse_bits(), SORT_THREADS).shared(counters + 4 * capacity);
    (grid, capacity as u32)
}

/// As many blocks as the device runs at once.
pub(crate) fn sum_grid<C: DeviceGroup>(device: &Device) -> Grid {
    Grid::new(
        C::KERNELS.sum_blocks_per_sm * device.info().multiprocessors,
        SUM_THREADS,
    )
}

pub(crate) fn join_grid<C: DeviceGroup>(blocks: u32) -> Grid {
    Grid::new(blocks, JOIN_THREADS).shared(JOIN_THREADS as usize * size_of::<Xyzz<C>>())
}
