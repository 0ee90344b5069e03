//! The driver is a C library: everything that Rust cannot check happens here, and nowhere else in the crate.
//!
//! Launches are asynchronous. A [`DeviceBuffer`] returns its memory in stream order, and every buffer and launch of a
//! [`Device`] uses its one stream, so a buffer may be dropped while a kernel that reads it is still queued. Only [`Staging`]
//! has a stream of its own, for uploads.
#![allow(
    unsafe_code,
    reason = "calls of the CUDA driver, with device pointers that Rust does not track"
)]

mod launch;
mod memory;
mod staging;
mod transfers;

use std::{
    collections::HashMap,
    ffi::{CString, c_void},
    sync::{Arc, Mutex, PoisonError},
};

use cudarc::driver::{
    CudaContext, CudaEvent, CudaStream, DevicePtr, DevicePtrMut, DriverError, result, sys,
};

use crate::{
    CudaError, RawScalar,
    elements::{Base, Partial},
    host_field::Coordinate,
    kernels::{Image, Kernel},
    sync::lock,
};

pub(crate) use launch::{Arguments, Grid};
pub use memory::DeviceBuffer;
pub(crate) use memory::{Accounting, Reserved};
pub(crate) use staging::Staging;
pub(crate) use transfers::{Arrived, Download, InFlight, Transfers};

/// Whether libcuda can be loaded. Every other call of the driver panics where it cannot.
pub(crate) fn driver_is_present() -> bool {
    // SAFETY: the function only tries to open the library.
    unsafe { sys::is_culib_present() }
}

/// The driver's pool for buffers that are freed in stream order; none on cards that do not have it.
fn memory_pool(context: &CudaContext) -> Result<Option<sys::CUmemoryPool>, CudaError> {
    if !context.has_async_alloc() {
        return Ok(None);
    }
    // SAFETY: the context's own device.
    unsafe { result::device::get_default_mem_pool(context.cu_device()) }
        .map(Some)
        .map_err(|e| driver_error("cuDeviceGetDefaultMemPool", e))
}

/// Lets the driver keep freed buffers for the next ones: giving gigabytes back to the system costs milliseconds each time.
fn keep_freed_memory(pool: sys::CUmemoryPool) -> Result<(), CudaError> {
    let mut threshold = u64::MAX;
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the driver reads one 64-bit integer.
    unsafe { result::mem_pool::set_attribute(pool, attribute, (&raw mut threshold).cast()) }
        .map_err(|e| driver_error("cuMemPoolSetAttribute", e))
}

/// Bytes of the card that the pool holds, whether or not buffers are in them.
fn pool_bytes(pool: sys::CUmemoryPool) -> Result<u64, CudaError> {
    let mut bytes = 0_u64;
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
    // SAFETY: the driver writes one 64-bit integer.
    unsafe { result::mem_pool::get_attribute(pool, attribute, (&raw mut bytes).cast()) }
        .map_err(|e| driver_error("cuMemPoolGetAttribute", e))?;
    Ok(bytes)
}

/// The driver's CUDA version. Needs an initialised driver.
pub(crate) fn driver_version() -> Result<i32, CudaError> {
    let mut version = 0;
    // SAFETY: the driver writes one integer.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }
        .result()
        .map_err(|e| driver_error("cuDriverGetVersion", e))?;
    Ok(version)
}

pub(crate) fn driver_error(call: &'static str, error: DriverError) -> CudaError {
    CudaError::Driver {
        call,
        code: error.0 as u32,
        name: error_name(error),
    }
}

fn error_name(error: DriverError) -> String {
    error.error_name().map_or_else(
        |_| "unknown error".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Plain values that host and device lay out alike, for which any bits are valid.
///
/// # Safety
///
/// The type has no padding, no pointers and no invalid bit patterns.
pub(crate) unsafe trait Plain: Copy + Default + Send + Sync + 'static {}
// SAFETY: primitive integers.
unsafe impl Plain for u32 {}
// SAFETY: primitive integers.
unsafe impl Plain for u64 {}
// SAFETY: `repr(C)` of integers whose alignment divides the size of the fields.
unsafe impl Plain for RawScalar {}
// SAFETY: coordinates are arrays of six or twelve `u64`, so there is no padding at an alignment of 16 bytes.
unsafe impl<C: Coordinate> Plain for Base<C> {}
// SAFETY: as for `Base`.
unsafe impl<C: Coordinate> Plain for Partial<C> {}

pub(crate) fn as_bytes<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: `Plain` values have no padding, so all bytes of the slice are initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn as_bytes_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and any bytes are valid values.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// The scalars' Montgomery forms without copying.
pub(crate) fn raw_scalars(scalars: &[blstrs::Scalar]) -> RawScalars<'_> {
    RawScalars(scalars)
}

/// Scalars to upload; they are less aligned than [`RawScalar`], so they travel as bytes.
#[derive(Clone, Copy)]
pub(crate) struct RawScalars<'a>(&'a [blstrs::Scalar]);

impl<'a> RawScalars<'a> {
    pub(crate) fn bytes(self) -> &'a [u8] {
        // SAFETY: `Scalar` is `repr(transparent)` over four `u64`.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), size_of_val(self.0)) }
    }
}

/// Bytes of shared memory that a block may ask for beside what its kernel declares itself.
pub(crate) fn dynamic_shared_bytes(context: &CudaContext) -> Result<i32, DriverError> {
    use sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN as MOST;
    /// What kernels with dynamic shared memory declare, at most.
    const DECLARED: i32 = 1024;
    Ok((context.attribute(MOST)? - DECLARED).max(0))
}

/// Bytes that the driver takes for what kernels keep outside registers, at most: room for every thread that can be on the card.
fn local_bytes(
    context: &CudaContext,
    modules: &HashMap<Image, sys::CUmodule>,
) -> Result<u64, CudaError> {
    use sys::CUdevice_attribute::{
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR as THREADS,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT as MULTIPROCESSORS,
    };
    use sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES as LOCAL_BYTES;
    let mut of_thread = 0;
    for kernel in Kernel::all() {
        let function = find(modules, kernel)?;
        // SAFETY: the function was just found.
        let bytes = unsafe { result::function::get_function_attribute(function, LOCAL_BYTES) };
        of_thread = of_thread.max(bytes.map_err(|error| kernel_error(kernel, error))?);
    }
    let count = |attribute| {
        let count = context.attribute(attribute);
        let count = count.map_err(|e| driver_error("cuDeviceGetAttribute", e))?;
        Ok::<_, CudaError>(u64::try_from(count).unwrap_or(0))
    };
    Ok(u64::try_from(of_thread).unwrap_or(0) * count(THREADS)? * count(MULTIPROCESSORS)?)
}

fn find(
    modules: &HashMap<Image, sys::CUmodule>,
    kernel: Kernel,
) -> Result<sys::CUfunction, CudaError> {
    let name = CString::new(kernel.name).expect("kernel names have no zero byte");
    // SAFETY: the module is loaded.
    unsafe { result::module::get_function(modules[&kernel.image], name) }
        .map_err(|error| kernel_error(kernel, error))
}

fn kernel_error(kernel: Kernel, error: DriverError) -> CudaError {
    CudaError::Kernel {
        kernel: kernel.name,
        code: error.0 as u32,
        name: error_name(error),
    }
}

struct Loaded {
    modules: HashMap<Image, sys::CUmodule>,
    functions: HashMap<&'static str, sys::CUfunction>,
}

// SAFETY: handles of modules and functions may be used from any thread that has the context bound.
unsafe impl Send for Loaded {}

/// The context, stream and loaded kernels of one card.
pub(crate) struct Session {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    loaded: Mutex<Loaded>,
    pool: Option<MemoryPool>,
    accounting: Arc<Accounting>,
}

/// The device's own pool, which lives as long as its context.
struct MemoryPool(sys::CUmemoryPool);

// SAFETY: handles of pools may be used from any thread.
unsafe impl Send for MemoryPool {}
// SAFETY: as above.
unsafe impl Sync for MemoryPool {}

impl Drop for Session {
    fn drop(&mut self) {
        let loaded = self
            .loaded
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if self.context.bind_to_thread().is_ok() && self.stream.synchronize().is_ok() {
            for (_, module) in loaded.modules.drain() {
                // SAFETY: the module was loaded in this context, is unloaded once, and no kernel of it runs any more.
                // An error cannot be reported from here and leaves the module to the context's end.
                let _ = unsafe { result::module::unload(module) };
            }
        }
    }
}

impl Session {
    /// Loads the kernels. Buffers may take `limit` bytes together, or what is left then for them.
    pub(crate) fn open(context: Arc<CudaContext>, limit: u64) -> Result<Self, CudaError> {
        // SAFETY: kernels go through one stream; what the copies of a `Staging` need from it and give to it is said with
        // events there.
        unsafe { context.disable_event_tracking() };
        // A thread that waits for a proof of a second should sleep.
        context
            .set_blocking_synchronize()
            .map_err(|e| driver_error("cuCtxSetFlags", e))?;
        let pool = memory_pool(&context)?;
        if let Some(pool) = pool {
            keep_freed_memory(pool)?;
        }
        let stream = context
            .new_stream()
            .map_err(|e| driver_error("cuStreamCreate", e))?;
        let mut modules = HashMap::new();
        for &image in Image::ALL {
            let bytes = image.bytes().as_ptr().cast::<c_void>();
            // SAFETY: the image is a fat binary that nvcc wrote, embedded with its length in its header.
            let module = unsafe { result::module::load_data(bytes) };
            modules.insert(
                image,
                module.map_err(|e| driver_error("cuModuleLoadData", e))?,
            );
        }
        let (free, _) = context
            .mem_get_info()
            .map_err(|e| driver_error("cuMemGetInfo", e))?;
        let for_threads = local_bytes(&context, &modules)?;
        let limit = limit.min((free as u64).saturating_sub(for_threads));
        let loaded = Mutex::new(Loaded {
            modules,
            functions: HashMap::new(),
        });
        Ok(Self {
            context,
            stream,
            loaded,
            pool: pool.map(MemoryPool),
            accounting: Arc::new(Accounting::new(limit)),
        })
    }

    /// Bytes that further buffers may take: as many as the limit leaves, and as the card has. What buffers left in the pool is
    /// free for others as soon as the stream comes there; other programs may have taken the rest.
    pub(crate) fn available(&self) -> u64 {
        let within_limit = self.accounting.available();
        let of_card = || {
            let pool = self.pool.as_ref()?;
            let mut held = pool_bytes(pool.0).ok()?;
            loop {
                let (free, _) = self.context.mem_get_info().ok()?;
                let before = std::mem::replace(&mut held, pool_bytes(pool.0).ok()?);
                // What moved between the pool and the system meanwhile would be counted twice or not at all.
                if before == held {
                    return Some(free as u64 + held.saturating_sub(self.accounting.used()));
                }
            }
        };
        // A driver that does not answer now fails the next call.
        of_card().map_or(within_limit, |bytes| within_limit.min(bytes))
    }

    /// Gives memory that no buffer uses back to the system, once everything queued has run.
    pub(crate) fn trim(&self) -> Result<(), CudaError> {
        self.wait()?;
        let Some(pool) = &self.pool else {
            return Ok(());
        };
        // SAFETY: the context's own pool.
        unsafe { result::mem_pool::trim_to(pool.0, 0) }
            .map_err(|e| driver_error("cuMemPoolTrimTo", e))
    }

    fn bind(&self) -> Result<(), CudaError> {
        self.context
            .bind_to_thread()
            .map_err(|e| driver_error("cuCtxSetCurrent", e))
    }

    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    pub(crate) fn accounting(&self) -> &Accounting {
        &self.accounting
    }

    pub(crate) fn clear<T: Plain>(&self, buffer: &mut DeviceBuffer<T>) -> Result<(), CudaError> {
        self.stream
            .memset_zeros(&mut *buffer.bytes)
            .map_err(|e| driver_error("cuMemsetD8Async", e))
    }

    pub(crate) fn upload<T: Plain>(
        &self,
        buffer: &mut DeviceBuffer<T>,
        first: usize,
        values: &[T],
    ) -> Result<(), CudaError> {
        self.upload_bytes(buffer, first, as_bytes(values))
    }

    pub(crate) fn upload_scalars(
        &self,
        buffer: &mut DeviceBuffer<RawScalar>,
        scalars: RawScalars<'_>,
    ) -> Result<(), CudaError> {
        self.upload_bytes(buffer, 0, scalars.bytes())
    }

    /// Writes what lies `first` values behind the buffer's beginning. The bytes need not be values yet.
    pub(crate) fn upload_bytes<T: Plain>(
        &self,
        buffer: &mut DeviceBuffer<T>,
        first: usize,
        bytes: &[u8],
    ) -> Result<(), CudaError> {
        let start = first * size_of::<T>();
        check_range("upload", start + bytes.len(), buffer)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let mut target = buffer.bytes.slice_mut(start..start + bytes.len());
        self.bind()?;
        let (pointer, _in_stream_order) = target.device_ptr_mut(&self.stream);
        // SAFETY: the range was checked above. The host's bytes stay borrowed until the wait below.
        unsafe { result::memcpy_htod_async(pointer, bytes, self.stream.cu_stream()) }
            .map_err(|e| driver_error("cuMemcpyHtoDAsync", e))?;
        self.wait()
    }

    pub(crate) fn download<T: Plain>(&self, buffer: &DeviceBuffer<T>) -> Result<Vec<T>, CudaError> {
        self.download_first(buffer, buffer.len)
    }

    /// The buffer's first `len` values.
    pub(crate) fn download_first<T: Plain>(
        &self,
        buffer: &DeviceBuffer<T>,
        len: usize,
    ) -> Result<Vec<T>, CudaError> {
        let mut values = vec![T::default(); len];
        self.download_into(buffer, as_bytes_mut(&mut values))?;
        Ok(values)
    }

    /// The bytes of the buffer's first `len` values.
    pub(crate) fn download_bytes<T: Plain>(
        &self,
        buffer: &DeviceBuffer<T>,
        len: usize,
    ) -> Result<Vec<u8>, CudaError> {
        let mut bytes = vec![0; len * size_of::<T>()];
        self.download_into(buffer, &mut bytes)?;
        Ok(bytes)
    }

    fn download_into<T: Plain>(
        &self,
        buffer: &DeviceBuffer<T>,
        bytes: &mut [u8],
    ) -> Result<(), CudaError> {
        check_range("download", bytes.len(), buffer)?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.bind()?;
        let (pointer, _in_stream_order) = buffer.bytes.device_ptr(&self.stream);
        // SAFETY: the buffer has at least as many bytes, which stay borrowed until the wait below.
        unsafe { result::memcpy_dtoh_async(bytes, pointer, self.stream.cu_stream()) }
            .map_err(|e| driver_error("cuMemcpyDtoHAsync", e))?;
        self.wait()
    }

    pub(crate) fn copy<T: Plain>(
        &self,
        from: &DeviceBuffer<T>,
        to: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        check_range("copy", from.bytes.num_bytes(), to)?;
        self.stream
            .memcpy_dtod(&*from.bytes, &mut *to.bytes)
            .map_err(|e| driver_error("cuMemcpyDtoDAsync", e))
    }

    /// Waits for everything queued; reports errors of kernels that ran.
    pub(crate) fn wait(&self) -> Result<(), CudaError> {
        self.bind()?;
        self.stream
            .synchronize()
            .map_err(|e| driver_error("cuStreamSynchronize", e))
    }

    /// A mark in the stream that can be timed.
    pub(crate) fn mark(&self) -> Result<CudaEvent, CudaError> {
        self.stream
            .record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))
            .map_err(|e| driver_error("cuEventRecord", e))
    }

    fn function(&self, kernel: Kernel) -> Result<sys::CUfunction, CudaError> {
        let mut loaded = lock(&self.loaded);
        if let Some(function) = loaded.functions.get(kernel.name) {
            return Ok(*function);
        }
        let failed = |error| kernel_error(kernel, error);
        // The module stays loaded as long as the session.
        let function = find(&loaded.modules, kernel)?;
        if kernel.shared_bytes > 0 {
            let attribute =
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let most = dynamic_shared_bytes(&self.context).map_err(failed)?;
            let bytes = kernel.shared_bytes.min(most);
            // SAFETY: the function was just found.
            unsafe { result::function::set_function_attribute(function, attribute, bytes) }
                .map_err(failed)?;
        }
        loaded.functions.insert(kernel.name, function);
        Ok(function)
    }

    /// Whether the kernel was ever launched.
    pub(crate) fn has_launched(&self, kernel: Kernel) -> bool {
        let loaded = lock(&self.loaded);
        loaded.functions.contains_key(kernel.name)
    }

    /// Queues a kernel. The callers in this crate pass the parameters that the kernel's definition lists.
    pub(crate) fn launch(
        &self,
        kernel: Kernel,
        grid: Grid,
        arguments: &Arguments,
    ) -> Result<(), CudaError> {
        self.bind()?;
        let function = self.function(kernel)?;
        let mut pointers: Vec<*mut c_void> = arguments
            .0
            .iter()
            .map(|argument| (&raw const argument.0).cast_mut().cast())
            .collect();
        // SAFETY: the function belongs to a loaded module; the driver copies the arguments before it returns; buffers
        // among them are freed in the order of this stream.
        let launched = unsafe {
            result::launch_kernel(
                function,
                (grid.blocks.0, grid.blocks.1, 1),
                (grid.threads, 1, 1),
                grid.shared_bytes,
                self.stream.cu_stream(),
                &mut pointers,
            )
        };
        launched.map_err(|error| kernel_error(kernel, error))
    }
}

fn check_range<T>(
    what: &'static str,
    bytes: usize,
    buffer: &DeviceBuffer<T>,
) -> Result<(), CudaError> {
    if bytes > buffer.len * size_of::<T>() {
        return Err(CudaError::Length {
            what,
            got: bytes / size_of::<T>(),
            expected: buffer.len,
        });
    }
    Ok(())
}
