//! Real circuits through the engine with the CPU device.

use std::sync::Arc;

use cuzk_circuits::CircuitId;
use cuzk_circuits::synthetic::{SectorData, SyntheticKind, SyntheticSpec};
use cuzk_circuits::{ProofRequest, SectorSize};
use cuzk_engine::{
    Engine, EngineParts, EngineSettings, JobOutcome, JobRequest, JobStatus, KeySize, KeySource,
    PortError,
};
use cuzk_groth16::{CpuDevice, CpuSettings, OpenOptions, ProvingKey};
use cuzk_testkit::keys;

/// Development keys of the testkit.
struct TestKeys;

impl KeySource for TestKeys {
    fn circuits(&self) -> Vec<CircuitId> {
        vec![winning()]
    }

    fn size(&self, circuit: CircuitId) -> Result<KeySize, PortError> {
        Ok(KeySize {
            file_bytes: self.open(circuit)?.file_bytes(),
            budget_bytes: 0,
        })
    }

    fn open(&self, circuit: CircuitId) -> Result<Arc<ProvingKey>, PortError> {
        let path = keys::for_circuit(circuit).params;
        let key = ProvingKey::open(path, &OpenOptions::default()).expect("a test key opens");
        Ok(Arc::new(key))
    }
}

fn winning() -> CircuitId {
    "winning-2k".parse().expect("a circuit id")
}

fn request(seed: u64) -> ProofRequest {
    let spec = SyntheticSpec {
        kind: SyntheticKind::WinningPoSt,
        sector_size: SectorSize::Kib2,
        seed,
        data: SectorData::Zero,
    };
    spec.request().expect("a synthetic sector")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_winning_post_is_proved_and_a_bad_one_is_refused() {
    let device = CpuDevice::new(CpuSettings::default()).expect("threads start");
    let parts = EngineParts::new(vec![Arc::new(device)], Arc::new(TestKeys));
    let engine = Engine::start(EngineSettings::default(), parts).expect("it starts");
    let good = engine
        .submit(JobRequest::new(request(1)))
        .await
        .expect("admitted");
    let ProofRequest::WinningPoSt(mut cut) = request(2) else {
        panic!("another family")
    };
    cut.vanilla_proofs[0].truncate(100);
    let refused = engine
        .submit(JobRequest::new(ProofRequest::WinningPoSt(cut)))
        .await
        .expect_err("refused");
    assert_eq!(refused.class(), cuzk_engine::ErrorClass::Invalid);

    let status = engine.wait(good.job, None).await.expect("it is known");
    let JobStatus::Ended(outcome) = status else {
        panic!("{status:?}")
    };
    let JobOutcome::Completed { proof, timings, .. } = &*outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(proof.bytes().len(), 192);
    assert!(timings.witness > std::time::Duration::ZERO);
    assert_eq!(engine.snapshot().totals.completed, 1);
}
