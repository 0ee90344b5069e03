//! From a request to a statement.
//!
//! A request comes from another process and may be anything. Decoding refuses whatever could not
//! be proved, says where the fault lies, allocates in proportion to honest input only, and never
//! panics. What passes synthesizes without a panic, too.

mod binary;
mod bounded;
mod checks;
mod commit1;
mod error;
mod merkle;
mod place;
mod porep;
mod post;
mod public;
mod text;
mod update;

pub use error::{Bytes32, DecodeError};
pub use porep::decode_porep;
pub use post::{decode_window_post, decode_winning_post};
pub use public::{PublicData, PublicDataError, PublicPoSt, PublicSeal, PublicUpdate, StoredSector};
pub use update::decode_snap_deals;

use crate::id::CircuitId;
use crate::registered::{PoStProof, SealProof, UpdateProof};
use crate::request::ProofRequest;
use crate::statement::Statement;

impl ProofRequest {
    /// The circuit that the request needs, from its header alone.
    ///
    /// # Errors
    /// When the registered proof is unknown or of another family.
    pub fn circuit_id(&self) -> Result<CircuitId, DecodeError> {
        let id = match self {
            Self::PoRep(request) => SealProof::from_number(request.registered_proof)?.circuit_id(),
            Self::SnapDeals(request) => {
                UpdateProof::from_number(request.registered_proof)?.circuit_id()
            }
            Self::WindowPoSt(request) | Self::WinningPoSt(request) => {
                let proof = PoStProof::from_number(request.registered_proof)?;
                if proof.variant.family() != self.family() {
                    return Err(DecodeError::Family {
                        proof: proof.to_string(),
                        family: self.family(),
                    });
                }
                proof.circuit_id()
            }
        };
        Ok(id)
    }

    /// Decodes and checks the request.
    ///
    /// # Errors
    /// With the field, the path or the byte, what was expected and what was found.
    pub fn decode(&self) -> Result<Statement, DecodeError> {
        match self {
            Self::PoRep(request) => decode_porep(request),
            Self::SnapDeals(request) => decode_snap_deals(request),
            Self::WindowPoSt(request) => decode_window_post(request),
            Self::WinningPoSt(request) => decode_winning_post(request),
        }
    }
}
