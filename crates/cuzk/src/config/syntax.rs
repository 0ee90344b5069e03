//! How values are written. A value is read from TOML, from a variable and from an option by one parser each, and the two
//! agree: what a file says as `"8GiB"` or `["a", "b"]`, a variable says as `8GiB` or `a,b`.

use std::{fmt, time::Duration};

use cuzk_server::listen::Address;
use toml::de::DeValue;

use crate::{
    device_choice::{DEVICES, DeviceChoice},
    option_values::circuit,
};

/// What a value must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// Anything.
    Text,
    /// `true` or `false`.
    Flag,
    /// A whole number from one.
    Count,
    /// Bytes, with a binary unit.
    Bytes,
    /// A time, with a unit.
    Time,
    /// Permission bits, in octal digits.
    Mode,
    /// An address.
    Address,
    /// Addresses.
    Addresses,
    /// Circuits by id.
    Circuits,
    /// What proves.
    Device,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// A value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Text, a path or a word.
    Text(String),
    /// A flag.
    Flag(bool),
    /// A count, permission bits, or bytes.
    Number(u64),
    /// A time.
    Time(Duration),
    /// Several texts.
    List(Vec<String>),
}

const BYTE_UNITS: [(&str, u64); 5] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];
const TIME_UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1000),
    ("min", 60 * 1000),
    ("h", 3600 * 1000),
    ("d", 24 * 3600 * 1000),
];

impl fmt::Display for Syntax {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => formatter.write_str("text"),
            Self::Flag => formatter.write_str("true or false"),
            Self::Count => formatter.write_str("a whole number from 1"),
            Self::Bytes => {
                formatter.write_str("bytes with a unit (B, KiB, MiB, GiB or TiB), such as 8GiB")
            }
            Self::Time => formatter.write_str("a time with a unit, such as 90s or 10min"),
            Self::Mode => formatter.write_str("permission bits in octal digits, such as 0660"),
            Self::Address => formatter.write_str("HOST:PORT or unix:/path"),
            Self::Addresses => formatter.write_str("a list of HOST:PORT or unix:/path"),
            Self::Circuits => formatter.write_str("a list of circuits, such as winning-32g"),
            Self::Device => formatter.write_str(DEVICES),
            Self::Choice(words) => formatter.write_str(&words.join(" or ")),
        }
    }
}

impl Syntax {
    /// Reads the text of a variable or an option; lists are separated by commas.
    ///
    /// # Errors
    /// What was expected, in words.
    pub(crate) fn read_text(self, text: &str) -> Result<Value, String> {
        match self {
            Self::Text if text.is_empty() => Err("expected text, found nothing".to_owned()),
            Self::Text => Ok(Value::Text(text.to_owned())),
            Self::Flag => match text {
                "true" => Ok(Value::Flag(true)),
                "false" => Ok(Value::Flag(false)),
                _ => Err(self.mismatch(text)),
            },
            Self::Count => match text.parse() {
                Ok(count @ 1..) => Ok(Value::Number(count)),
                _ => Err(self.mismatch(text)),
            },
            Self::Bytes => self.scaled(text, &BYTE_UNITS).map(Value::Number),
            Self::Time => self
                .scaled(text, &TIME_UNITS)
                .map(|ms| Value::Time(Duration::from_millis(ms))),
            Self::Mode => match u32::from_str_radix(text, 8) {
                Ok(bits @ 0..=0o777) => Ok(Value::Number(bits.into())),
                _ => Err(self.mismatch(text)),
            },
            Self::Address => {
                expect_address(text)?;
                Ok(Value::Text(text.to_owned()))
            }
            Self::Addresses | Self::Circuits => {
                let words = text
                    .split(',')
                    .map(str::trim)
                    .filter(|word| !word.is_empty());
                self.list(words.map(str::to_owned).collect())
            }
            Self::Device => match text.parse::<DeviceChoice>() {
                Ok(_) => Ok(Value::Text(text.to_owned())),
                Err(error) => Err(error),
            },
            Self::Choice(words) if words.contains(&text) => Ok(Value::Text(text.to_owned())),
            Self::Choice(_) => Err(self.mismatch(text)),
        }
    }

    /// Reads a value of a TOML file.
    ///
    /// # Errors
    /// What was expected, in words.
    pub(crate) fn read_toml(self, value: &DeValue<'_>) -> Result<Value, String> {
        match (self, value) {
            (Self::Addresses | Self::Circuits, DeValue::Array(items)) => {
                let words: Option<Vec<String>> = items
                    .iter()
                    .map(|item| item.get_ref().as_str().map(str::to_owned))
                    .collect();
                self.list(words.ok_or_else(|| format!("expected {self}"))?)
            }
            (Self::Flag, DeValue::Boolean(flag)) => Ok(Value::Flag(*flag)),
            (Self::Count, DeValue::Integer(number)) => self.read_text(number.as_str()),
            (Self::Flag | Self::Count | Self::Addresses | Self::Circuits, _) => {
                Err(format!("expected {self}, found {}", type_name(value)))
            }
            (_, DeValue::String(text)) => self.read_text(text),
            _ => Err(format!(
                "expected {self} in quotes, found {}",
                type_name(value)
            )),
        }
    }

    fn list(self, words: Vec<String>) -> Result<Value, String> {
        for word in &words {
            match self {
                Self::Circuits => {
                    circuit(word)?;
                }
                _ => expect_address(word)?,
            }
        }
        Ok(Value::List(words))
    }

    /// A whole number with a unit; a number without one has no meaning.
    fn scaled(self, text: &str, units: &[(&str, u64)]) -> Result<u64, String> {
        let digits =
            text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == ' ');
        let unit = text[digits.len()..].trim_start();
        let factor = units.iter().find(|(name, _)| *name == unit);
        match (factor, digits.parse::<u64>()) {
            (Some((_, factor)), Ok(number)) => number
                .checked_mul(*factor)
                .ok_or_else(|| format!("{text:?} is too large")),
            _ => Err(self.mismatch(text)),
        }
    }

    fn mismatch(self, found: &str) -> String {
        format!("expected {self}, found {found:?}")
    }
}

impl fmt::Display for Value {
    /// As TOML.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(formatter, "{text:?}"),
            Self::Flag(flag) => write!(formatter, "{flag}"),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Time(time) => write!(formatter, "\"{}\"", unscaled_time(*time)),
            Self::List(words) => write!(formatter, "{words:?}"),
        }
    }
}

impl Value {
    /// As TOML that the setting's parser reads back.
    pub(crate) fn to_toml(&self, syntax: Syntax) -> String {
        match (self, syntax) {
            (Self::Number(bytes), Syntax::Bytes) => {
                format!("\"{}\"", unscaled(*bytes, &BYTE_UNITS))
            }
            (Self::Number(bits), Syntax::Mode) => format!("\"{bits:04o}\""),
            _ => self.to_string(),
        }
    }
}

fn expect_address(text: &str) -> Result<(), String> {
    match text.parse::<Address>() {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn unscaled(number: u64, units: &[(&str, u64)]) -> String {
    let largest = units
        .iter()
        .filter(|(_, factor)| number.is_multiple_of(*factor))
        .max_by_key(|(_, factor)| if number == 0 { 0 } else { *factor });
    largest.map_or_else(
        || number.to_string(),
        |(name, factor)| format!("{}{name}", number / factor),
    )
}

fn unscaled_time(time: Duration) -> String {
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    unscaled(ms, &TIME_UNITS)
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test and says where"
)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_its_unit_is_refused() {
        for (syntax, text) in [
            (Syntax::Bytes, "1024"),
            (Syntax::Bytes, "1 GB"),
            (Syntax::Bytes, "-1B"),
            (Syntax::Bytes, "1.5GiB"),
            (Syntax::Time, "10"),
            (Syntax::Time, "1.5h"),
            (Syntax::Count, "0"),
            (Syntax::Mode, "0999"),
            (Syntax::Mode, "1777"),
            (Syntax::Flag, "yes"),
            (Syntax::Text, ""),
            (Syntax::Choice(&["text", "json"]), "xml"),
        ] {
            let error = syntax.read_text(text).unwrap_err();
            assert!(
                error.contains(&syntax.to_string()) || text.is_empty(),
                "{error}"
            );
        }
    }

    #[test]
    fn a_number_that_does_not_fit_is_told_from_one_that_is_none() {
        for (syntax, text) in [
            (Syntax::Bytes, "99999999TiB"),
            (Syntax::Time, "999999999999999d"),
        ] {
            let error = syntax.read_text(text).unwrap_err();
            assert_eq!(error, format!("{text:?} is too large"));
        }
        let error = Syntax::Bytes.read_text("16GB").unwrap_err();
        assert!(
            error.contains("GiB") && error.contains("\"16GB\""),
            "{error}"
        );
    }

    #[test]
    fn a_value_is_read_back_from_what_it_prints() {
        for (syntax, text) in [
            (Syntax::Bytes, "8GiB"),
            (Syntax::Bytes, "0B"),
            (Syntax::Bytes, "1025B"),
            (Syntax::Time, "90s"),
            (Syntax::Time, "2d"),
            (Syntax::Mode, "0660"),
            (Syntax::Count, "3"),
            (Syntax::Flag, "true"),
            (Syntax::Addresses, "127.0.0.1:1,unix:/a"),
            (Syntax::Circuits, "winning-2k"),
            (Syntax::Text, "a \"b\""),
        ] {
            let value = syntax.read_text(text).unwrap();
            let toml = format!("x = {}", value.to_toml(syntax));
            let table = toml::de::DeTable::parse(&toml).unwrap();
            let (_, read) = table.get_ref().iter().next().unwrap();
            assert_eq!(syntax.read_toml(read.get_ref()).unwrap(), value, "{toml}");
        }
    }

    #[test]
    fn a_file_must_quote_what_has_a_unit() {
        let table = toml::de::DeTable::parse("x = 8").unwrap();
        let (_, value) = table.get_ref().iter().next().unwrap();
        let error = Syntax::Bytes.read_toml(value.get_ref()).unwrap_err();
        assert!(
            error.contains("8GiB") && error.contains("whole number"),
            "{error}"
        );
    }

    #[test]
    fn an_unknown_circuit_in_a_list_is_named_with_the_nearest() {
        let error = Syntax::Circuits
            .read_text("winning-2k,wining-32g")
            .unwrap_err();
        assert!(error.contains("winning-32g"), "{error}");
    }
}
