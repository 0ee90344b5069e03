//! Bytes as text on the command line and in files: hexadecimal for digests, commitments and seeds,
//! hexadecimal, base64 or raw bytes for proofs. A proof file needs no flag to be told apart: the
//! first byte of a raw proof has its top bit set (a compressed point), which no text has.

use std::str::FromStr;

use anyhow::bail;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::ValueEnum;

/// How proof bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProofEncoding {
    /// Lower-case hexadecimal digits and a line end
    Hex,
    /// Standard base64 with padding and a line end
    Base64,
    /// The bytes themselves
    Raw,
}

impl ProofEncoding {
    /// The bytes to write for a proof.
    pub(crate) fn encode(self, proof: &[u8]) -> Vec<u8> {
        match self {
            Self::Hex => format!("{}\n", hex(proof)).into_bytes(),
            Self::Base64 => format!("{}\n", STANDARD.encode(proof)).into_bytes(),
            Self::Raw => proof.to_vec(),
        }
    }
}

/// Proof bytes from a file in any of the encodings.
///
/// # Errors
/// When the content is neither raw nor a text in one of the encodings.
pub(crate) fn decode_proof(content: &[u8]) -> anyhow::Result<Vec<u8>> {
    match content.first() {
        None => bail!("the file is empty"),
        Some(first) if first & 0x80 != 0 => return Ok(content.to_vec()),
        Some(_) => {}
    }
    // Tools that print either encoding break it into lines.
    let is_blank = |byte: &u8| byte.is_ascii_whitespace();
    let text: Vec<u8> = content
        .iter()
        .filter(|byte| !is_blank(byte))
        .copied()
        .collect();
    let digits = text.strip_prefix(b"0x").unwrap_or(&text);
    if digits.iter().all(u8::is_ascii_hexdigit) {
        let digits = str::from_utf8(digits).expect("hexadecimal digits are UTF-8");
        return parse_hex(digits);
    }
    STANDARD
        .decode(&text)
        .map_err(|_| anyhow::anyhow!("neither raw proof bytes nor hexadecimal nor base64"))
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Bytes from hexadecimal digits of either case, with or without `0x`.
///
/// # Errors
/// For an odd number of digits, and for anything else than a digit, with its position.
pub(crate) fn parse_hex(text: &str) -> anyhow::Result<Vec<u8>> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if let Some((position, character)) = digits
        .char_indices()
        .find(|(_, character)| !character.is_ascii_hexdigit())
    {
        bail!("{character:?} at position {position} is no hexadecimal digit");
    }
    if !digits.len().is_multiple_of(2) {
        bail!(
            "{} hexadecimal digits are no whole number of bytes",
            digits.len()
        );
    }
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => byte - b'0',
        _ => (byte | 0x20) - b'a' + 10,
    };
    let (pairs, _) = digits.as_bytes().as_chunks::<2>();
    Ok(pairs
        .iter()
        .map(|&[high, low]| digit(high) << 4 | digit(low))
        .collect())
}

/// Thirty-two bytes in hexadecimal: a commitment, a seed, randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hex32(pub(crate) [u8; 32]);

impl FromStr for Hex32 {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let bytes = parse_hex(text)?;
        match <[u8; 32]>::try_from(bytes.as_slice()) {
            Ok(bytes) => Ok(Self(bytes)),
            Err(_) => bail!("{} bytes, expected 32", bytes.len()),
        }
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
    fn a_result_file_is_read_back_in_every_encoding() {
        // A raw proof begins with a compressed point, so with the top bit set.
        let proof: Vec<u8> = (0..192_u32).map(|i| 0x80 | (i * 37) as u8).collect();
        for encoding in ProofEncoding::value_variants() {
            let content = encoding.encode(&proof);
            assert_eq!(decode_proof(&content).unwrap(), proof, "{encoding:?}");
        }
    }

    #[test]
    fn a_proof_that_a_tool_broke_into_lines_is_read() {
        let proof: Vec<u8> = (0..192_u32).map(|i| 0x80 | (i * 37) as u8).collect();
        for text in [STANDARD.encode(&proof), hex(&proof)] {
            let lines: Vec<&str> = (0..text.len())
                .step_by(76)
                .map(|start| &text[start..text.len().min(start + 76)])
                .collect();
            for end in ["\n", "\r\n"] {
                assert_eq!(decode_proof(lines.join(end).as_bytes()).unwrap(), proof);
            }
        }
        let prefixed = format!("0x{}\n", hex(&proof));
        assert_eq!(decode_proof(prefixed.as_bytes()).unwrap(), proof);
    }

    #[test]
    fn an_empty_file_and_prose_are_no_proofs() {
        assert!(decode_proof(b"").unwrap_err().to_string().contains("empty"));
        let error = decode_proof(b"not a proof").unwrap_err().to_string();
        assert!(error.contains("neither raw"), "{error}");
    }

    #[test]
    fn hexadecimal_of_either_case_is_read_and_anything_else_is_located() {
        assert_eq!(parse_hex("0xDEadBE").unwrap(), [0xde, 0xad, 0xbe]);
        assert_eq!(hex(&[0, 255]), "00ff");
        assert!(parse_hex("abc").unwrap_err().to_string().contains('3'));
        let error = parse_hex("ab\u{e4}d").unwrap_err().to_string();
        assert!(error.contains("position 2"), "{error}");
    }

    #[test]
    fn thirty_one_bytes_are_not_thirty_two() {
        let error = "00".repeat(31).parse::<Hex32>().unwrap_err().to_string();
        assert!(error.contains("31 bytes, expected 32"));
        assert_eq!("0a".repeat(32).parse::<Hex32>().unwrap().0, [10; 32]);
    }
}
