//! Memory of the card has an owner, and counts against the limit for as long as somebody may still use it.

use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use cudarc::driver::{CudaEvent, CudaSlice, sys};

use super::{Plain, Session, driver_error};
use crate::CudaError;

/// Bytes in use on a device, with a limit.
#[derive(Debug)]
pub(crate) struct Accounting {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Accounting {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            limit,
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
        }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    pub(crate) fn available(&self) -> u64 {
        self.limit.saturating_sub(self.used())
    }

    fn take(&self, bytes: u64) -> Result<(), CudaError> {
        let taken = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(bytes).filter(|sum| *sum <= self.limit)
            });
        match taken {
            Ok(before) => {
                self.peak.fetch_max(before + bytes, Ordering::Relaxed);
                Ok(())
            }
            Err(used) => Err(CudaError::OutOfMemory {
                wanted: bytes,
                used,
                limit: self.limit,
            }),
        }
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Device memory that is counted until it is dropped.
#[derive(Debug)]
pub(super) struct Counted {
    bytes: CudaSlice<u8>,
    accounting: Arc<Accounting>,
}

impl Deref for Counted {
    type Target = CudaSlice<u8>;

    fn deref(&self) -> &CudaSlice<u8> {
        &self.bytes
    }
}

impl DerefMut for Counted {
    fn deref_mut(&mut self) -> &mut CudaSlice<u8> {
        &mut self.bytes
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.accounting.give_back(self.bytes.num_bytes() as u64);
    }
}

/// `len` values in device memory; its bytes count against the device's limit.
#[derive(Debug)]
pub struct DeviceBuffer<T> {
    pub(super) bytes: Counted,
    pub(super) len: usize,
    values: PhantomData<T>,
}

impl<T> DeviceBuffer<T> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The same bytes as values of another type, of which the last may be cut off.
    pub(crate) fn cast<U: Plain>(self) -> DeviceBuffer<U>
    where
        T: Plain,
    {
        DeviceBuffer {
            len: self.len * size_of::<T>() / size_of::<U>(),
            bytes: self.bytes,
            values: PhantomData,
        }
    }
}

/// Memory that another stream may write to once its own has reached the place where it was allocated.
#[derive(Debug)]
pub(crate) struct Reserved<T> {
    pub(super) buffer: DeviceBuffer<T>,
    pub(super) ready: CudaEvent,
}

impl Session {
    pub(crate) fn allocate<T: Plain>(&self, len: usize) -> Result<DeviceBuffer<T>, CudaError> {
        let bytes = len.max(1) * size_of::<T>();
        self.accounting.take(bytes as u64)?;
        // SAFETY: the contents are undefined until written; `Plain` values have no invalid bits.
        let allocated = unsafe { self.stream.alloc::<u8>(bytes) };
        match allocated {
            Ok(bytes) => Ok(DeviceBuffer {
                bytes: Counted {
                    bytes,
                    accounting: self.accounting.clone(),
                },
                len,
                values: PhantomData,
            }),
            Err(error) => {
                self.accounting.give_back(bytes as u64);
                if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
                    let (used, limit) = (self.accounting.used(), self.accounting.limit);
                    return Err(CudaError::OutOfMemory {
                        wanted: bytes as u64,
                        used,
                        limit,
                    });
                }
                Err(driver_error("cuMemAllocAsync", error))
            }
        }
    }

    /// Allocates for an upload by another stream: what is queued after this may run before the upload, what is queued before
    /// may not, since it may still use the memory.
    pub(crate) fn reserve<T: Plain>(&self, len: usize) -> Result<Reserved<T>, CudaError> {
        let buffer = self.allocate(len)?;
        let ready = self
            .stream
            .record_event(None)
            .map_err(|e| driver_error("cuEventRecord", e))?;
        Ok(Reserved { buffer, ready })
    }
}
