//! Uploads beside the computation. The card's copies must not wait for its kernels, nor the kernels for copies that they do
//! not need, so these uploads have a stream of their own, and page-locked blocks that the host fills in turn.
//!
//! Three rules keep the streams apart: an upload begins when the kernels' stream has reached the place where the memory was
//! allocated ([`Reserved`]); kernels that are queued after [`Staging::upload`] begin when everything is there; the host writes to
//! a block when the last copy from it was made.

use std::sync::Arc;

use cudarc::driver::{CudaEvent, CudaStream, DevicePtrMut, result, sys};

use super::{DeviceBuffer, Plain, Reserved, Session, check_range, driver_error, transfers::Pinned};
use crate::CudaError;

/// A stream for uploads and the page-locked memory that they come from.
pub(crate) struct Staging {
    stream: Arc<CudaStream>,
    blocks: Vec<Block>,
    block_bytes: usize,
    next: usize,
}

struct Block {
    memory: Pinned,
    /// The last copy from this block.
    copied: CudaEvent,
}

/// Copies of a stream, which are waited for when they are given up.
struct Copies<'a> {
    stream: &'a CudaStream,
    given_up: bool,
}

impl Staging {
    /// A ring of `num_blocks` blocks of `block_bytes` bytes.
    pub(crate) fn new(
        session: &Session,
        num_blocks: usize,
        block_bytes: usize,
    ) -> Result<Self, CudaError> {
        let stream = session
            .context
            .new_stream()
            .map_err(|e| driver_error("cuStreamCreate", e))?;
        let blocks = (0..num_blocks).map(|_| {
            let copied = session
                .context
                .new_event(Some(sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC))
                .map_err(|e| driver_error("cuEventCreate", e))?;
            let memory = Pinned::new(session, &stream, block_bytes)?;
            Ok(Block { memory, copied })
        });
        Ok(Self {
            blocks: blocks.collect::<Result<_, CudaError>>()?,
            block_bytes,
            stream,
            next: 0,
        })
    }

    /// Uploads `bytes` bytes; everything that is queued later waits for them. `fill` writes those from a first one on into a
    /// block, and has written them when it returns; it is called for one block after the other, while those before are copied.
    pub(crate) fn upload<T: Plain>(
        &mut self,
        session: &Session,
        reserved: Reserved<T>,
        bytes: usize,
        mut fill: impl FnMut(usize, &mut [u8]) -> Result<(), CudaError>,
    ) -> Result<DeviceBuffer<T>, CudaError> {
        let Reserved { mut buffer, ready } = reserved;
        check_range("upload", bytes, &buffer)?;
        self.stream
            .wait(&ready)
            .map_err(|e| driver_error("cuStreamWaitEvent", e))?;
        // Dropped before the buffer is.
        let mut copies = Copies {
            stream: &self.stream,
            given_up: true,
        };
        for first in (0..bytes).step_by(self.block_bytes) {
            let block = &mut self.blocks[self.next];
            let len = self.block_bytes.min(bytes - first);
            block.fill(len, |to| fill(first, to))?;
            session.bind()?;
            let mut target = buffer.bytes.slice_mut(first..first + len);
            let (pointer, _waits_by_events) = target.device_ptr_mut(&self.stream);
            block.copy(pointer, len, &self.stream)?;
            self.next = (self.next + 1) % self.blocks.len();
        }
        let arrived = self
            .stream
            .record_event(None)
            .map_err(|e| driver_error("cuEventRecord", e))?;
        session
            .stream
            .wait(&arrived)
            .map_err(|e| driver_error("cuStreamWaitEvent", e))?;
        copies.given_up = false;
        drop(copies);
        Ok(buffer)
    }
}

impl Block {
    /// Lets `fill` write the first `len` bytes, once the copy before was made.
    fn fill(
        &mut self,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        self.copied
            .synchronize()
            .map_err(|e| driver_error("cuEventSynchronize", e))?;
        // SAFETY: the last copy from here was made.
        fill(unsafe { self.memory.bytes_mut(0..len) })
    }

    /// Queues the copy of the first `len` bytes to an address of the card that has room for them.
    fn copy(
        &mut self,
        target: sys::CUdeviceptr,
        len: usize,
        stream: &CudaStream,
    ) -> Result<(), CudaError> {
        // SAFETY: nothing is copied to a block.
        let bytes = unsafe { self.memory.bytes(0..len) };
        // SAFETY: the caller has the range on the device and keeps it until the kernels' stream waits for this copy; the
        // block's bytes are written again only by `fill`, which waits for the event below.
        unsafe { result::memcpy_htod_async(target, bytes, stream.cu_stream()) }
            .map_err(|e| driver_error("cuMemcpyHtoDAsync", e))?;
        self.copied
            .record(stream)
            .map_err(|e| driver_error("cuEventRecord", e))
    }
}

impl Drop for Copies<'_> {
    fn drop(&mut self) {
        if self.given_up && self.stream.context().bind_to_thread().is_ok() {
            // Their memory goes back in the order of the kernels' stream, which knows nothing of them. A stream that failed
            // copies nothing any more.
            let _ = self.stream.synchronize();
        }
    }
}
