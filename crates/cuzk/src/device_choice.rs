//! What computes: the processor, or a card of the machine.

use std::{num::NonZeroUsize, str::FromStr};

use crate::{
    cards::CardNumber,
    config::{Syntax, Value},
};

/// A device by the name that operators give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeviceChoice {
    /// All threads of the processor.
    Cpu,
    /// The NVIDIA card of this number.
    Cuda(usize),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "cpu" {
            return Ok(Self::Cpu);
        }
        text.parse()
            .map(|CardNumber(number)| Self::Cuda(number))
            .map_err(|reason| format!("not cpu, and {reason}"))
    }
}

/// How a device is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeviceOptions {
    /// Which one.
    pub(crate) choice: DeviceChoice,
    /// Bytes of a card's memory to stay within; none for what is free.
    pub(crate) memory_limit: Option<u64>,
    /// Threads of the processor.
    pub(crate) threads: NonZeroUsize,
}

impl DeviceOptions {
    /// The processor with so many threads.
    pub(crate) const fn cpu(threads: NonZeroUsize) -> Self {
        Self {
            choice: DeviceChoice::Cpu,
            memory_limit: None,
            threads,
        }
    }
}

/// Reads bytes with a unit, for options.
///
/// # Errors
/// What was expected, in words.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    match Syntax::Bytes.read_text(text)? {
        Value::Number(bytes) => Ok(bytes),
        other => Err(format!("expected {}, found {other:?}", Syntax::Bytes)),
    }
}
