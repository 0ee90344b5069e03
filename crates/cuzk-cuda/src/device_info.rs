//! Cards as they are described to people, whether or not this program has code for them.

use std::fmt;

use cuzk_groth16::CardDescription;

/// A card and how much of its memory was free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The driver's number of the card.
    pub ordinal: usize,
    /// Its product name.
    pub name: String,
    /// `GPU-` and the hexadecimal identifier, as nvidia-smi prints it.
    pub uuid: String,
    /// Major and minor compute capability.
    pub capability: (i32, i32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of shared memory that a block of a kernel may ask for beside the kernel's own.
    pub shared_memory: u32,
    /// Bytes of device memory.
    pub total_memory: u64,
    /// Bytes that were free at the time of asking.
    pub free_memory: u64,
    /// The driver's CUDA version, 13000 for 13.0.
    pub driver_version: i32,
    /// Architectures of the embedded kernels, comma separated.
    pub kernels: &'static str,
}

impl DeviceInfo {
    /// Which of the embedded kernels the card runs; none when it runs none of them.
    pub fn code(&self) -> Option<KernelCode> {
        KernelCode::for_card(self.capability, self.kernels)
    }

    /// The card in the words of all devices.
    pub fn card(&self) -> CardDescription {
        let (major, minor) = self.capability;
        CardDescription {
            number: self.ordinal,
            name: self.name.clone(),
            uuid: self.uuid.clone(),
            memory_bytes: self.total_memory,
            driver: format!(
                "{}.{}",
                self.driver_version / 1000,
                self.driver_version % 1000 / 10
            ),
            capability: format!("{major}.{minor}"),
            multiprocessors: self.multiprocessors,
            kernels: self.code().map(|code| code.to_string()),
            built_for: self.kernels,
        }
    }
}

/// Code for one architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelCode {
    /// Machine code for `sm_` and this number.
    Machine(u32),
    /// Assembly for `compute_` and this number, which the driver compiles when it is loaded.
    Assembly(u32),
}

impl KernelCode {
    /// The driver's choice among machine code of all `architectures` and assembly of the first: the newest machine
    /// code of the card's major version, else the assembly.
    fn for_card((major, minor): (i32, i32), architectures: &str) -> Option<Self> {
        let card = u32::try_from(10 * major + minor).ok()?;
        let built: Vec<u32> = architectures
            .split(',')
            .filter_map(|arch| arch.parse().ok())
            .collect();
        let machine = built
            .iter()
            .filter(|arch| **arch / 10 == card / 10 && **arch <= card)
            .max();
        match (machine, built.first()) {
            (Some(arch), _) => Some(Self::Machine(*arch)),
            (None, Some(lowest)) if *lowest <= card => Some(Self::Assembly(*lowest)),
            _ => None,
        }
    }
}

impl fmt::Display for KernelCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine(arch) => write!(f, "sm_{arch}"),
            Self::Assembly(arch) => write!(f, "compute_{arch}"),
        }
    }
}

/// All cards of the machine.
///
/// # Errors
///
/// [`crate::CudaError::NotBuilt`].
#[cfg(not(feature = "cuda"))]
pub fn devices() -> Result<Vec<DeviceInfo>, crate::CudaError> {
    Err(crate::CudaError::NotBuilt)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "80,86,89,90,100,120";

    #[test]
    fn a_card_runs_the_newest_machine_code_of_its_own_generation() {
        for (card, arch) in [
            ((8, 0), 80),
            ((8, 6), 86),
            ((8, 7), 86),
            ((8, 9), 89),
            ((9, 0), 90),
            ((10, 3), 100),
            ((12, 1), 120),
        ] {
            assert_eq!(
                KernelCode::for_card(card, ALL),
                Some(KernelCode::Machine(arch)),
                "{card:?}"
            );
        }
    }

    #[test]
    fn a_newer_card_compiles_the_assembly_and_an_older_one_runs_nothing() {
        assert_eq!(
            KernelCode::for_card((13, 0), ALL),
            Some(KernelCode::Assembly(80))
        );
        assert_eq!(
            KernelCode::for_card((12, 0), "90"),
            Some(KernelCode::Assembly(90))
        );
        assert_eq!(KernelCode::for_card((7, 5), ALL), None);
        assert_eq!(KernelCode::for_card((8, 0), "90"), None);
    }
}
