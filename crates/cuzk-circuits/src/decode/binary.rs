//! bincode whose errors say where.
//!
//! Little endian with fixed integers, as `bincode::serialize` writes. Only when parsing fails the
//! same bytes are parsed again, through a reader that counts.

use bincode::{DefaultOptions, Deserializer, Options};
use serde::de::DeserializeOwned;

use super::DecodeError;
use super::place::Place;

/// Parses all of `bytes`, the content of `field`.
pub(super) fn from_bincode<T: DeserializeOwned>(
    field: Place<'_>,
    bytes: &[u8],
) -> Result<T, DecodeError> {
    options()
        .reject_trailing_bytes()
        .deserialize(bytes)
        .map_err(|error| explain::<T>(field, bytes, error))
}

fn options() -> impl Options {
    DefaultOptions::new().with_fixint_encoding()
}

fn explain<T: DeserializeOwned>(
    field: Place<'_>,
    bytes: &[u8],
    plain: bincode::Error,
) -> DecodeError {
    let mut rest = bytes;
    let parsed = T::deserialize(&mut Deserializer::with_reader(&mut rest, options()));
    let offset = bytes.len() - rest.len();
    let field = field.to_string();
    match parsed {
        Ok(_) if !rest.is_empty() => DecodeError::TrailingBytes {
            field,
            offset,
            extra: rest.len(),
        },
        parsed => match parsed.err().unwrap_or(plain) {
            error if is_end_of_input(&error) => DecodeError::Cut { field, offset },
            source => DecodeError::Binary {
                field,
                offset,
                source,
            },
        },
    }
}

fn is_end_of_input(error: &bincode::Error) -> bool {
    matches!(&**error, bincode::ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Entry {
        #[allow(dead_code, reason = "only whether it parses is looked at")]
        number: u64,
        #[allow(dead_code, reason = "only whether it parses is looked at")]
        flags: [bool; 2],
    }

    fn parse(bytes: &[u8]) -> Result<Entry, DecodeError> {
        from_bincode(Place::root("payload").index(4), bytes)
    }

    #[test]
    fn an_error_names_the_field_and_the_byte() {
        assert!(parse(&[0; 10]).is_ok());
        let flags = [0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
        let error = parse(&flags).expect_err("7 is no flag").to_string();
        assert!(error.starts_with("payload[4] (byte 10): "), "{error}");
    }

    #[test]
    fn bytes_that_end_too_early_are_said_in_words() {
        for length in 0..10 {
            let error = parse(&[0; 10][..length]).expect_err("too short");
            assert_eq!(
                error.to_string(),
                format!("payload[4] is cut: it ends at byte {length}, where more must follow")
            );
        }
    }

    #[test]
    fn bytes_behind_the_value_are_refused() {
        let error = parse(&[0; 12]).expect_err("two bytes too many");
        assert_eq!(
            error.to_string(),
            "payload[4] ends at byte 10, but 2 bytes follow"
        );
    }
}
