//! What a program without kernels answers.

use std::{sync::Arc, time::Duration};

use cuzk_cuda::{BenchPlan, CudaError, DeviceInfo, KernelTable};
use cuzk_groth16::{
    DeviceError, LoadedKey, Partition, PendingProof, ProverDevice,
    setup::{KeyScalars, PointSource, PointStream, StreamError},
};
use cuzk_r1cs::{CompiledCircuit, PackedWitness};

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

    pub(crate) fn resident_key(&self, _: &KeyScalars) -> anyhow::Result<ResidentKey> {
        match *self {}
    }
}

impl PointSource for CardPoints {
    fn send(&mut self, _: &KeyScalars, _: &mut PointStream<'_>) -> Result<(), StreamError> {
        match *self {}
    }
}

/// A card whose operations are measured, of which there is none.
#[derive(Debug)]
pub(crate) enum MeasuredCard {}

impl MeasuredCard {
    /// Opens a card.
    ///
    /// # Errors
    /// Resource, always.
    pub(crate) fn open(ordinal: usize) -> anyhow::Result<Self> {
        Err(refused(ordinal, CudaError::NotBuilt))
    }

    pub(crate) fn info(&self) -> &DeviceInfo {
        match *self {}
    }

    pub(crate) fn kernel_table(
        &self,
        _: BenchPlan,
        _: (&CompiledCircuit, &PackedWitness),
        _: &dyn Fn(&str),
    ) -> anyhow::Result<KernelTable> {
        match *self {}
    }
}

/// A prover on a card.
///
/// # Errors
/// Resource, always.
pub(crate) fn start_prover(
    ordinal: usize,
    _: Option<u64>,
) -> anyhow::Result<Arc<dyn ProverDevice>> {
    Err(refused(ordinal, CudaError::NotBuilt))
}

/// A prover on a card, of which there is none.
#[derive(Debug)]
pub(crate) enum CardProver {}

/// Device times of a proof.
#[derive(Debug)]
pub(crate) enum CardTimes {}

impl CardProver {
    /// Opens a card.
    ///
    /// # Errors
    /// Resource, always.
    pub(crate) fn open(ordinal: usize, _: Option<u64>) -> anyhow::Result<Self> {
        Err(refused(ordinal, CudaError::NotBuilt))
    }

    pub(crate) fn name(&self) -> String {
        match *self {}
    }

    pub(crate) fn prover(&self) -> &dyn ProverDevice {
        match *self {}
    }

    pub(crate) fn peak_bytes(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn make_key(&self, _: &KeyScalars) -> anyhow::Result<LoadedKey> {
        match *self {}
    }

    pub(crate) fn start(&self, _: Partition) -> Result<(PendingProof, CardTimes), DeviceError> {
        match *self {}
    }
}

impl CardTimes {
    pub(crate) fn stages(self) -> Vec<(&'static str, Duration)> {
        match self {}
    }
}
