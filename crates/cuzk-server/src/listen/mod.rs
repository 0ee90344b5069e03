//! Who may reach the daemon, and how. A prover that anybody on the network can feed is a bill that somebody else runs up;
//! so what listens beyond this machine must know its clients, or be told in words that the network is trusted.

mod address;
mod credentials;
mod exposure;
mod incoming;
mod socket;
mod token;

pub use address::{Address, AddressError};
pub use credentials::{CredentialsError, TlsFiles};
pub use exposure::{Exposure, ExposureError};
pub(crate) use incoming::incoming;
pub use socket::{ListenError, Socket, SocketFile};
pub use token::{Token, TokenError};
