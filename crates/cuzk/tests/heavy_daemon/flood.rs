//! More work than fits into memory at once, and urgent work behind it.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use cuzk_proto::v1::{
    AwaitProofRequest, ProveRequest, await_proof_response::Status,
    proving_engine_client::ProvingEngineClient,
};
use serde_json::Value;
use tokio::task::JoinSet;
use tonic::transport::Channel;

use super::{
    daemon::{Daemon, Home, anonymous_bytes, tell},
    fixture::Fixture,
};

const MIB: u64 = 1 << 20;

/// What the process holds beside what the budget counts: code, stacks, connections, slack of the allocator.
const SLACK_PERCENT: u64 = 10;

/// Time between two looks at a daemon's memory.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(5);

/// Holds the circuit of a WinningPoSt of 2 KiB and two of its partitions.
const WINNING_BUDGET: u64 = 128 * MIB;

/// Holds the circuit of a PoRep of 2 KiB and two of its partitions.
const POREP_BUDGET: u64 = 1280 * MIB;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_fifty_winning_posts_stays_within_the_budget_and_loses_none() {
    flood("winning", 50, WINNING_BUDGET).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "minutes: fifty WinningPoSts in a GiB are no harder than in an eighth of it, which runs always"]
async fn a_flood_of_fifty_winning_posts_stays_within_a_budget_of_two_replications() {
    flood("winning", 50, POREP_BUDGET).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "minutes: twenty replications"]
async fn a_flood_of_twenty_replications_stays_within_the_budget_and_loses_none() {
    flood("porep", 20, POREP_BUDGET).await;
}

/// Asks a daemon with little memory for all proofs at once.
async fn flood(kind: &'static str, count: usize, budget: u64) {
    let home = Home::new();
    let fixture = Arc::new(Fixture::new(&home));
    fixture.make_key(kind);
    let limit = budget + budget / 100 * SLACK_PERCENT;
    // Where the machine lets a test limit memory, the kernel ends a daemon that takes more.
    let group = MemoryGroup::new(limit);
    let script = group.as_ref().map(MemoryGroup::joining);
    let budget_text = format!("engine.budget={budget}B");
    let mut command = home.serve_after(
        script.as_deref().unwrap_or("true"),
        &["--threads", "2", "--set", &budget_text],
    );
    let daemon = Daemon::start(&mut command);
    let peak = PeakSampler::start(daemon.id());
    let client = connect(&daemon).await;
    let began = Instant::now();
    let mut waiting = JoinSet::new();
    for index in 0..count {
        let submit = Some(fixture.message(kind, &format!("request-{index}")));
        let mut client = client.clone();
        waiting.spawn(async move { client.prove(ProveRequest { submit }).await });
    }
    while let Some(answer) = waiting.join_next().await {
        let answer = answer.expect("no panic").expect("an answer").into_inner();
        let answer = answer.result.expect("a result");
        assert_eq!(answer.status(), Status::Completed, "{answer:?}");
        fixture.verify(kind, &answer.proof);
    }
    let took = began.elapsed();
    let peak = peak.finish();
    let (_, status) = daemon.page("/status.json");
    let status: Value = serde_json::from_str(&status).expect("JSON");
    tell(&format!(
        "{count} {kind} in {:.1} s: at most {} MiB of {} MiB, budget used {} MiB, limited by the kernel: {}, {}",
        took.as_secs_f64(),
        peak / MIB,
        budget / MIB,
        status["budget"]["peak_bytes"].as_u64().unwrap_or(0) / MIB,
        group.is_some(),
        status["buffers"],
    ));
    assert!(peak <= limit, "{peak} bytes at most, {limit} allowed");
    assert_eq!(status["totals"]["completed"], count);
    assert_eq!(status["totals"]["failed"], 0);
    for class in [
        "payload",
        "witness",
        "evaluations",
        "device_scratch",
        "pending",
    ] {
        assert_eq!(status["buffers"][class]["bytes"], 0, "{class}");
    }
    daemon.terminate();
    assert!(daemon.wait().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "compares times, so it needs two cores to itself"]
async fn a_winning_post_in_a_backlog_of_replications_answers_within_three_times_its_idle_time() {
    const NUM_REPLICATIONS: usize = 6;
    let home = Home::new();
    let fixture = Fixture::new(&home);
    fixture.make_key("porep");
    let daemon = home.start(&["--threads", "2"]);
    let mut client = connect(&daemon).await;
    let winning_time = async |client: &mut ProvingEngineClient<Channel>| {
        let began = Instant::now();
        let submit = Some(fixture.message("winning", ""));
        let answer = client.prove(ProveRequest { submit }).await;
        let answer = answer.expect("an answer").into_inner().result;
        fixture.verify("winning", &answer.expect("a result").proof);
        began.elapsed()
    };
    let mut idle_times = Vec::new();
    for _ in 0..4 {
        idle_times.push(winning_time(&mut client).await);
    }
    // The first one loads the circuit.
    let idle_time = idle_times.split_off(1).into_iter().min().expect("three");
    let mut jobs = Vec::new();
    for _ in 0..NUM_REPLICATIONS {
        let submitted = client.submit_proof(fixture.message("porep", "")).await;
        jobs.push(submitted.expect("accepted").into_inner().job_id);
    }
    let mut times = Vec::new();
    for _ in 0..4 {
        // In the middle of a replication on the device, with others before and behind it.
        while !device_is_starting(&daemon) {}
        times.push(winning_time(&mut client).await);
    }
    tell(&format!("alone {idle_time:?}, in the backlog {times:?}"));
    for job_id in jobs {
        let request = AwaitProofRequest {
            job_id,
            timeout_ms: 0,
        };
        let answer = client
            .await_proof(request)
            .await
            .expect("known")
            .into_inner();
        fixture.verify("porep", &answer.proof);
    }
    let longest = times.iter().max().expect("four");
    assert!(
        *longest <= 3 * idle_time,
        "{longest:?} in the backlog, {idle_time:?} alone"
    );
}

fn device_is_starting(daemon: &Daemon) -> bool {
    let (_, status) = daemon.page("/status.json");
    let status: Value = serde_json::from_str(&status).expect("JSON");
    let running = status["running"].as_array().expect("a list");
    running.iter().any(|step| step["stage"] == "start")
}

async fn connect(daemon: &Daemon) -> ProvingEngineClient<Channel> {
    let uri = format!("http://{}", daemon.address());
    ProvingEngineClient::connect(uri).await.expect("it serves")
}

/// The most memory that a process holds for itself. Pages of mapped keys are not its own: the system may drop them.
struct PeakSampler {
    over: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<u64>,
}

impl PeakSampler {
    fn start(pid: u32) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut peak = 0;
            while !is_over.load(Ordering::Relaxed) {
                peak = peak.max(anonymous_bytes(pid));
                std::thread::park_timeout(SAMPLE_INTERVAL);
            }
            peak
        });
        Self { over, thread }
    }

    fn finish(self) -> u64 {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("the sampler ends")
    }
}

/// A group of processes whose memory the kernel limits, in either version of its interface; gone when dropped.
struct MemoryGroup(PathBuf);

impl MemoryGroup {
    /// `None` where this machine does not let a test make one.
    fn new(limit_bytes: u64) -> Option<Self> {
        let name = format!("cuzk-test-{}", std::process::id());
        let interfaces = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ];
        interfaces.into_iter().find_map(|(root, file)| {
            let folder = PathBuf::from(root).join(&name);
            fs::create_dir(&folder).ok()?;
            let group = Self(folder);
            // Where it is no group but a folder, there is no such file.
            let limit = group.0.join(file);
            let is_limit = limit.exists() && group.0.join("cgroup.procs").exists();
            (is_limit && fs::write(limit, limit_bytes.to_string()).is_ok()).then_some(group)
        })
    }

    /// The words of a shell that enters the group.
    fn joining(&self) -> String {
        format!("echo $$ > {}/cgroup.procs", self.0.display())
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // Its last process may not have been collected yet; an empty group costs nothing.
        let _ = fs::remove_dir(&self.0);
    }
}
