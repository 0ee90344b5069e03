//! A card as the rest of the program sees it: found by number, described for the operator, opened with a memory limit.

use std::time::Duration;

use cudarc::driver::{CudaContext, CudaEvent, DriverError, result, sys};

use crate::{
    CudaError, DeviceInfo, RawScalar,
    driver::{self, DeviceBuffer, Plain, Session, driver_error},
    elements::Base,
    fault::OUT_OF_MEMORY,
    kernels::{self, DeviceGroup, Kernel},
};

/// All cards of the machine, which may be none.
///
/// # Errors
///
/// [`CudaError::NoDriver`] without a driver, [`CudaError::Driver`] when it fails.
pub fn devices() -> Result<Vec<DeviceInfo>, CudaError> {
    (0..count()?)
        .map(|ordinal| context(ordinal).and_then(|context| describe(&context)))
        .collect()
}

fn count() -> Result<usize, CudaError> {
    if !driver::driver_is_present() {
        return Err(CudaError::NoDriver);
    }
    match result::init() {
        // A driver without a card.
        Err(DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => return Ok(0),
        initialised => initialised.map_err(|e| driver_error("cuInit", e))?,
    }
    let count = CudaContext::device_count().map_err(|e| driver_error("cuDeviceGetCount", e))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

fn context(ordinal: usize) -> Result<std::sync::Arc<CudaContext>, CudaError> {
    CudaContext::new(ordinal).map_err(|e| driver_error("cuDevicePrimaryCtxRetain", e))
}

fn describe(context: &CudaContext) -> Result<DeviceInfo, CudaError> {
    use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT as MULTIPROCESSORS;
    let uuid = context
        .uuid()
        .map_err(|e| driver_error("cuDeviceGetUuid", e))?;
    let hex: Vec<String> = uuid
        .bytes
        .iter()
        .map(|byte| format!("{:02x}", byte.cast_unsigned()))
        .collect();
    let (free, total) = context
        .mem_get_info()
        .map_err(|e| driver_error("cuMemGetInfo", e))?;
    let count = |attribute: Result<i32, DriverError>| {
        let value = attribute.map_err(|e| driver_error("cuDeviceGetAttribute", e))?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    Ok(DeviceInfo {
        ordinal: context.ordinal(),
        name: context
            .name()
            .map_err(|e| driver_error("cuDeviceGetName", e))?,
        uuid: format!(
            "GPU-{}-{}-{}-{}-{}",
            hex[..4].concat(),
            hex[4..6].concat(),
            hex[6..8].concat(),
            hex[8..10].concat(),
            hex[10..].concat()
        ),
        capability: context
            .compute_capability()
            .map_err(|e| driver_error("cuDeviceGetAttribute", e))?,
        multiprocessors: count(context.attribute(MULTIPROCESSORS))?,
        shared_memory: count(driver::dynamic_shared_bytes(context))?,
        total_memory: total as u64,
        free_memory: free as u64,
        driver_version: driver::driver_version()?,
        kernels: kernels::ARCHITECTURES,
    })
}

/// Highest clocks of a card.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clocks {
    pub(crate) multiprocessor_hz: f64,
    pub(crate) memory_bytes_per_second: f64,
}

/// An opened card with the kernels loaded. All its work is queued on one stream; calls may come from any thread.
pub struct Device {
    info: DeviceInfo,
    session: Session,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

impl Device {
    /// Opens card number `ordinal`. Its buffers may take `memory_limit` bytes together, or what is free now, less what kernels
    /// need besides, if that is less.
    ///
    /// # Errors
    ///
    /// [`CudaError::NoDriver`], [`CudaError::NoDevice`], [`CudaError::Architecture`] when no embedded kernel runs on
    /// the card.
    pub fn open(ordinal: usize, memory_limit: u64) -> Result<Self, CudaError> {
        let count = count()?;
        if ordinal >= count {
            return Err(CudaError::NoDevice { ordinal, count });
        }
        let context = context(ordinal)?;
        let info = describe(&context)?;
        let session = Session::open(context, memory_limit).map_err(|error| match error {
            CudaError::Driver {
                call: "cuModuleLoadData",
                code,
                name,
            } if code != OUT_OF_MEMORY => CudaError::Architecture {
                ordinal,
                built: kernels::ARCHITECTURES,
                major: info.capability.0,
                minor: info.capability.1,
                name,
            },
            other => other,
        })?;
        Ok(Self { info, session })
    }

    /// The card's description, from when it was opened.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Bytes of all live buffers.
    pub fn used_memory(&self) -> u64 {
        self.session.accounting().used()
    }

    /// Largest value of [`Device::used_memory`] so far.
    pub fn peak_memory(&self) -> u64 {
        self.session.accounting().peak()
    }

    /// Most bytes that all live buffers may take together.
    pub fn memory_limit(&self) -> u64 {
        self.session.accounting().limit()
    }

    /// Bytes that further buffers may take: what the limit leaves, or what the card has if that is less.
    pub fn available_memory(&self) -> u64 {
        self.session.available()
    }

    /// Gives memory that no buffer uses back to the system, once everything queued has run.
    ///
    /// # Errors
    ///
    /// [`CudaError::Driver`].
    pub fn trim(&self) -> Result<(), CudaError> {
        self.session.trim()
    }

    /// Bytes that the driver reports as free now.
    ///
    /// # Errors
    ///
    /// [`CudaError::Driver`].
    pub fn free_memory(&self) -> Result<u64, CudaError> {
        let (free, _) = self
            .session
            .context()
            .mem_get_info()
            .map_err(|e| driver_error("cuMemGetInfo", e))?;
        Ok(free as u64)
    }

    /// Names of the kernels that nothing has launched on this card since it was opened.
    pub fn unused_kernels(&self) -> Vec<&'static str> {
        Kernel::all()
            .filter(|kernel| !self.session.has_launched(*kernel))
            .map(|kernel| kernel.name)
            .collect()
    }

    /// Waits until everything queued has run.
    ///
    /// # Errors
    ///
    /// [`CudaError::Driver`], also for a kernel that failed while it ran.
    pub fn wait(&self) -> Result<(), CudaError> {
        self.session.wait()
    }

    /// Milliseconds of device time that the queued `work` takes.
    ///
    /// # Errors
    ///
    /// Those of `work`, and [`CudaError::Driver`].
    pub fn time(&self, work: impl FnOnce() -> Result<(), CudaError>) -> Result<f64, CudaError> {
        let start: CudaEvent = self.session.mark()?;
        work()?;
        let end = self.session.mark()?;
        Ok(Self::between(&start, &end)?.as_secs_f64() * 1000.0)
    }

    /// Device time between two marks. Waits for the second one.
    pub(crate) fn between(start: &CudaEvent, end: &CudaEvent) -> Result<Duration, CudaError> {
        let ms = start
            .elapsed_ms(end)
            .map_err(|e| driver_error("cuEventElapsedTime", e))?;
        Ok(Duration::from_secs_f64(f64::from(ms.max(0.0)) / 1000.0))
    }

    /// The card's clocks at their highest, for what is possible at most.
    pub(crate) fn clocks(&self) -> Result<Clocks, CudaError> {
        use cudarc::driver::sys::CUdevice_attribute::{
            CU_DEVICE_ATTRIBUTE_CLOCK_RATE as CLOCK_KHZ,
            CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH as BUS_BITS,
            CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE as MEMORY_KHZ,
        };
        let [clock, memory, bus] = [CLOCK_KHZ, MEMORY_KHZ, BUS_BITS].map(|attribute| {
            let value = self.session.context().attribute(attribute);
            value
                .map(f64::from)
                .map_err(|e| driver_error("cuDeviceGetAttribute", e))
        });
        Ok(Clocks {
            multiprocessor_hz: clock? * 1e3,
            // Two transfers in a clock.
            memory_bytes_per_second: 2.0 * memory? * 1e3 * bus? / 8.0,
        })
    }

    /// Uploads values of one kind.
    pub(crate) fn uploaded<T: Plain>(&self, values: &[T]) -> Result<DeviceBuffer<T>, CudaError> {
        let mut buffer = self.session.allocate(values.len())?;
        self.session.upload(&mut buffer, 0, values)?;
        Ok(buffer)
    }

    /// Scalars on the device, in Montgomery form.
    ///
    /// # Errors
    ///
    /// [`CudaError::OutOfMemory`], [`CudaError::Driver`].
    pub fn upload_scalars(
        &self,
        scalars: &[blstrs::Scalar],
    ) -> Result<DeviceBuffer<RawScalar>, CudaError> {
        let mut buffer = self.session.allocate(scalars.len())?;
        self.session
            .upload_scalars(&mut buffer, driver::raw_scalars(scalars))?;
        Ok(buffer)
    }

    /// Scalars on the device, as they are.
    ///
    /// # Errors
    ///
    /// [`CudaError::OutOfMemory`], [`CudaError::Driver`].
    pub fn upload_raw_scalars(
        &self,
        scalars: &[RawScalar],
    ) -> Result<DeviceBuffer<RawScalar>, CudaError> {
        self.uploaded(scalars)
    }

    /// Bases on the device.
    ///
    /// # Errors
    ///
    /// [`CudaError::OutOfMemory`], [`CudaError::Driver`].
    pub fn upload_bases<C: DeviceGroup>(
        &self,
        bases: &[Base<C>],
    ) -> Result<DeviceBuffer<Base<C>>, CudaError> {
        self.uploaded(bases)
    }

    /// Bit words on the device: bit i of word w selects number 32 w + i.
    ///
    /// # Errors
    ///
    /// [`CudaError::OutOfMemory`], [`CudaError::Driver`].
    pub fn upload_words(&self, words: &[u32]) -> Result<DeviceBuffer<u32>, CudaError> {
        self.uploaded(words)
    }

    /// A copy on the device.
    ///
    /// # Errors
    ///
    /// [`CudaError::OutOfMemory`], [`CudaError::Driver`].
    pub fn duplicate(
        &self,
        scalars: &DeviceBuffer<RawScalar>,
    ) -> Result<DeviceBuffer<RawScalar>, CudaError> {
        let mut copy = self.session.allocate(scalars.len())?;
        self.session.copy(scalars, &mut copy)?;
        Ok(copy)
    }

    /// Scalars back on the host, as they are.
    ///
    /// # Errors
    ///
    /// [`CudaError::Driver`].
    pub fn download_scalars(
        &self,
        scalars: &DeviceBuffer<RawScalar>,
    ) -> Result<Vec<RawScalar>, CudaError> {
        self.session.download(scalars)
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }
}
