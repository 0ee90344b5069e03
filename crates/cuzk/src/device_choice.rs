//! What computes: the processor, or a card of the machine.

use std::{num::NonZeroUsize, str::FromStr};

use crate::{
    cards::CardNumber,
    exit::{ExitClass, failure},
    units,
};

/// How a device is named, in words.
pub(crate) const DEVICES: &str = "cpu, cuda, or cuda:N for the card of number N";

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
            .map_err(|_| format!("expected {DEVICES}, found {text:?}"))
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
    /// A device that may take all of a card's memory that is free.
    pub(crate) const fn new(choice: DeviceChoice, threads: NonZeroUsize) -> Self {
        Self {
            choice,
            memory_limit: None,
            threads,
        }
    }

    /// The processor with so many threads.
    pub(crate) const fn cpu(threads: NonZeroUsize) -> Self {
        Self::new(DeviceChoice::Cpu, threads)
    }

    /// With the limit that somebody set under the name `whose`, if anybody did.
    ///
    /// # Errors
    /// Usage, when the limit leaves nothing, or when there is no card to keep within it.
    pub(crate) fn limited(self, limit: Option<u64>, whose: &str) -> anyhow::Result<Self> {
        let why = match (limit, self.choice) {
            (Some(0), _) => Some("leave no memory; leave it out for all that is free"),
            (Some(_), DeviceChoice::Cpu) => Some(
                "limit the memory of a card, and the device is cpu: leave it out, or choose the device cuda",
            ),
            (None, _) | (Some(_), DeviceChoice::Cuda(_)) => None,
        };
        if let (Some(limit), Some(why)) = (limit, why) {
            let words = format!("{whose}: {} {why}", units::bytes(limit));
            return Err(failure(ExitClass::Usage, words));
        }
        Ok(Self {
            memory_limit: limit,
            ..self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::class_of;

    #[test]
    fn a_device_that_is_none_is_refused_with_what_is_expected() {
        for text in ["CPU", "gpu", "cuda:x", "cuda:", ""] {
            let error = text.parse::<DeviceChoice>().expect_err("no device");
            assert_eq!(error, format!("expected {DEVICES}, found {text:?}"));
        }
    }

    #[test]
    fn a_limit_of_nothing_or_of_a_device_without_memory_is_refused_by_name() {
        let card = DeviceOptions::new(DeviceChoice::Cuda(1), NonZeroUsize::MIN);
        let limited = card.limited(Some(1 << 30), "x").expect("a limit");
        assert_eq!(limited.memory_limit, Some(1 << 30));
        let cpu = DeviceOptions::cpu(NonZeroUsize::MIN);
        assert_eq!(cpu.limited(None, "x").expect("no limit"), cpu);
        for (options, limit, words) in [
            (card, 0, "--limit: 0 B leave no memory"),
            (cpu, 0, "--limit: 0 B leave no memory"),
            (cpu, 1 << 30, "--limit: 1.00 GiB limit the memory of a card"),
        ] {
            let error = options.limited(Some(limit), "--limit").expect_err(words);
            assert_eq!(class_of(&error), ExitClass::Usage);
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
