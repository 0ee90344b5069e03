//! The same proofs without an engine: on the same device, with the same key and circuit, one step after the other. What an
//! engine adds or hides is the difference.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use cuzk_circuits::{CircuitId, ProofRequest};
use cuzk_groth16::{Blinding, PreparedVerifyingKey, ProverDevice};
use cuzk_server::process;

use super::keys::OpenKeys;
use crate::{
    circuits::load_or_compile, direct::DirectProver, output::Output, request_args::decode,
    verification::verify_statement,
};

/// What the proofs are made with.
pub(super) struct BackToBack<'a> {
    pub(super) device: &'a Arc<dyn ProverDevice>,
    pub(super) keys: &'a OpenKeys,
    pub(super) requests: &'a BTreeMap<CircuitId, ProofRequest>,
    pub(super) output: &'a Output,
}

/// Time of proofs, without what is loaded once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    pub(super) num_proofs: usize,
    pub(super) wall: Duration,
    /// Of all threads.
    pub(super) cpu: Duration,
}

/// A circuit that is ready.
struct Ready {
    prover: DirectProver,
    verifying_key: PreparedVerifyingKey,
}

impl BackToBack<'_> {
    /// Makes and verifies the proofs of these circuits, in order. Each circuit is proved once beforehand where `warm_up`
    /// says so: whoever comes first would pay for the pages of the key.
    ///
    /// # Errors
    /// As those of any command that proves.
    pub(super) fn run(&self, schedule: &[CircuitId], warm_up: bool) -> anyhow::Result<Spent> {
        let circuits: BTreeSet<CircuitId> = schedule.iter().copied().collect();
        let ready = circuits
            .into_iter()
            .map(|id| anyhow::Ok((id, self.load(id)?)))
            .collect::<anyhow::Result<BTreeMap<_, _>>>()?;
        if warm_up {
            let _step = self.output.step("warming up");
            for (&id, circuit) in &ready {
                self.prove(id, circuit)?;
            }
        }
        let step = self.output.bar("back to back", schedule.len() as u64);
        let began = Instant::now();
        let cpu_before = process::cpu_time().unwrap_or_default();
        for (index, &id) in schedule.iter().enumerate() {
            self.prove(id, &ready[&id])?;
            step.set(index as u64 + 1, schedule.len() as u64);
        }
        Ok(Spent {
            num_proofs: schedule.len(),
            wall: began.elapsed(),
            cpu: process::cpu_time()
                .unwrap_or_default()
                .saturating_sub(cpu_before),
        })
    }

    fn load(&self, id: CircuitId) -> anyhow::Result<Ready> {
        let key = self.keys.key(id)?;
        let circuit = load_or_compile(self.keys.folder(), id, self.output)?;
        Ok(Ready {
            verifying_key: PreparedVerifyingKey::new(key.verifying_key()),
            prover: DirectProver::load(Arc::clone(self.device), key, id, circuit)?,
        })
    }

    fn prove(&self, id: CircuitId, circuit: &Ready) -> anyhow::Result<()> {
        let statement = decode(&self.requests[&id])?;
        let mut proof = Vec::new();
        for partition in 0..statement.num_partitions() {
            let blinding = Blinding::random();
            let (made, _) = circuit.prover.prove(&statement, partition, blinding)?;
            proof.extend_from_slice(&made.to_bytes());
        }
        verify_statement(&statement, &circuit.verifying_key, &proof)
    }
}

impl std::ops::Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            num_proofs: self.num_proofs + other.num_proofs,
            wall: self.wall + other.wall,
            cpu: self.cpu + other.cpu,
        }
    }
}
