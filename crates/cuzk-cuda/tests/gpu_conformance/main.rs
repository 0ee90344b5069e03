//! The device against blst and against the definitions, on the inputs where such code breaks.
//!
//! All tests need a card: `cargo test -p cuzk-cuda --features cuda --test gpu_conformance -- --ignored`.
#![allow(
    clippy::unwrap_used,
    reason = "a test that fails to reach the device fails"
)]

mod keys;
mod memory;
mod multiplications;
mod passes;
mod prover;
mod setup;
mod small_inputs;
mod transforms;

use blstrs::Scalar;
use cuzk_cuda::{CudaError, Device, Fp, MsmPlan, MultiExp};
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;

fn device() -> Device {
    Device::open(0, u64::MAX).unwrap()
}

fn random_scalars(len: usize, seed: u64) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..len).map(|_| Scalar::random(&mut rng)).collect()
}

/// As [`random_scalars`], by all cores.
fn many_random_scalars(len: usize, seed: u64) -> Vec<Scalar> {
    let mut scalars = vec![Scalar::ZERO; len];
    let parts = scalars.par_chunks_mut(1 << 16).enumerate();
    parts.for_each(|(number, part)| {
        part.copy_from_slice(&random_scalars(part.len(), seed << 32 | number as u64));
    });
    scalars
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_a_card_beyond_the_last_is_refused() {
    assert!(matches!(
        Device::open(1000, u64::MAX),
        Err(CudaError::NoDevice { ordinal: 1000, .. })
    ));
}

#[test]
#[ignore = "needs an NVIDIA card"]
fn gpu_allocations_beyond_the_limit_are_refused_and_given_back() {
    let device = Device::open(0, 1 << 20).unwrap();
    let plan = MsmPlan::new(1 << 16);
    assert!(matches!(
        MultiExp::<Fp>::new(&device, plan),
        Err(CudaError::OutOfMemory { .. })
    ));
    assert_eq!(device.used_memory(), 0);
}
