//! A daemon whose only device is lost: clients are told, it ends at once, and another one takes up its jobs.

use std::{path::Path, time::Duration};

use cuzk_circuits::CircuitId;
use cuzk_engine::{Engine, EngineSettings, Stage};
use cuzk_proto::v1::{
    AwaitProofRequest, ProofKind, SubmitProofRequest, await_proof_response,
    proving_engine_client::ProvingEngineClient,
};
use cuzk_server::{
    Drained, ServeError, Server, ServerSettings,
    journal::{Journal, JournalSettings, Retention},
};
use cuzk_testkit::fake::{FakeCircuit, FakeWorld, Fault, FaultKind};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::{Code, transport::Channel};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

/// Longer than a daemon that waits for nothing takes to end.
const PATIENCE: Duration = Duration::from_mins(1);

/// A daemon over a journal, with a device of its own.
struct Daemon {
    address: String,
    served: JoinHandle<Result<Drained, ServeError>>,
    stop: CancellationToken,
}

impl Daemon {
    /// Starts a daemon whose device is lost when it starts its first partition, or never.
    async fn start(folder: &Path, is_lost: bool) -> Result<Self, ServeError> {
        let circuit: CircuitId = "winning-2k".parse().expect("a circuit");
        let world = FakeWorld::new(&[FakeCircuit::new(circuit, 1, 4 << 20)]);
        // A client has time to ask for the job.
        world
            .script
            .takes(Stage::Witness, Duration::from_millis(200));
        world.script.fail(Fault {
            stage: Stage::Start,
            device: Some(0),
            kind: FaultKind::Lost,
            times: usize::from(is_lost),
        });
        let settings = EngineSettings {
            budget_bytes: Some(1 << 30),
            ..EngineSettings::default()
        };
        let engine = Engine::start(settings, world.parts(1)).expect("the engine starts");
        let server = Server::bind(server_settings(folder), engine).await?;
        let address = server.addresses().expect("it listens")[0].to_string();
        let stop = CancellationToken::new();
        Ok(Self {
            address: format!("http://{address}"),
            served: tokio::spawn(server.run(stop.clone())),
            stop,
        })
    }

    async fn connect(&self) -> Channel {
        let endpoint = Channel::from_shared(self.address.clone()).expect("an address");
        endpoint.connect().await.expect("it answers")
    }

    /// Waits for the end, and until nothing holds the journal any more.
    async fn ended(self, folder: &Path) -> Result<Drained, ServeError> {
        let ended = tokio::time::timeout(PATIENCE, self.served).await;
        let freed = async {
            while Journal::open(&journal_settings(folder)).is_err() {
                tokio::task::yield_now().await;
            }
        };
        let freed = tokio::time::timeout(PATIENCE, freed).await;
        freed.expect("its tasks end with it");
        ended.expect("it ends").expect("no panic")
    }
}

fn server_settings(folder: &Path) -> ServerSettings {
    ServerSettings {
        listen: vec!["127.0.0.1:0".parse().expect("an address")],
        unix_mode: 0o600,
        admin: None,
        max_message_bytes: 1 << 20,
        tls: None,
        token: None,
        trusted_network: false,
        journal: Some(journal_settings(folder)),
        // A drain would outlast the test.
        drain_deadline: 10 * PATIENCE,
    }
}

fn journal_settings(folder: &Path) -> JournalSettings {
    JournalSettings {
        folder: folder.to_owned(),
        reserve_bytes: 0,
        retention: Retention {
            max_age: Duration::from_hours(1),
            max_results: 10,
            max_bytes: 1 << 20,
        },
    }
}

fn message() -> SubmitProofRequest {
    SubmitProofRequest {
        proof_kind: ProofKind::WinningPost.into(),
        sector_size: 2048,
        miner_id: 1000,
        randomness: vec![7; 32].into(),
        vanilla_proofs: vec![b"a sector".to_vec().into()],
        ..SubmitProofRequest::default()
    }
}

/// Cuts the last byte off every payload, or removes the files.
fn damage_payloads(folder: &Path, is_gone: bool) {
    let payloads = std::fs::read_dir(folder.join("payloads")).expect("payloads");
    let mut count = 0;
    for payload in payloads {
        let path = payload.expect("an entry").path();
        if is_gone {
            std::fs::remove_file(&path).expect("it is removed");
        } else {
            let file = std::fs::File::options().write(true).open(&path);
            let file = file.expect("a file");
            let len = file.metadata().expect("its length").len();
            file.set_len(len - 1).expect("it is cut");
        }
        count += 1;
    }
    assert_eq!(count, 1);
}

fn expect_loss(ended: Result<Drained, ServeError>) {
    match ended {
        Err(ServeError::Devices(lost)) => assert_eq!(lost.reason, "scripted loss"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_daemon_without_a_device_ends_and_the_next_one_that_has_one_proves_its_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), true).await.expect("it serves");
    let channel = daemon.connect().await;
    let watch = HealthClient::new(channel.clone())
        .watch(HealthCheckRequest {
            service: "cuzk.v1.ProvingEngine".to_owned(),
        })
        .await;
    let mut health = watch.expect("an answer").into_inner();
    let mut client = ProvingEngineClient::new(channel);
    let submitted = client.submit_proof(message()).await.expect("accepted");
    let request = AwaitProofRequest {
        job_id: submitted.into_inner().job_id,
        timeout_ms: 0,
    };
    let status = client.await_proof(request.clone()).await;
    let status = status.expect_err("no proof yet");
    assert_eq!(status.code(), Code::Unavailable, "{status}");
    assert!(status.message().contains("after a restart"), "{status}");
    let mut told = Vec::new();
    while !told.contains(&ServingStatus::NotServing) {
        let next = health.message().await.expect("it tells");
        told.push(next.expect("it goes on").status());
    }
    drop((health, client));
    expect_loss(daemon.ended(folder.path()).await);

    // It may be lost again, as soon as the job is taken up.
    match Daemon::start(folder.path(), true).await {
        Ok(daemon) => expect_loss(daemon.ended(folder.path()).await),
        Err(error) => expect_loss(Err(error)),
    }

    let daemon = Daemon::start(folder.path(), false).await;
    let daemon = daemon.expect("it serves");
    let mut client = ProvingEngineClient::new(daemon.connect().await);
    let answer = client.await_proof(request).await.expect("an answer");
    let answer = answer.into_inner();
    let completed = await_proof_response::Status::Completed;
    assert_eq!(answer.status(), completed, "{}", answer.error_message);
    drop(client);
    daemon.stop.cancel();
    daemon.ended(folder.path()).await.expect("it ends in order");
}

#[tokio::test]
async fn a_job_whose_payload_is_damaged_fails_with_the_reason_and_the_next_one_is_proved() {
    for is_gone in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let daemon = Daemon::start(folder.path(), true).await.expect("it serves");
        let mut client = ProvingEngineClient::new(daemon.connect().await);
        let submitted = client.submit_proof(message()).await.expect("accepted");
        let request = AwaitProofRequest {
            job_id: submitted.into_inner().job_id,
            timeout_ms: 0,
        };
        drop(client);
        expect_loss(daemon.ended(folder.path()).await);
        damage_payloads(folder.path(), is_gone);

        let daemon = Daemon::start(folder.path(), false).await;
        let daemon = daemon.expect("it serves");
        let mut client = ProvingEngineClient::new(daemon.connect().await);
        let answer = client.await_proof(request).await.expect("an answer");
        let answer = answer.into_inner();
        let failed = await_proof_response::Status::Failed;
        assert_eq!(answer.status(), failed);
        let words = if is_gone { "reading" } else { "cannot be read" };
        assert!(answer.error_message.contains(words), "{answer:?}");

        let mut other = message();
        other.randomness = vec![8; 32].into();
        let submitted = client.submit_proof(other).await.expect("accepted");
        let request = AwaitProofRequest {
            job_id: submitted.into_inner().job_id,
            timeout_ms: 0,
        };
        let answer = client.await_proof(request).await.expect("an answer");
        let completed = await_proof_response::Status::Completed;
        assert_eq!(answer.into_inner().status(), completed);
        drop(client);
        daemon.stop.cancel();
        daemon.ended(folder.path()).await.expect("it ends in order");
    }
}
