//! A daemon whose journal has no room refuses jobs with words, keeps nothing of them, and takes them when there is room again.

use std::{fs::File, io::Write as _, path::PathBuf, process::Command};

use cuzk_proto::v1::{
    ListJobsRequest, ProveRequest, await_proof_response::Status,
    proving_engine_client::ProvingEngineClient,
};
use tonic::{Code, transport::Channel};

use super::{
    daemon::{Daemon, Home, tell, text},
    fixture::Fixture,
};

async fn expect_refusal(daemon: &Daemon, fixture: &Fixture, words: &str) {
    let mut client = connect(daemon).await;
    let refused = client
        .submit_proof(fixture.message("winning", "full"))
        .await;
    let status = refused.expect_err("there is no room");
    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
    assert!(status.message().contains(words), "{status}");
    assert!(status.message().contains("try again"), "{status}");
    // It may be answered before the job that was refused has ended.
    let active = ListJobsRequest {
        active_only: true,
        ..ListJobsRequest::default()
    };
    loop {
        let jobs = client.list_jobs(active.clone()).await.expect("it answers");
        if jobs.into_inner().jobs.is_empty() {
            return;
        }
    }
}

async fn expect_proof(daemon: &Daemon, fixture: &Fixture) {
    let submit = Some(fixture.message("winning", "full"));
    let answer = connect(daemon).await.prove(ProveRequest { submit }).await;
    let answer = answer.expect("an answer").into_inner().result;
    let answer = answer.expect("a result");
    assert_eq!(answer.status(), Status::Completed, "{answer:?}");
    fixture.verify("winning", &answer.proof);
}

async fn connect(daemon: &Daemon) -> ProvingEngineClient<Channel> {
    let uri = format!("http://{}", daemon.address());
    ProvingEngineClient::connect(uri).await.expect("it serves")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_has_less_room_than_is_reserved_takes_no_job_until_it_has() {
    let home = Home::new();
    let fixture = Fixture::new(&home);
    let greedy = Daemon::start(home.serve(&[]).env("CUZK_JOURNAL_RESERVE", "1000TiB"));
    expect_refusal(&greedy, &fixture, "no room for a payload").await;
    greedy.terminate();
    assert!(greedy.wait().success());
    let modest = home.start(&[]);
    expect_proof(&modest, &fixture).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_is_full_takes_no_job_until_it_has_room() {
    if !may_mount() {
        tell("this machine lets no test mount a small disk; the reserve is tested beside this");
        return;
    }
    let home = Home::new();
    let fixture = Fixture::new(&home);
    let folder = home.path("disk");
    std::fs::create_dir(&folder).expect("a folder");
    let script = format!("mount -t tmpfs -o size=16m none {}", text(&folder));
    let journal = format!("journal.folder={}", text(&folder.join("journal")));
    let mut command = home.serve_in_own_mounts(&script, &["--set", &journal]);
    let daemon = Daemon::start(command.env("CUZK_JOURNAL_RESERVE", "0B"));
    // The daemon alone sees the disk at that path; this one leads there as well.
    let folder = text(&folder).trim_start_matches('/');
    let filler = PathBuf::from(format!("/proc/{}/root", daemon.id()))
        .join(folder)
        .join("filler");
    fill(&filler);
    expect_refusal(&daemon, &fixture, "no room for a payload").await;
    std::fs::remove_file(filler).expect("it is there");
    expect_proof(&daemon, &fixture).await;
    daemon.terminate();
    assert!(daemon.wait().success());
}

/// Whether a process of this user may have mounts of its own.
fn may_mount() -> bool {
    let tried = Command::new("unshare").args(["-rm", "true"]).output();
    tried.is_ok_and(|tried| tried.status.success())
}

/// Writes until nothing more fits.
fn fill(path: &std::path::Path) {
    let mut file = File::create(path).expect("the disk of the daemon");
    for block in [vec![1_u8; 64 << 10], vec![1]] {
        while file.write_all(&block).is_ok() {}
    }
}
