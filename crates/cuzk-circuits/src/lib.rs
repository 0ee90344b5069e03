#![doc = include_str!("../README.md")]

mod circuit;
mod compiled;
mod decode;
mod id;
mod prover_id;
mod registered;
mod registry;
mod request;
pub mod sector;
mod shape;
mod statement;
pub mod synthetic;
mod witness;

pub use circuit::{CircuitError, CircuitVisitor, with_blank_circuit};
pub use compiled::{
    KeptCircuit, circuit_label, circuit_path, compile_circuit, load_or_compile, write_circuit,
};
pub use decode::{
    Bytes32, DecodeError, PublicData, PublicDataError, PublicPoSt, PublicSeal, PublicUpdate,
    StoredSector, decode_porep, decode_snap_deals, decode_window_post, decode_winning_post,
};
pub use id::{CircuitId, Family, SectorSize, UnknownCircuit};
pub use prover_id::prover_id;
pub use registered::{
    PoStProof, PoStVariant, SealProof, SealVariant, UnknownRegisteredProof, UpdateProof,
};
pub use registry::{CIRCUIT_SOURCES, CircuitInfo, PartitionRule};
pub use request::{PoRepRequest, PoStRequest, ProofRequest, SnapDealsRequest};
pub use statement::Statement;
pub use witness::{Block, VanillaFault, WitnessError, WitnessLayout};
