//! An engine's surroundings without hardware, large circuits or waiting: what a stage costs, holds and breaks is scripted.
//!
//! Circuits are named like real ones and are tiny multiplication chains, so that proofs are real, keys are real, and a bad
//! proof is one that does not verify. Time is tokio's paused clock: a step takes its scripted duration of it and none of
//! anybody's. The same world drives tests and plans of machines that are not there.

mod circuits;
mod clock;
mod device;
mod passes;
mod script;

use std::collections::BTreeMap;
use std::sync::Arc;

use cuzk_circuits::{
    CircuitId, Family, PoRepRequest, PoStRequest, ProofRequest, SectorSize, SnapDealsRequest,
};
use cuzk_engine::{EngineParts, MemoryLimit};
use cuzk_groth16::{Footprint, OpenOptions, ProvingKey};
use tempfile::TempDir;

pub use clock::VirtualExecutor;
pub use device::FakeDevice;
pub use passes::Pass;
pub use script::{Fault, FaultKind, Script};

use crate::circuits::{MultiplicationChain, SmallCircuit, full_size};
use crate::keys;

/// A circuit that exists in a test only.
#[derive(Clone, Copy, Debug)]
pub struct FakeCircuit {
    /// Its name.
    pub id: CircuitId,
    /// Partitions of every statement.
    pub num_partitions: usize,
    /// What devices say that a partition holds.
    pub footprint: Footprint,
    /// What its key takes from the budget.
    pub key_bytes: u64,
}

impl FakeCircuit {
    /// A circuit of which a partition holds `bytes` while it waits and while it is started, a quarter of that when it is
    /// pending, and whose key takes nothing.
    pub const fn new(id: CircuitId, num_partitions: usize, bytes: usize) -> Self {
        Self {
            id,
            num_partitions,
            footprint: Footprint {
                partition_bytes: bytes,
                evaluation_bytes: 0,
                start_bytes: bytes,
                pending_bytes: bytes / 4,
                finish_bytes: bytes / 4,
            },
            key_bytes: 0,
        }
    }
}

/// A circuit with its key.
#[derive(Debug)]
struct Made {
    circuit: FakeCircuit,
    chain: MultiplicationChain,
    key: Arc<ProvingKey>,
}

/// Circuits, keys, a script and devices that follow it.
#[derive(Debug)]
pub struct FakeWorld {
    made: BTreeMap<CircuitId, Made>,
    /// What steps cost and where they fail.
    pub script: Arc<Script>,
    _folder: TempDir,
}

impl FakeWorld {
    /// A world with these circuits.
    ///
    /// # Panics
    /// When a key cannot be made: no test can go on without it.
    pub fn new(circuits: &[FakeCircuit]) -> Arc<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let made = circuits.iter().enumerate().map(|(index, circuit)| {
            // Devices tell circuits apart by their shape.
            let chain = MultiplicationChain::new((1..=index as u64 + 2).map(full_size));
            let place = folder.path().join(circuit.id.to_string());
            std::fs::create_dir_all(&place).expect("a folder for the key");
            let blank = SmallCircuit::Chain(chain.clone()).blank();
            let files = keys::for_small(blank, &place);
            let key = ProvingKey::open(files.params, &OpenOptions::default());
            let made = Made {
                circuit: *circuit,
                chain,
                key: Arc::new(key.expect("a new key opens")),
            };
            (circuit.id, made)
        });
        Arc::new(Self {
            made: made.collect(),
            script: Arc::default(),
            _folder: folder,
        })
    }

    /// What an engine on virtual time is made of, with so many devices.
    pub fn parts(self: &Arc<Self>, num_devices: usize) -> EngineParts {
        let devices = (0..num_devices).map(|index| Arc::new(FakeDevice::new(self, index)) as _);
        let mut parts = EngineParts::new(devices.collect(), Arc::clone(self) as _);
        parts.memory = Some(MemoryLimit {
            bytes: u64::MAX,
            origin: "the test",
        });
        parts.circuits = Arc::clone(self) as _;
        parts.executor = Some(Arc::new(VirtualExecutor::new(Arc::clone(&self.script))));
        parts
    }

    fn footprint_of(&self, num_aux: usize) -> Option<Footprint> {
        let mut made = self.made.values();
        let found = made.find(|made| {
            SmallCircuit::Chain(made.chain.clone())
                .expected_shape()
                .num_aux
                == num_aux
        });
        found.map(|made| made.circuit.footprint)
    }
}

/// A request for a fake circuit. Requests with equal payloads are equal.
///
/// # Panics
/// For a size other than 2 KiB or 32 GiB.
pub fn request(circuit: CircuitId, payload: &str) -> ProofRequest {
    // The position of the size among those that the network numbers.
    let size = match circuit.sector_size {
        SectorSize::Kib2 => 0,
        SectorSize::Gib32 => 3,
        other => panic!("no request for sectors of {} bytes", other.bytes()),
    };
    let sector_size = circuit.sector_size.bytes();
    let payload = payload.as_bytes().to_vec();
    let post = |first: u64| PoStRequest {
        registered_proof: first + size,
        sector_size,
        miner_id: 1000,
        randomness: vec![7; 32].into(),
        partition_index: 0,
        vanilla_proofs: vec![payload.clone().into()],
    };
    match circuit.family {
        Family::PoRep => ProofRequest::PoRep(PoRepRequest {
            registered_proof: 5 + size,
            sector_size,
            miner_id: 1000,
            sector_number: 1,
            vanilla_proof: payload.into(),
        }),
        Family::SnapDeals => ProofRequest::SnapDeals(SnapDealsRequest {
            registered_proof: size,
            sector_size,
            comm_r_old: vec![1; 32].into(),
            comm_r_new: vec![2; 32].into(),
            comm_d_new: vec![3; 32].into(),
            vanilla_proofs: vec![payload.into()],
        }),
        Family::WindowPoSt => ProofRequest::WindowPoSt(post(5)),
        Family::WinningPoSt => ProofRequest::WinningPoSt(post(0)),
    }
}
