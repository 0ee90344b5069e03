//! What a launch is given: the kernel's parameters as the driver reads them, and the grid.

use cudarc::driver::DevicePtr;

use super::DeviceBuffer;
use crate::RawScalar;

/// Arguments of one launch, in the order of the kernel's parameters.
#[derive(Default)]
pub(crate) struct Arguments(pub(super) Vec<Argument>);

// A parameter of at most 32 bytes; the driver reads as many as the kernel's parameter has.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Argument(pub(super) [u64; 4]);

impl Arguments {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn buffer<T>(self, buffer: &DeviceBuffer<T>) -> Self {
        self.buffer_from(buffer, 0)
    }

    /// The address of the buffer's value number `first`.
    pub(crate) fn buffer_from<T>(self, buffer: &DeviceBuffer<T>, first: usize) -> Self {
        let (pointer, _in_stream_order) = buffer.bytes.device_ptr(buffer.bytes.stream());
        self.wide(pointer + (first * size_of::<T>()) as u64)
    }

    pub(crate) fn null(self) -> Self {
        self.wide(0)
    }

    pub(crate) fn word(self, value: u32) -> Self {
        self.wide(u64::from(value))
    }

    pub(crate) fn wide(mut self, value: u64) -> Self {
        self.0.push(Argument([value, 0, 0, 0]));
        self
    }

    pub(crate) fn scalar(mut self, value: RawScalar) -> Self {
        self.0.push(Argument(value.0));
        self
    }

    /// A structure of 32-bit words.
    pub(crate) fn words<const N: usize>(mut self, words: [u32; N]) -> Self {
        const { assert!(N <= 8) };
        let mut packed = [0; 4];
        for (i, word) in words.into_iter().enumerate() {
            packed[i / 2] |= u64::from(word) << (32 * (i % 2));
        }
        self.0.push(Argument(packed));
        self
    }
}

/// Blocks, threads of a block, and bytes of dynamic shared memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    pub(crate) blocks: (u32, u32),
    pub(crate) threads: u32,
    pub(crate) shared_bytes: u32,
}

impl Grid {
    pub(crate) fn new(blocks: u32, threads: u32) -> Self {
        Self {
            blocks: (blocks, 1),
            threads,
            shared_bytes: 0,
        }
    }

    /// Enough blocks for one thread an item.
    pub(crate) fn for_items(items: u64, threads: u32) -> Self {
        Self::new(items.div_ceil(u64::from(threads)).max(1) as u32, threads)
    }

    pub(crate) fn rows(self, rows: u32) -> Self {
        Self {
            blocks: (self.blocks.0, rows),
            ..self
        }
    }

    pub(crate) fn shared(self, bytes: usize) -> Self {
        Self {
            shared_bytes: bytes as u32,
            ..self
        }
    }
}
