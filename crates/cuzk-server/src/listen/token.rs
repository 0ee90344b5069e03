//! A shared secret that clients show with each call. It is compared in a time that does not depend on how much of it was
//! right, and never printed.

use std::{fmt, fs, io, path::Path};

use subtle::ConstantTimeEq as _;
use thiserror::Error;
use tonic::{Request, Status, metadata::AsciiMetadataValue};

/// Shortest token that is no invitation to guess.
const MIN_LENGTH: usize = 16;
const SCHEME: &str = "Bearer ";

/// A bearer token.
#[derive(Clone)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(hidden)")
    }
}

/// Why there is no token.
#[derive(Debug, Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("reading the token file {path}: {source}")]
    Read {
        /// Which file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// Too few characters.
    #[error("the token in {path} has {found} characters, at least {MIN_LENGTH} are needed")]
    Short {
        /// Which file.
        path: String,
        /// Its length.
        found: usize,
    },
    /// It cannot be sent in a header.
    #[error("the token in {path} has characters other than visible ASCII")]
    Characters {
        /// Which file.
        path: String,
    },
}

impl Token {
    /// Reads a token from a file; white space around it is none of it.
    ///
    /// # Errors
    /// With the file's name, when it cannot be read or holds no good token.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|source| TokenError::Read {
            path: name.clone(),
            source,
        })?;
        let token = text.trim();
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Characters { path: name });
        }
        if token.len() < MIN_LENGTH {
            return Err(TokenError::Short {
                path: name,
                found: token.len(),
            });
        }
        Ok(Self(token.to_owned()))
    }

    /// The value of the header `authorization` that shows this token.
    ///
    /// # Panics
    /// Never: a token is visible ASCII.
    pub fn header(&self) -> AsciiMetadataValue {
        format!("{SCHEME}{}", self.0)
            .parse()
            .expect("visible ASCII is a header value")
    }

    /// Lets a call pass that shows this token.
    ///
    /// # Errors
    /// UNAUTHENTICATED, without a word about what was shown.
    #[allow(
        clippy::result_large_err,
        reason = "the interceptors of the gRPC library return its status by value"
    )]
    pub(crate) fn admit(&self, request: Request<()>) -> Result<Request<()>, Status> {
        let shown = request
            .metadata()
            .get("authorization")
            .and_then(|value| value.as_bytes().strip_prefix(SCHEME.as_bytes()));
        let admitted = shown.is_some_and(|shown| bool::from(shown.ct_eq(self.0.as_bytes())));
        if admitted {
            return Ok(request);
        }
        Err(Status::unauthenticated(
            "this engine asks for a token: send it as `authorization: Bearer TOKEN`",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123";

    fn read(content: &str) -> Result<Token, TokenError> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), content).expect("write");
        Token::read(file.path())
    }

    fn showing(value: Option<&str>) -> Request<()> {
        let mut request = Request::new(());
        if let Some(value) = value {
            let value = value.parse().expect("a header value");
            request.metadata_mut().insert("authorization", value);
        }
        request
    }

    #[test]
    fn only_the_whole_token_is_admitted() {
        let token = read(&format!("{TOKEN}\n")).expect("a token");
        let good = format!("Bearer {TOKEN}");
        assert!(token.admit(showing(Some(&good))).is_ok());
        assert_eq!(token.header(), good);
        for shown in [
            None,
            Some(""),
            Some("Bearer "),
            Some(TOKEN),
            Some(&good[..20]),
        ] {
            let status = token.admit(showing(shown)).expect_err("no token");
            assert_eq!(status.code(), tonic::Code::Unauthenticated);
            assert!(!status.message().contains(TOKEN));
        }
    }

    #[test]
    fn empty_short_and_unsendable_tokens_are_refused() {
        for content in [
            "",
            "short",
            "with space in the middle",
            "ümlaut-and-long-enough",
        ] {
            assert!(read(content).is_err(), "{content}");
        }
    }

    #[test]
    fn a_token_is_never_printed() {
        let token = read(TOKEN).expect("a token");
        assert!(!format!("{token:?}").contains(TOKEN));
    }
}
