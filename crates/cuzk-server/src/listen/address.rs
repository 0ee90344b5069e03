//! Where a service is found. Clients and the daemon name the same places, so they share one type with one parser and one
//! printer.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    path::{Path, PathBuf},
    str::FromStr,
};

use thiserror::Error;

/// How the path of a socket is announced.
const UNIX_PREFIX: &str = "unix:";

/// A TCP address or a unix socket.
///
/// Parsed from `HOST:PORT`, `[IPV6]:PORT`, `unix:/path` or `unix:///path`; `http://` and `https://` before a host are
/// understood and dropped. Printed as `HOST:PORT` or `unix:/path`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host by name or number, without brackets, and a port; port 0 lets the system choose when listening.
    Tcp {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// A socket in the file system, by its absolute path.
    Unix(PathBuf),
}

impl Address {
    /// Whether only this machine can connect: a unix socket, `localhost`, or a number of the loopback network. A name
    /// that would have to be resolved is not.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Tcp { host, .. } => {
                host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
            }
        }
    }

    /// The address under which a listener on this address is reached from the same machine: the unspecified address
    /// becomes loopback.
    #[must_use]
    pub fn reachable(&self) -> Self {
        match self {
            Self::Tcp { host, port } => {
                let host = match host.parse::<IpAddr>() {
                    Ok(IpAddr::V4(ip)) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.to_string(),
                    Ok(IpAddr::V6(ip)) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.to_string(),
                    _ => host.clone(),
                };
                Self::Tcp { host, port: *port }
            }
            Self::Unix(path) => Self::Unix(path.clone()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => {
                write!(formatter, "[{host}]:{port}")
            }
            Self::Tcp { host, port } => write!(formatter, "{host}:{port}"),
            Self::Unix(path) => write!(formatter, "{UNIX_PREFIX}{}", path.display()),
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let error = |reason| AddressError {
            found: text.to_owned(),
            reason,
        };
        if let Some(rest) = text.strip_prefix(UNIX_PREFIX) {
            let path = Path::new(rest.strip_prefix("//").unwrap_or(rest));
            return if path.is_absolute() {
                Ok(Self::Unix(path.to_owned()))
            } else {
                Err(error("the path of a unix socket must be absolute"))
            };
        }
        let authority = ["http://", "https://"]
            .iter()
            .find_map(|scheme| text.strip_prefix(scheme))
            .unwrap_or(text)
            .trim_end_matches('/');
        let (host, port) = authority.rsplit_once(':').ok_or(error("no port"))?;
        let port = port
            .parse()
            .map_err(|_| error("the port is no number below 65536"))?;
        let bracketed = host
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let host = match bracketed {
            Some(inside) if inside.parse::<Ipv6Addr>().is_ok() => inside,
            Some(_) => return Err(error("no IPv6 address between the brackets")),
            None => host,
        };
        let is_name = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        };
        if host.is_empty() {
            return Err(error("no host"));
        }
        if bracketed.is_none() && !is_name(host) {
            return Err(error(
                "the host is no name and no number; IPv6 goes in brackets",
            ));
        }
        Ok(Self::Tcp {
            host: host.to_owned(),
            port,
        })
    }
}

/// Text that names no address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{found:?} is no address: {reason}; give HOST:PORT or unix:/path")]
pub struct AddressError {
    /// What was given.
    pub found: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Address {
        text.parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn an_address_is_parsed_from_what_it_prints() {
        for text in [
            "127.0.0.1:9820",
            "[::1]:0",
            "prover.example:443",
            "unix:/run/cuzk.sock",
        ] {
            assert_eq!(parsed(text).to_string(), text);
        }
    }

    #[test]
    fn the_spellings_of_other_tools_mean_the_same() {
        assert_eq!(
            parsed("unix:///run/cuzk.sock"),
            parsed("unix:/run/cuzk.sock")
        );
        assert_eq!(parsed("http://localhost:9820/"), parsed("localhost:9820"));
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "no port"),
            ("localhost", "no port"),
            (":9820", "no host"),
            ("localhost:99999", "below 65536"),
            ("::1:9820", "brackets"),
            ("[::x]:1", "brackets"),
            ("a b:1", "no name"),
            ("unix:run/cuzk.sock", "absolute"),
            ("unix:", "absolute"),
        ] {
            let error = text.parse::<Address>().expect_err(text).to_string();
            assert!(error.contains(reason), "{text}: {error}");
            assert!(error.contains(&format!("{text:?}")), "{error}");
        }
    }

    #[test]
    fn only_this_machine_is_local_and_a_name_is_not_trusted_to_be() {
        for text in [
            "127.0.0.1:1",
            "127.9.9.9:1",
            "[::1]:1",
            "localhost:1",
            "unix:/a",
        ] {
            assert!(parsed(text).is_local(), "{text}");
        }
        for text in ["0.0.0.0:1", "[::]:1", "10.0.0.1:1", "localhost.example:1"] {
            assert!(!parsed(text).is_local(), "{text}");
        }
    }

    #[test]
    fn the_unspecified_address_is_reached_through_loopback() {
        assert_eq!(parsed("0.0.0.0:7").reachable(), parsed("127.0.0.1:7"));
        assert_eq!(parsed("[::]:7").reachable(), parsed("[::1]:7"));
        assert_eq!(parsed("a:7").reachable(), parsed("a:7"));
    }
}
