//! Values of options, read as the daemon's settings are: whoever mistypes one is told what was found and what is
//! expected, in the same words everywhere.

use std::num::NonZeroU64;

use cuzk_circuits::{CircuitId, UnknownCircuit};

use crate::config::{Syntax, Value};

/// How far a misspelled circuit may be from the one that is suggested.
const MAX_DISTANCE: usize = 3;

/// Reads bytes with a unit.
///
/// # Errors
/// What was expected, in words.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    number(Syntax::Bytes, text)
}

/// Reads a whole number from 1.
///
/// # Errors
/// What was expected, in words.
pub(crate) fn count<N: TryFrom<NonZeroU64>>(text: &str) -> Result<N, String> {
    let number = number(Syntax::Count, text)?;
    NonZeroU64::new(number)
        .and_then(|number| N::try_from(number).ok())
        .ok_or_else(|| format!("{text:?} is too large"))
}

/// Reads a whole number from 0.
///
/// # Errors
/// What was expected, in words.
pub(crate) fn whole<N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    let number = text.parse::<u64>();
    let number = number.map_err(|_| format!("expected a whole number from 0, found {text:?}"))?;
    N::try_from(number).map_err(|_| format!("{text:?} is too large"))
}

fn number(syntax: Syntax, text: &str) -> Result<u64, String> {
    match syntax.read_text(text)? {
        Value::Number(number) => Ok(number),
        other => Err(format!("expected {syntax}, found {other}")),
    }
}

/// Reads a circuit's id; another one is suggested only where it is spelled much like it.
///
/// # Errors
/// All circuits, in words.
pub(crate) fn circuit(text: &str) -> Result<CircuitId, String> {
    text.parse().map_err(|error: UnknownCircuit| {
        let nearest = error.nearest.to_string();
        if strsim::damerau_levenshtein(&nearest, &error.found.to_lowercase()) <= MAX_DISTANCE {
            return error.to_string();
        }
        let all: Vec<String> = CircuitId::all().map(|id| id.to_string()).collect();
        format!(
            "unknown circuit {:?}; circuits are {}",
            error.found,
            all.join(", ")
        )
    })
}

/// Splits `KEY=VALUE`.
///
/// # Errors
/// What was expected, in words.
pub(crate) fn key_and_value(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .ok_or_else(|| format!("expected KEY=VALUE, found {text:?}"))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn a_count_is_a_whole_number_from_one_that_fits() {
        assert_eq!(count("7"), Ok(NonZeroU32::new(7).expect("not zero")));
        for text in ["0", "abc", "-1", "1.5", ""] {
            let error = count::<NonZeroU32>(text).expect_err("no count");
            assert!(error.contains("a whole number from 1"), "{error}");
            assert!(error.contains(&format!("{text:?}")), "{error}");
        }
        let error = count::<NonZeroU32>("4294967296").expect_err("33 bits");
        assert_eq!(error, "\"4294967296\" is too large");
    }

    #[test]
    fn a_whole_number_may_be_zero() {
        assert_eq!(whole::<u32>("0"), Ok(0));
        for text in ["abc", "-1", "1.5", "", "99999999999999999999"] {
            let error = whole::<u32>(text).expect_err("no number");
            assert!(error.contains("a whole number from 0"), "{error}");
        }
        let error = whole::<u32>("4294967296").expect_err("33 bits");
        assert_eq!(error, "\"4294967296\" is too large");
    }

    #[test]
    fn a_circuit_is_suggested_for_a_slip_and_not_for_another_word() {
        let error = circuit("porep-3k").expect_err("no circuit");
        assert!(error.contains("did you mean porep-2k?"), "{error}");
        let error = circuit("nosuch").expect_err("no circuit");
        assert!(!error.contains("did you mean"), "{error}");
        assert!(
            error.contains("\"nosuch\"") && error.contains("winning-64g"),
            "{error}"
        );
    }

    #[test]
    fn a_setting_without_a_value_is_named() {
        let error = key_and_value("device.kind").expect_err("no value");
        assert_eq!(error, "expected KEY=VALUE, found \"device.kind\"");
    }
}
