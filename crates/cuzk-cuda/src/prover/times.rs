//! Where a proof's time on the device went.

use std::time::Duration;

use cudarc::driver::CudaEvent;

use crate::{CudaError, Device};

/// Device time of the stages of one proof, in the order in which they run. Proofs that share a pass over a streamed key have an
/// equal share of its times each, in which the card may have waited for the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProofTimes {
    /// The packed witness, from page-locked memory.
    pub upload: Duration,
    /// Values of the rows.
    pub evaluate: Duration,
    /// Coefficients of the quotient from the values of the rows.
    pub quotient: Duration,
    /// The sum over the quotient's coefficients.
    pub h: Duration,
    /// The sum over the private variables.
    pub l: Duration,
    /// The sum over the variables that occur in A.
    pub a: Duration,
    /// The sum over the variables that occur in B, in G1.
    pub b_g1: Duration,
    /// The same in G2.
    pub b_g2: Duration,
}

impl ProofTimes {
    /// The stages by name, in order.
    pub fn stages(&self) -> [(&'static str, Duration); 8] {
        [
            ("upload", self.upload),
            ("evaluate", self.evaluate),
            ("quotient", self.quotient),
            ("h", self.h),
            ("l", self.l),
            ("a", self.a),
            ("b_g1", self.b_g1),
            ("b_g2", self.b_g2),
        ]
    }
}

/// A stage, by its place among the times.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    Upload,
    Evaluate,
    Quotient,
    H,
    L,
    A,
    BG1,
    BG2,
}

/// Marks between stages, each with the stage that ended there.
pub(super) struct Marks {
    beginning: CudaEvent,
    ends: Vec<(Stage, CudaEvent)>,
}

impl Marks {
    const STAGES: usize = Stage::BG2 as usize + 1;

    /// The beginning of the first stage.
    pub(super) fn new(device: &Device) -> Result<Self, CudaError> {
        Ok(Self {
            beginning: device.session().mark()?,
            ends: Vec::with_capacity(Self::STAGES),
        })
    }

    /// The end of a stage.
    pub(super) fn mark(&mut self, device: &Device, stage: Stage) -> Result<(), CudaError> {
        self.ends.push((stage, device.session().mark()?));
        Ok(())
    }

    /// The stages' times divided by the number of proofs. Waits for the device.
    pub(super) fn times(&self, num_proofs: u32) -> Result<ProofTimes, CudaError> {
        let mut stages = [Duration::ZERO; Self::STAGES];
        let mut beginning = &self.beginning;
        for (stage, end) in &self.ends {
            stages[*stage as usize] += Device::between(beginning, end)?;
            beginning = end;
        }
        let stages = stages.map(|time| time / num_proofs.max(1));
        let [upload, evaluate, quotient, h, l, a, b_g1, b_g2] = stages;
        Ok(ProofTimes {
            upload,
            evaluate,
            quotient,
            h,
            l,
            a,
            b_g1,
            b_g2,
        })
    }
}
