//! What a program without kernels answers.

use cuzk_cuda::{BenchPlan, CudaError, DeviceInfo, KernelTable};
use cuzk_groth16::setup::{KeyScalars, PointSource, PointStream, StreamError};

use super::{ResidentKey, refused};

/// Points of a key from a card, of which there is none.
#[derive(Debug)]
pub(crate) enum CardPoints {}

impl CardPoints {
    /// Opens a card.
    ///
    /// # Errors
    /// Resource, always.
    pub(crate) fn open(ordinal: usize) -> anyhow::Result<Self> {
        Err(refused(ordinal, CudaError::NotBuilt))
    }
}

impl PointSource for CardPoints {
    fn send(&mut self, _: &KeyScalars, _: &mut PointStream<'_>) -> Result<(), StreamError> {
        match *self {}
    }
}

/// Makes a key on a card.
///
/// # Errors
/// Resource, always.
pub(crate) fn resident_key(ordinal: usize, _: &KeyScalars) -> anyhow::Result<ResidentKey> {
    Err(refused(ordinal, CudaError::NotBuilt))
}

/// Measures a card.
///
/// # Errors
/// Resource, always.
pub(crate) fn kernel_table(
    ordinal: usize,
    _: BenchPlan,
    _: &dyn Fn(&str),
) -> anyhow::Result<(DeviceInfo, KernelTable)> {
    Err(refused(ordinal, CudaError::NotBuilt))
}
