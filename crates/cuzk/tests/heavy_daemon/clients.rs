//! Clients that go away and daemons that are told to stop, each while a job runs.

use std::time::{Duration, Instant};

use cuzk_proto::v1::{
    AwaitProofRequest, JobProgress, JobState, ListJobsRequest, ProveRequest, WatchJobRequest,
    await_proof_response::Status, proving_engine_client::ProvingEngineClient,
};
use tonic::{Code, transport::Channel};

use super::{
    daemon::{Daemon, Home},
    fixture::Fixture,
};

type Client = ProvingEngineClient<Channel>;

async fn connect(daemon: &Daemon) -> Client {
    let uri = format!("http://{}", daemon.address());
    Client::connect(uri).await.expect("it serves")
}

/// A client that waits for a proof, in the background.
type Waiting = tokio::task::JoinHandle<Result<cuzk_proto::v1::AwaitProofResponse, tonic::Status>>;

/// Asks for a proof; returns when the engine has the job, with its id.
async fn ask(daemon: &Daemon, fixture: &Fixture) -> (Waiting, String) {
    let mut asking = connect(daemon).await;
    let submit = Some(fixture.message("winning", "request"));
    let waiting = tokio::spawn(async move {
        let answer = asking.prove(ProveRequest { submit }).await?;
        Ok(answer.into_inner().result.expect("a result"))
    });
    let mut looking = connect(daemon).await;
    let job = loop {
        let listed = looking.list_jobs(ListJobsRequest::default()).await;
        if let Some(job) = listed.expect("it answers").into_inner().jobs.pop() {
            break job.job_id;
        }
    };
    (waiting, job)
}

async fn last_progress(daemon: &Daemon, job_id: String) -> JobProgress {
    let mut watching = connect(daemon).await;
    let stream = watching.watch_job(WatchJobRequest { job_id }).await;
    let mut stream = stream.expect("the job is known").into_inner();
    let mut last = None;
    while let Some(progress) = stream.message().await.expect("it goes on") {
        last = Some(progress);
    }
    last.expect("at least the end")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_away_leaves_its_job_or_ends_it_as_configured() {
    let home = Home::new();
    let fixture = Fixture::new(&home);
    for (policy, state) in [
        ("keep", JobState::Completed),
        ("cancel", JobState::Cancelled),
    ] {
        let daemon = home.start(&[
            "--set",
            &format!("server.client_gone={policy}"),
            "--set",
            "journal.enabled=false",
        ]);
        let (waiting, job) = ask(&daemon, &fixture).await;
        waiting.abort();
        let last = last_progress(&daemon, job).await;
        assert_eq!(last.state(), state, "{policy}");
        expect_empty_buffers(&daemon, policy);
    }
}

/// A step that has begun ends before its memory is given back, so it may take until then.
fn expect_empty_buffers(daemon: &Daemon, what: &str) {
    const TIME_FOR_A_STEP: Duration = Duration::from_secs(20);
    let began = Instant::now();
    loop {
        let (_, status) = daemon.page("/status.json");
        let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
        let held = ["witness", "payload"].map(|class| status["buffers"][class]["bytes"].as_u64());
        if held == [Some(0); 2] {
            return;
        }
        assert!(began.elapsed() < TIME_FOR_A_STEP, "{what}: {held:?} bytes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_told_to_stop_lets_the_job_end_and_is_gone_then() {
    let home = Home::new();
    let fixture = Fixture::new(&home);
    let daemon = home.start(&[]);
    let (waiting, _) = ask(&daemon, &fixture).await;
    daemon.terminate();
    let answer = waiting.await.expect("no panic").expect("an answer");
    assert_eq!(answer.status(), Status::Completed);
    fixture.verify("winning", &answer.proof);
    assert!(daemon.wait().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_the_deadline_cut_off_goes_on_after_a_restart() {
    let home = Home::new();
    let fixture = Fixture::new(&home);
    let daemon = home.start(&["--set", "server.drain_deadline=0ms"]);
    let (waiting, job_id) = ask(&daemon, &fixture).await;
    daemon.terminate();
    let status = waiting.await.expect("no panic").expect_err("no proof yet");
    assert_eq!(status.code(), Code::Unavailable, "{status}");
    assert!(status.message().contains("after a restart"), "{status}");
    assert!(daemon.wait().success());

    let daemon = home.start(&[]);
    let request = AwaitProofRequest {
        job_id,
        timeout_ms: 0,
    };
    let answer = connect(&daemon).await.await_proof(request).await;
    let answer = answer.expect("the job is known").into_inner();
    assert_eq!(answer.status(), Status::Completed);
    fixture.verify("winning", &answer.proof);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_stops_at_once() {
    let home = Home::new();
    let fixture = Fixture::new(&home);
    let daemon = home.start(&[]);
    let (waiting, _) = ask(&daemon, &fixture).await;
    daemon.terminate();
    // The first signal was seen when the daemon is no longer ready.
    while daemon.page("/readyz").0.contains("200") {}
    daemon.terminate();
    assert_eq!(daemon.wait().code(), Some(128 + 15));
    waiting.await.expect("no panic").expect_err("no proof");
}
