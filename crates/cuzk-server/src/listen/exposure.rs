//! The rule about networks, in one place: beyond this machine, clients prove who they are over an encrypted connection, or
//! the operator says that the network is trusted.

use thiserror::Error;

use super::Address;

/// What protects the listeners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "four independent facts of the configuration"
)]
pub struct Exposure {
    /// The server shows a certificate.
    pub tls: bool,
    /// Clients show a certificate.
    pub client_certificates: bool,
    /// Clients show a token.
    pub token: bool,
    /// Everybody who can connect is welcome, says the operator.
    pub trusted_network: bool,
}

/// Why an address is not listened on.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ExposureError {
    /// Nothing tells clients from strangers.
    #[error(
        "{address} can be reached from other machines, and nothing tells clients from strangers: set tls.certificate and \
         tls.key, with token_file or tls.client_ca, or listen on 127.0.0.1, or say trusted_network = true"
    )]
    Open {
        /// The address.
        address: Address,
    },
    /// A token would travel in the clear.
    #[error(
        "{address} can be reached from other machines, and the token would travel unencrypted: set tls.certificate and \
         tls.key, or listen on 127.0.0.1, or say trusted_network = true"
    )]
    TokenInTheClear {
        /// The address.
        address: Address,
    },
    /// The admin pages have no protection of their own.
    #[error(
        "admin address {address} can be reached from other machines and the admin pages ask nobody who they are: listen on \
         127.0.0.1, or say trusted_network = true"
    )]
    Admin {
        /// The address.
        address: Address,
    },
}

impl Exposure {
    /// Whether gRPC may be served on an address.
    ///
    /// # Errors
    /// With what is missing.
    pub fn permit(&self, address: &Address) -> Result<(), ExposureError> {
        if address.is_local() || self.trusted_network {
            return Ok(());
        }
        let address = address.clone();
        match (self.tls, self.client_certificates, self.token) {
            (true, true, _) | (true, _, true) => Ok(()),
            (false, _, true) => Err(ExposureError::TokenInTheClear { address }),
            _ => Err(ExposureError::Open { address }),
        }
    }

    /// Whether the admin pages may be served on an address.
    ///
    /// # Errors
    /// When it is not local and the network is not said to be trusted.
    pub fn permit_admin(&self, address: &Address) -> Result<(), ExposureError> {
        if address.is_local() || self.trusted_network {
            return Ok(());
        }
        Err(ExposureError::Admin {
            address: address.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        text.parse().expect("an address")
    }

    #[test]
    fn this_machine_needs_nothing() {
        for text in ["127.0.0.1:1", "unix:/a", "localhost:1"] {
            let open = Exposure::default();
            assert_eq!(open.permit(&address(text)), Ok(()));
            assert_eq!(open.permit_admin(&address(text)), Ok(()));
        }
    }

    #[test]
    fn beyond_this_machine_encryption_and_a_way_to_know_clients_are_both_needed() {
        let everywhere = address("0.0.0.0:9820");
        for bits in 0..8_u8 {
            let exposure = Exposure {
                tls: bits & 1 != 0,
                client_certificates: bits & 2 != 0,
                token: bits & 4 != 0,
                trusted_network: false,
            };
            let enough = exposure.tls && (exposure.client_certificates || exposure.token);
            let permitted = exposure.permit(&everywhere);
            assert_eq!(permitted.is_ok(), enough, "{exposure:?}");
            if let Err(error) = permitted {
                assert!(error.to_string().contains("0.0.0.0:9820"), "{error}");
            }
        }
    }

    #[test]
    fn a_trusted_network_is_trusted_for_everything() {
        let exposure = Exposure {
            trusted_network: true,
            ..Exposure::default()
        };
        assert_eq!(exposure.permit(&address("0.0.0.0:1")), Ok(()));
        assert_eq!(exposure.permit_admin(&address("10.0.0.1:1")), Ok(()));
    }

    #[test]
    fn the_admin_pages_stay_on_this_machine_whatever_protects_the_rest() {
        let exposure = Exposure {
            tls: true,
            client_certificates: true,
            token: true,
            trusted_network: false,
        };
        assert!(exposure.permit_admin(&address("[::]:1")).is_err());
    }
}
