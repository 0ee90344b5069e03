//! Request to statement.

use std::sync::Arc;

use cuzk_circuits::ProofRequest;

use crate::error::PortError;
use crate::ports::{CircuitSource, Provable};

/// Decodes a request.
pub(crate) fn decode(
    circuits: &dyn CircuitSource,
    request: &ProofRequest,
) -> Result<Arc<dyn Provable>, PortError> {
    circuits.decode(request)
}
