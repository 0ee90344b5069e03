//! Real circuits through the engine with the CPU device.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cuzk_circuits::CircuitId;
use cuzk_circuits::synthetic::{SectorData, SyntheticKind, SyntheticSpec};
use cuzk_circuits::{ProofRequest, SectorSize};
use cuzk_engine::{
    CircuitSource, Engine, EngineParts, EngineSettings, FilecoinCircuits, JobOutcome, JobRequest,
    JobStatus, KeySize, KeySource, PortError,
};
use cuzk_groth16::{
    Blinding, CpuDevice, CpuSettings, OpenOptions, Partition, PreparedVerifyingKey, ProverDevice,
    ProvingKey, verify,
};
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
    assert!(timings.witness > Duration::ZERO);
    assert_eq!(engine.snapshot().totals.completed, 1);
}

/// Time of proofs one after the other, each step after the other, with what is loaded once already loaded.
fn back_to_back(requests: &[ProofRequest]) -> Duration {
    let device = CpuDevice::new(CpuSettings::default()).expect("threads start");
    let key = TestKeys.open(winning()).expect("a test key");
    let verifying_key = PreparedVerifyingKey::new(key.verifying_key());
    let loaded = device.load_key(key).expect("a sound key");
    let circuits = FilecoinCircuits::default();
    let compiled = circuits.load(winning()).expect("a circuit");
    let circuit = device
        .load_circuit(&loaded, Arc::clone(&compiled))
        .expect("the key's circuit");
    let began = Instant::now();
    for request in requests {
        let statement = circuits.decode(request).expect("decoded");
        let partition = Partition {
            circuit: circuit.clone(),
            witness: statement.witness(0, &compiled).expect("a witness"),
            blinding: Blinding::random(),
        };
        let pending = device.start(partition).expect("started");
        let proof = device.finish(pending).expect("finished");
        let inputs = statement.public_inputs(0).expect("public inputs");
        verify(&verifying_key, &inputs, &proof).expect("it verifies");
    }
    began.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "compares times, so it needs the machine to itself"]
async fn eight_proofs_take_no_longer_than_back_to_back() {
    let requests: Vec<_> = (0..8).map(request).collect();
    let alone = back_to_back(&requests);
    let device = CpuDevice::new(CpuSettings::default()).expect("threads start");
    let parts = EngineParts::new(vec![Arc::new(device)], Arc::new(TestKeys));
    let engine = Engine::start(EngineSettings::default(), parts).expect("it starts");
    engine.preload(winning()).await.expect("it loads");
    let began = Instant::now();
    let mut jobs = Vec::new();
    for request in requests {
        let submitted = engine.submit(JobRequest::new(request)).await;
        jobs.push(submitted.expect("admitted").job);
    }
    for job in jobs {
        let status = engine.wait(job, None).await.expect("it is known");
        let JobStatus::Ended(outcome) = status else {
            panic!("{status:?}")
        };
        assert!(
            matches!(&*outcome, JobOutcome::Completed { .. }),
            "{outcome:?}"
        );
    }
    let through_engine = began.elapsed();
    assert!(
        through_engine <= alone.mul_f64(1.05),
        "{through_engine:?} through the engine, {alone:?} back to back"
    );
}
