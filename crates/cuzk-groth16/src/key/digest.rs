//! Published keys are identified by the first 16 bytes of the file's blake2b-512, written in hex.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

const DIGEST_BYTES: usize = 16;

/// First 16 bytes of the blake2b-512 of a key file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyDigest([u8; DIGEST_BYTES]);

/// Why a text is not a key digest.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("digest {text:?} is not 32 hexadecimal digits")]
pub struct ParseDigestError {
    /// The text given.
    pub text: String,
}

impl KeyDigest {
    /// The digest of a file of 0 bytes: it betrays a manifest that was made from an empty file.
    pub const EMPTY_FILE: Self = Self([
        0x78, 0x6a, 0x02, 0xf7, 0x42, 0x01, 0x59, 0x03, 0xc6, 0xc6, 0xfd, 0x85, 0x25, 0x52, 0xd2,
        0x72,
    ]);

    /// The digest of `bytes`.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut hasher = DigestHasher::new();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The 16 bytes.
    pub const fn as_bytes(&self) -> &[u8; DIGEST_BYTES] {
        &self.0
    }
}

/// Computes a [`KeyDigest`] piece by piece.
#[derive(Clone, Debug)]
pub(crate) struct DigestHasher(blake2b_simd::State);

impl DigestHasher {
    pub(crate) fn new() -> Self {
        Self(blake2b_simd::State::new())
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(&self) -> KeyDigest {
        let hash = self.0.finalize();
        let mut digest = [0; DIGEST_BYTES];
        digest.copy_from_slice(&hash.as_bytes()[..DIGEST_BYTES]);
        KeyDigest(digest)
    }
}

impl fmt::Display for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        if *self == Self::EMPTY_FILE && f.alternate() {
            f.write_str(" (an empty file)")?;
        }
        Ok(())
    }
}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyDigest({self})")
    }
}

impl FromStr for KeyDigest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseDigestError {
            text: text.to_owned(),
        };
        if text.len() != 2 * DIGEST_BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(error());
        }
        let mut digest = [0; DIGEST_BYTES];
        for (byte, index) in digest.iter_mut().zip(0..) {
            let digits = &text[2 * index..2 * index + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| error())?;
        }
        Ok(Self(digest))
    }
}

impl Serialize for KeyDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeyDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_known_one() {
        assert_eq!(KeyDigest::of_bytes(&[]), KeyDigest::EMPTY_FILE);
        assert_eq!(
            format!("{:#}", KeyDigest::EMPTY_FILE),
            "786a02f742015903c6c6fd852552d272 (an empty file)"
        );
    }

    #[test]
    fn pieces_give_the_digest_of_the_whole() {
        let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let mut hasher = DigestHasher::new();
        bytes.chunks(777).for_each(|piece| hasher.update(piece));
        assert_eq!(hasher.finish(), KeyDigest::of_bytes(&bytes));
    }

    #[test]
    fn text_survives_a_round_trip_and_bad_text_is_refused_with_itself() {
        let text = "6a388072a518cf46ebd661f5cc46900a";
        let digest: KeyDigest = text.parse().expect("published digest");
        assert_eq!(digest.to_string(), text);
        for bad in [
            "",
            "6a388072a518cf46ebd661f5cc46900",
            "6a388072a518cf46ebd661f5cc46900g",
            "+a388072a518cf46ebd661f5cc46900a",
            "ä388072a518cf46ebd661f5cc46900a",
        ] {
            let error = bad.parse::<KeyDigest>().expect_err("not a digest");
            assert_eq!(error.text, bad);
        }
    }
}
