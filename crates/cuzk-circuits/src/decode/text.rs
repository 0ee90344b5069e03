//! JSON whose errors say where.
//!
//! Plain parsing is fast and knows a line and column at best. Only when it fails the same bytes
//! are parsed again with the path tracked.

use serde::Deserialize;

use super::DecodeError;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Parses all of `bytes`, the content of `field`.
pub(super) fn from_json<'de, T: Deserialize<'de>>(
    field: &'static str,
    bytes: &'de [u8],
) -> Result<T, DecodeError> {
    if bytes.starts_with(BYTE_ORDER_MARK) {
        return Err(DecodeError::ByteOrderMark { field });
    }
    serde_json::from_slice(bytes).map_err(|error| explain::<T>(field, bytes, error))
}

fn explain<'de, T: Deserialize<'de>>(
    field: &'static str,
    bytes: &'de [u8],
    plain: serde_json::Error,
) -> DecodeError {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let (path, fault) = match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Ok(_) => (".".to_owned(), plain),
        // Where the text ends before a key, the path ends in a question mark.
        Err(error) => match error.path().to_string().trim_end_matches(['.', '?']) {
            "" => (".".to_owned(), error.into_inner()),
            path => (path.to_owned(), error.into_inner()),
        },
    };
    DecodeError::Json {
        field,
        path,
        offset: offset(bytes, &fault),
        fault,
    }
}

/// Turns the line and column of `error` into a byte offset.
fn offset(bytes: &[u8], error: &serde_json::Error) -> usize {
    let line_start = match error.line() {
        0 | 1 => 0,
        line => bytes
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .nth(line - 2)
            .map_or(0, |(index, _)| index + 1),
    };
    (line_start + error.column().saturating_sub(1)).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Pair {
        #[allow(dead_code, reason = "only whether it parses is looked at")]
        left: Vec<u8>,
    }

    fn error(text: &str) -> (String, usize) {
        match from_json::<Pair>("payload", text.as_bytes()) {
            Err(DecodeError::Json { path, offset, .. }) => (path, offset),
            other => panic!("expected a JSON error, got {other:?}"),
        }
    }

    #[test]
    fn an_error_names_the_path_and_the_byte() {
        assert_eq!(error("x"), (".".into(), 0));
        assert_eq!(error(r#"{"left":[1,2,NaN]}"#), ("left[2]".into(), 13));
        assert_eq!(error("{\"left\":\n[1,\n\n  300]}"), ("left[1]".into(), 18));
        assert_eq!(error(r#"{"left":[]} x"#), (".".into(), 12));
        assert_eq!(error(""), (".".into(), 0));
        assert_eq!(error(r#"{"left":[]"#), (".".into(), 9));
    }

    #[test]
    fn a_place_is_given_once() {
        let error = from_json::<Pair>("payload", b"{\"left\":[256]}").expect_err("no byte");
        assert_eq!(
            error.to_string(),
            "payload at left[0] (byte 11): invalid value: integer `256`, expected u8"
        );
    }

    #[test]
    fn a_byte_order_mark_is_named() {
        let error = from_json::<Pair>("payload", "\u{feff}{}".as_bytes()).expect_err("a mark");
        assert!(
            matches!(error, DecodeError::ByteOrderMark { field: "payload" }),
            "{error}"
        );
    }
}
