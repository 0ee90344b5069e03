//! What every part of a running engine shares.

use std::sync::Arc;

use cuzk_groth16::ProverDevice;

use crate::bus::Bus;
use crate::jobs::Registry;
use crate::ports::{CircuitSource, KeySource};
use crate::settings::{Derived, EngineSettings};
use crate::steps::Steps;
use crate::sync::Mutex;

pub(crate) struct Core {
    pub(crate) settings: EngineSettings,
    pub(crate) derived: Derived,
    pub(crate) devices: Vec<Arc<dyn ProverDevice>>,
    pub(crate) keys: Arc<dyn KeySource>,
    pub(crate) circuits: Arc<dyn CircuitSource>,
    pub(crate) bus: Arc<Bus>,
    pub(crate) steps: Steps,
    pub(crate) registry: Registry,
    pub(crate) draining: Mutex<bool>,
    pub(crate) residents: crate::flow::Residents,
}
