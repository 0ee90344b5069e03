//! NVIDIA cards, for commands that use one. A program that was built without the feature `cuda` has the same commands,
//! and says what it lacks; this is the only place that knows both.

#[cfg(not(feature = "cuda"))]
mod absent;
#[cfg(feature = "cuda")]
mod present;

use std::str::FromStr;

use cuzk_cuda::CudaError;

use crate::exit::{ExitClass, classed, failure};

#[cfg(not(feature = "cuda"))]
pub(crate) use absent::{CardPoints, CardProver, CardTimes, MeasuredCard, start_prover};
#[cfg(feature = "cuda")]
pub(crate) use present::{CardPoints, CardProver, CardTimes, MeasuredCard, start_prover};

/// A card of the machine, by the driver's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CardNumber(pub(crate) usize);

impl FromStr for CardNumber {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = match text.split_once(':') {
            None if text == "cuda" => Some(0),
            Some(("cuda", number)) => number.parse().ok(),
            _ => None,
        };
        number.map(Self).ok_or_else(|| {
            format!("expected cuda, or cuda:N for the card of number N, found {text:?}")
        })
    }
}

/// A key that was made on a card and is gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResidentKey {
    /// Computing all points, the tables included.
    pub(crate) points_s: f64,
    /// Comparing a random combination of the points of each query with that of their scalars.
    pub(crate) check_s: f64,
    /// Bytes of the five queries.
    pub(crate) key_bytes: u64,
    /// Most bytes of the card in use at a time.
    pub(crate) peak_device_bytes: u64,
}

/// Why a card cannot be used, or failed.
pub(crate) fn refused(ordinal: usize, error: CudaError) -> anyhow::Error {
    classed(ExitClass::Resource, format!("NVIDIA card {ordinal}"), error)
}

/// Why a key without a file is not made for the processor.
pub(crate) fn ephemeral_needs_a_card() -> anyhow::Error {
    failure(
        ExitClass::Usage,
        "--ephemeral keeps a key on a card: give --device cuda",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_named_with_or_without_its_number() {
        assert_eq!("cuda".parse(), Ok(CardNumber(0)));
        assert_eq!("cuda:3".parse(), Ok(CardNumber(3)));
        for text in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:0"] {
            assert!(text.parse::<CardNumber>().is_err(), "{text}");
        }
    }
}
