//! Transforms between evaluations and coefficients on the device, and the quotient polynomial of Groth16.
//!
//! Coefficients stay in bit-reversed order, which saves two permutations per round trip: inverse transforms go from
//! natural to reversed order, forward transforms back. No transform scales: an inverse one yields n times the
//! coefficients, and the factor goes where something is multiplied anyway.

use blstrs::Scalar;
use ff::{Field, PrimeField};

use crate::{
    CudaError, Device, MAX_LOG_SIZE, NttPlan, Pass, RawScalar,
    driver::{Arguments, DeviceBuffer, Grid},
    kernels,
};

const POWERS_PER_THREAD: u64 = 16;
const POWERS_THREADS: u32 = 128;
const REVERSE_THREADS: u32 = 256;

/// Which transform a set of tables is for. The coset is that of the field's multiplicative generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransformKind {
    /// Reversed coefficients to natural evaluations on the roots of unity.
    Forward,
    /// Natural evaluations on the roots of unity to reversed coefficients, times n.
    Inverse,
    /// Reversed coefficients to natural evaluations on the coset.
    CosetForward,
    /// Natural evaluations on the coset to reversed coefficients, times n.
    CosetInverse,
}

impl TransformKind {
    fn is_rising(self) -> bool {
        matches!(self, Self::Forward | Self::CosetForward)
    }

    fn shift(self) -> Scalar {
        match self {
            Self::Forward | Self::Inverse => Scalar::ONE,
            Self::CosetForward | Self::CosetInverse => Scalar::MULTIPLICATIVE_GENERATOR,
        }
    }
}

/// What happens to each element as a transform stores it.
#[derive(Debug, Clone, Copy)]
pub enum Finish<'a> {
    /// Nothing.
    Plain,
    /// Multiplied by a constant.
    Scale(Scalar),
    /// Multiplied by the other vector's element.
    Multiply(&'a DeviceBuffer<RawScalar>),
    /// `alpha * other + beta * own`.
    Combine {
        /// The other vector, in the transform's output order.
        other: &'a DeviceBuffer<RawScalar>,
        /// Factor of the other vector.
        alpha: Scalar,
        /// Factor of the transform's output.
        beta: Scalar,
    },
}

/// Twiddles of one kind of transform for one size, on the device.
#[derive(Debug)]
pub struct Transform {
    plan: NttPlan,
    kind: TransformKind,
    heap: DeviceBuffer<RawScalar>,
    rho: DeviceBuffer<RawScalar>,
    unit: DeviceBuffer<RawScalar>,
}

impl Transform {
    /// Computes the tables on the device: about 3 MiB per 2^16 elements up to 2^20, 80 MiB at 2^27.
    ///
    /// # Errors
    ///
    /// [`CudaError::TransformSize`] above 2^28 elements, [`CudaError::OutOfMemory`].
    pub fn new(device: &Device, log_size: u32, kind: TransformKind) -> Result<Self, CudaError> {
        let Some(plan) = NttPlan::new(log_size) else {
            return Err(CudaError::TransformSize {
                log_size,
                max: MAX_LOG_SIZE,
            });
        };
        let session = device.session();
        let mut heap = session.allocate(1 << plan.log_heap())?;
        for stage in 1..=plan.log_heap() {
            let root = stage_root(stage, kind);
            fill_powers(
                device,
                &mut heap,
                1 << (stage - 1),
                [stage_factor(log_size, stage, kind), root],
                1 << (stage - 1),
            )?;
        }
        let (mut rho, mut unit) = (session.allocate(0)?, session.allocate(0)?);
        if let Some(pass) = plan.product_pass() {
            rho = session.allocate((pass.bits as usize) << pass.shift)?;
            unit = session.allocate(1 << pass.bits)?;
            for b in 0..pass.bits {
                let stage = pass.shift + b + 1;
                let start = [stage_factor(log_size, stage, kind), stage_root(stage, kind)];
                fill_powers(
                    device,
                    &mut rho,
                    (b as usize) << pass.shift,
                    start,
                    1 << pass.shift,
                )?;
                let start = [Scalar::ONE, stage_root(b + 1, kind)];
                fill_powers(device, &mut unit, 1 << b, start, 1 << b)?;
            }
        }
        Ok(Self {
            plan,
            kind,
            heap,
            rho,
            unit,
        })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        1 << self.plan.log_size()
    }

    /// A transform has at least one element.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Queues the transform of `data` in place.
    ///
    /// # Errors
    ///
    /// [`CudaError::Length`] when a vector does not have the transform's length, [`CudaError::Kernel`].
    pub fn run(
        &self,
        device: &Device,
        data: &mut DeviceBuffer<RawScalar>,
        finish: Finish<'_>,
    ) -> Result<(), CudaError> {
        self.check("data", data)?;
        if let Finish::Multiply(other) | Finish::Combine { other, .. } = finish {
            self.check("other", other)?;
        }
        let rising = self.kind.is_rising();
        let passes = self.plan.passes();
        if passes.is_empty() {
            let arguments = Arguments::new()
                .buffer(data)
                .word(self.plan.log_size())
                .word(u32::from(rising))
                .buffer(&self.heap);
            return device.session().launch(
                kernels::NTT_TINY,
                Grid::new(1, 1),
                &finished(arguments, finish),
            );
        }
        for number in 0..passes.len() {
            let pass = passes[if rising {
                number
            } else {
                passes.len() - 1 - number
            }];
            let last = if number + 1 == passes.len() {
                finish
            } else {
                Finish::Plain
            };
            self.run_pass(device, data, pass, last)?;
        }
        Ok(())
    }

    fn run_pass(
        &self,
        device: &Device,
        data: &mut DeviceBuffer<RawScalar>,
        pass: Pass,
        finish: Finish<'_>,
    ) -> Result<(), CudaError> {
        let log_size = self.plan.log_size();
        let log_columns = pass.log_columns(log_size);
        let grid = Grid::new(
            1 << (log_size - pass.bits - log_columns),
            1 << (pass.bits - 3 + log_columns),
        )
        .shared(pass.shared_elements(log_size) * size_of::<RawScalar>());
        let shape = [
            log_size,
            pass.shift,
            pass.bits,
            1 << log_columns,
            u32::from(pass.direct),
        ];
        let arguments = Arguments::new()
            .buffer(data)
            .words(shape)
            .buffer(&self.heap)
            .buffer(&self.rho)
            .buffer(&self.unit);
        let kernel = if self.kind.is_rising() {
            kernels::NTT_RISING
        } else {
            kernels::NTT_FALLING
        };
        device
            .session()
            .launch(kernel, grid, &finished(arguments, finish))
    }

    fn check(&self, what: &'static str, data: &DeviceBuffer<RawScalar>) -> Result<(), CudaError> {
        if data.len() == self.len() {
            return Ok(());
        }
        Err(CudaError::Length {
            what,
            got: data.len(),
            expected: self.len(),
        })
    }
}

fn finished(arguments: Arguments, finish: Finish<'_>) -> Arguments {
    let (kind, other, alpha, beta) = match finish {
        Finish::Plain => (0, None, Scalar::ZERO, Scalar::ZERO),
        Finish::Scale(factor) => (1, None, Scalar::ZERO, factor),
        Finish::Multiply(other) => (2, Some(other), Scalar::ZERO, Scalar::ZERO),
        Finish::Combine { other, alpha, beta } => (3, Some(other), alpha, beta),
    };
    let arguments = arguments.word(kind);
    let arguments = match other {
        Some(other) => arguments.buffer(other),
        None => arguments.null(),
    };
    arguments.scalar(alpha.into()).scalar(beta.into())
}

/// The root of unity of order 2^`stage`, or its inverse.
fn stage_root(stage: u32, kind: TransformKind) -> Scalar {
    let mut root = if kind.is_rising() {
        Scalar::ROOT_OF_UNITY
    } else {
        Scalar::ROOT_OF_UNITY_INV
    };
    for _ in stage..Scalar::S {
        root = root.square();
    }
    root
}

/// The coset's factor at `stage`: shift^(n / 2^stage), or its inverse.
fn stage_factor(log_size: u32, stage: u32, kind: TransformKind) -> Scalar {
    let shift = kind.shift();
    let mut factor = if kind.is_rising() {
        shift
    } else {
        shift.invert().unwrap_or(Scalar::ONE)
    };
    for _ in stage..log_size {
        factor = factor.square();
    }
    factor
}

/// `out[first + i] = scale * root^i` for i below `count`, with `start` = [scale, root].
pub(crate) fn fill_powers(
    device: &Device,
    out: &mut DeviceBuffer<RawScalar>,
    first: usize,
    start: [Scalar; 2],
    count: u64,
) -> Result<(), CudaError> {
    let arguments = Arguments::new()
        .buffer_from(out, first)
        .scalar(start[0].into())
        .scalar(start[1].into())
        .wide(count);
    let grid = Grid::for_items(count.div_ceil(POWERS_PER_THREAD), POWERS_THREADS);
    device.session().launch(kernels::POWERS, grid, &arguments)
}

/// The quotient h of Groth16 by six transforms.
///
/// On the coset x^n = k, the polynomial P of degree < n that agrees with a * b is c + (k - 1) h, because
/// a b - c = h (x^n - 1). So h = (P - c) / (k - 1), coefficient by coefficient, and c needs no forward transform.
#[derive(Debug)]
pub struct Quotient {
    inverse: Transform,
    coset_forward: Transform,
    coset_inverse: Transform,
    alpha: Scalar,
    beta: Scalar,
}

impl Quotient {
    /// Computes the tables for vectors of 2^`log_size` elements.
    ///
    /// # Errors
    ///
    /// Those of [`Transform::new`].
    pub fn new(device: &Device, log_size: u32) -> Result<Self, CudaError> {
        let n = Scalar::from(1 << log_size.min(MAX_LOG_SIZE));
        let k = TransformKind::CosetForward
            .shift()
            .pow_vartime([1 << log_size.min(MAX_LOG_SIZE)]);
        // The generator's order is r - 1, so k = 1 only for multiples of it; n is a power of two.
        let scale = ((k - Scalar::ONE) * n).invert().unwrap_or(Scalar::ONE);
        let n_squared = n.square().invert().unwrap_or(Scalar::ONE);
        Ok(Self {
            inverse: Transform::new(device, log_size, TransformKind::Inverse)?,
            coset_forward: Transform::new(device, log_size, TransformKind::CosetForward)?,
            coset_inverse: Transform::new(device, log_size, TransformKind::CosetInverse)?,
            // P comes with n^3: twice from the inverse transforms of a and b, once from its own.
            alpha: scale * n_squared,
            beta: -scale,
        })
    }

    /// Queues h from the evaluations a, b, c in natural order. h's coefficients, in bit-reversed order, replace c; a
    /// and b become scratch.
    ///
    /// # Errors
    ///
    /// [`CudaError::Length`], [`CudaError::Kernel`].
    pub fn run(
        &self,
        device: &Device,
        a: &mut DeviceBuffer<RawScalar>,
        b: &mut DeviceBuffer<RawScalar>,
        c: &mut DeviceBuffer<RawScalar>,
    ) -> Result<(), CudaError> {
        self.inverse.run(device, a, Finish::Plain)?;
        self.coset_forward.run(device, a, Finish::Plain)?;
        self.inverse.run(device, b, Finish::Plain)?;
        self.coset_forward.run(device, b, Finish::Multiply(a))?;
        self.coset_inverse.run(device, b, Finish::Plain)?;
        let last = Finish::Combine {
            other: b,
            alpha: self.alpha,
            beta: self.beta,
        };
        self.inverse.run(device, c, last)
    }
}

/// Queues the exchange of natural and bit-reversed order, in place.
///
/// # Errors
///
/// [`CudaError::Length`] when the length is no power of two, [`CudaError::Kernel`].
pub fn reverse_order(device: &Device, data: &mut DeviceBuffer<RawScalar>) -> Result<(), CudaError> {
    if !data.len().is_power_of_two() {
        let expected = data.len().next_power_of_two();
        return Err(CudaError::Length {
            what: "data",
            got: data.len(),
            expected,
        });
    }
    let arguments = Arguments::new().buffer(data).word(data.len().ilog2());
    let grid = Grid::for_items(data.len() as u64, REVERSE_THREADS);
    device
        .session()
        .launch(kernels::REVERSE_ORDER, grid, &arguments)
}
