//! Copies that do not wait. The card reads and writes page-locked memory by itself, so a proof's inputs and results pass
//! through some that lives as long as the copies.
//!
//! [`Transfers`] queues copies, [`InFlight`] waits for them, [`Arrived`] reads; each owns the memory, which is not freed
//! before its stream has come to rest. The driver waits for all work of the card when page-locked memory is freed, so memory
//! that the next proof can use is better kept.

use std::{ffi::c_void, marker::PhantomData, ops::Range, sync::Arc};

use cudarc::driver::{CudaEvent, CudaStream, DevicePtr, DevicePtrMut, result, sys};

use super::{DeviceBuffer, Plain, Session, as_bytes_mut, check_range, driver_error};
use crate::CudaError;

/// Alignment of what is put side by side.
const ALIGNMENT: usize = 64;

/// Page-locked host memory for copies of one stream.
pub(super) struct Pinned {
    pointer: *mut u8,
    len: usize,
    stream: Arc<CudaStream>,
}

// SAFETY: the memory has one owner, and the driver allows any thread that has the context bound to free it.
unsafe impl Send for Pinned {}
// SAFETY: what is shared is only read.
unsafe impl Sync for Pinned {}

impl Pinned {
    pub(super) fn new(
        session: &Session,
        stream: &Arc<CudaStream>,
        len: usize,
    ) -> Result<Self, CudaError> {
        session.bind()?;
        // SAFETY: a new allocation, freed once in `drop`.
        let pointer = unsafe { result::malloc_host(len.max(1), sys::CU_MEMHOSTALLOC_PORTABLE) }
            .map_err(|error| match error.0 {
                sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => CudaError::HostMemory { wanted: len },
                _ => driver_error("cuMemHostAlloc", error),
            })?
            .cast::<u8>();
        // SAFETY: the allocation has that many bytes; from here on they are initialised.
        unsafe { pointer.write_bytes(0, len) };
        Ok(Self {
            pointer,
            len,
            stream: Arc::clone(stream),
        })
    }

    /// Bytes of a range that lies within the memory.
    ///
    /// # Safety
    /// No copy from the card to the range is under way.
    pub(super) unsafe fn bytes(&self, range: Range<usize>) -> &[u8] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: within the memory, whose bytes are all initialised, and written to by nobody, says the caller.
        unsafe { std::slice::from_raw_parts(self.pointer.add(range.start), range.len()) }
    }

    /// As [`Pinned::bytes`], to write to.
    ///
    /// # Safety
    /// No copy from or to the range is under way.
    pub(super) unsafe fn bytes_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.add(range.start), range.len()) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.stream.context().bind_to_thread().is_ok() {
            // A stream that failed copies nothing any more, so the memory may go in any case.
            let _ = self.stream.synchronize();
            // SAFETY: allocated by `new`, and no copy uses it any more. An error cannot be reported from here.
            let _ = unsafe { result::free_host(self.pointer.cast::<c_void>()) };
        }
    }
}

/// Memory for the copies of one proof, and those queued so far.
pub(crate) struct Transfers {
    memory: Pinned,
    used: usize,
    done: CudaEvent,
}

/// `len` values that come back, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Download<T> {
    first_byte: usize,
    len: usize,
    values: PhantomData<T>,
}

impl Transfers {
    /// Room for `bytes` bytes of copies in both directions, each rounded up by [`Transfers::rounded`].
    pub(crate) fn new(session: &Session, bytes: usize) -> Result<Self, CudaError> {
        let done = session
            .context
            .new_event(Some(sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC))
            .map_err(|e| driver_error("cuEventCreate", e))?;
        Ok(Self {
            memory: Pinned::new(session, &session.stream, bytes)?,
            used: 0,
            done,
        })
    }

    /// Bytes that a copy takes up.
    pub(crate) const fn rounded(bytes: usize) -> usize {
        bytes.next_multiple_of(ALIGNMENT)
    }

    fn take(&mut self, bytes: usize) -> Result<usize, CudaError> {
        let first = self.used;
        let end = first + Self::rounded(bytes);
        if end > self.memory.len {
            return Err(CudaError::Length {
                what: "page-locked memory",
                got: end,
                expected: self.memory.len,
            });
        }
        self.used = end;
        Ok(first)
    }

    /// Copies bytes, now, and queues their upload into the buffer from value `first_value` on.
    pub(crate) fn upload<T: Plain>(
        &mut self,
        session: &Session,
        bytes: &[u8],
        buffer: &mut DeviceBuffer<T>,
        first_value: usize,
    ) -> Result<(), CudaError> {
        let target = first_value * size_of::<T>();
        check_range("upload", target + bytes.len(), buffer)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let first = self.take(bytes.len())?;
        let staged = first..first + bytes.len();
        // SAFETY: `take` gives each copy its own bytes, so none uses these yet.
        unsafe { self.memory.bytes_mut(staged.clone()) }.copy_from_slice(bytes);
        self.queue_upload(session, staged, buffer, target)
    }

    /// Queues the upload of everything that was staged, once more, to the buffer's beginning: the copy alone, to be measured.
    pub(crate) fn upload_again<T: Plain>(
        &mut self,
        session: &Session,
        buffer: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        check_range("upload", self.used, buffer)?;
        self.queue_upload(session, 0..self.used, buffer, 0)
    }

    /// Queues the upload of staged bytes to a range of the buffer that the caller has checked.
    fn queue_upload<T: Plain>(
        &self,
        session: &Session,
        staged: Range<usize>,
        buffer: &mut DeviceBuffer<T>,
        target: usize,
    ) -> Result<(), CudaError> {
        session.bind()?;
        // SAFETY: what is staged is not copied to.
        let staged = unsafe { self.memory.bytes(staged) };
        let mut target = buffer.bytes.slice_mut(target..target + staged.len());
        let (pointer, _in_stream_order) = target.device_ptr_mut(&session.stream);
        // SAFETY: the slice of the buffer is as long as `staged`, which is written to no more before the copy is done: `take`
        // gives each copy its own bytes, and the memory is reused only by `Arrived::reuse`.
        unsafe { result::memcpy_htod_async(pointer, staged, session.stream.cu_stream()) }
            .map_err(|e| driver_error("cuMemcpyHtoDAsync", e))
    }

    /// Queues the download of the buffer's first `len` values.
    pub(crate) fn download<T: Plain>(
        &mut self,
        session: &Session,
        buffer: &DeviceBuffer<T>,
        len: usize,
    ) -> Result<Download<T>, CudaError> {
        let bytes = len * size_of::<T>();
        check_range("download", bytes, buffer)?;
        let first_byte = self.take(bytes)?;
        if len > 0 {
            // SAFETY: as in `upload`.
            let staged = unsafe { self.memory.bytes_mut(first_byte..first_byte + bytes) };
            session.bind()?;
            let (pointer, _in_stream_order) = buffer.bytes.device_ptr(&session.stream);
            // SAFETY: the device's range was checked; `staged` is read only after the copy is done, by `Arrived`.
            unsafe { result::memcpy_dtoh_async(staged, pointer, session.stream.cu_stream()) }
                .map_err(|e| driver_error("cuMemcpyDtoHAsync", e))?;
        }
        Ok(Download {
            first_byte,
            len,
            values: PhantomData,
        })
    }

    /// Everything is queued.
    pub(crate) fn queued(self, session: &Session) -> Result<InFlight, CudaError> {
        self.done
            .record(&session.stream)
            .map_err(|e| driver_error("cuEventRecord", e))?;
        Ok(InFlight(self))
    }
}

/// Copies that may not have been made yet.
pub(crate) struct InFlight(Transfers);

impl InFlight {
    /// Waits for the copies and whatever was queued before them.
    pub(crate) fn wait(self) -> Result<Arrived, CudaError> {
        self.0
            .done
            .synchronize()
            .map_err(|e| driver_error("cuEventSynchronize", e))?;
        Ok(Arrived(self.0))
    }
}

/// Copies that were made.
pub(crate) struct Arrived(Transfers);

impl Arrived {
    /// The values of a download of these transfers.
    pub(crate) fn read<T: Plain>(&self, download: Download<T>) -> Vec<T> {
        let mut values = vec![T::default(); download.len];
        let bytes = as_bytes_mut(&mut values);
        let first = download.first_byte;
        // SAFETY: all copies were made.
        bytes.copy_from_slice(unsafe { self.0.memory.bytes(first..first + bytes.len()) });
        values
    }

    /// The memory for the next proof.
    pub(crate) fn reuse(self) -> Transfers {
        Transfers { used: 0, ..self.0 }
    }
}
