//! A device that tests describe.

use std::{num::NonZeroUsize, time::Duration};

use cuzk_engine::{DeviceHealth, DeviceStatus};
use cuzk_groth16::{CardDescription, DeviceDescription};

/// The second device of an engine.
pub(crate) fn device(card: Option<CardDescription>) -> DeviceStatus {
    DeviceStatus {
        index: 1,
        description: DeviceDescription {
            name: "cuda",
            threads: NonZeroUsize::MIN,
            tail_threads: NonZeroUsize::MIN,
            arithmetic: "90",
            card,
        },
        health: DeviceHealth::Healthy,
        last_error: None,
        in_flight: Vec::new(),
        busy: Duration::ZERO,
    }
}

/// A card of 139 GiB.
pub(crate) fn card() -> CardDescription {
    CardDescription {
        number: 3,
        name: "NVIDIA H200".to_owned(),
        uuid: "GPU-0".to_owned(),
        memory_bytes: 139 << 30,
        driver: "13.0".to_owned(),
        capability: "9.0".to_owned(),
        multiprocessors: 132,
        kernels: Some("sm_90".to_owned()),
        built_for: "90,100",
    }
}
