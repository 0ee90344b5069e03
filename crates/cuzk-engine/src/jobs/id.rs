//! Names of jobs. Clients' request ids are not unique, so the engine makes its own.

use std::fmt;
use std::str::FromStr;

use rand_core::{OsRng, RngCore};
use thiserror::Error;

/// The engine's name of a job: 128 random bits, so that it is unique across restarts and cannot be guessed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(u128);

/// Digits of the printed form.
const HEX_DIGITS: usize = 32;

impl JobId {
    /// A new id.
    pub fn random() -> Self {
        let mut bytes = [0; 16];
        OsRng.fill_bytes(&mut bytes);
        Self(u128::from_le_bytes(bytes))
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text that is not a job id.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{found}` is not a job id of {HEX_DIGITS} hexadecimal digits")]
pub struct ParseJobIdError {
    /// As given.
    pub found: String,
}

impl FromStr for JobId {
    type Err = ParseJobIdError;

    fn from_str(text: &str) -> Result<Self, ParseJobIdError> {
        let digits = text.len() == HEX_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok().filter(|_| digits);
        number.map(Self).ok_or_else(|| ParseJobIdError {
            found: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_parsed_from_what_it_prints() {
        let id = JobId::random();
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_ne!(id, JobId::random());
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "porep-1000-7", "+0000000000000000000000000000001", "00"] {
            assert!(text.parse::<JobId>().is_err(), "{text}");
        }
    }
}
