//! Where a proof's time on the device went.

use std::time::Duration;

use cudarc::driver::CudaEvent;

use crate::{CudaError, Device};

/// Device time of the stages of one proof, in the order in which they run.
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

/// Marks between stages.
pub(super) struct Marks(Vec<CudaEvent>);

impl Marks {
    const STAGES: usize = 8;

    /// The beginning of the first stage.
    pub(super) fn new(device: &Device) -> Result<Self, CudaError> {
        let mut marks = Self(Vec::with_capacity(Self::STAGES + 1));
        marks.mark(device)?;
        Ok(marks)
    }

    /// The end of a stage.
    pub(super) fn mark(&mut self, device: &Device) -> Result<(), CudaError> {
        self.0.push(device.session().mark()?);
        Ok(())
    }

    /// The stages' times. Waits for the device.
    pub(super) fn times(&self) -> Result<ProofTimes, CudaError> {
        let mut stages = [Duration::ZERO; Self::STAGES];
        for (stage, ends) in stages.iter_mut().zip(self.0.windows(2)) {
            *stage = Device::between(&ends[0], &ends[1])?;
        }
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
