//! The same engine on real threads and real time, where nothing happens in the same order twice.

use std::sync::mpsc;

use cuzk_engine::{CancelReason, SubmitError};
use cuzk_testkit::fake::{Fault, FaultKind};

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn jobs_that_end_in_every_way_leave_nothing_behind() {
    let world = world();
    for (stage, kind) in [
        (Stage::Witness, FaultKind::Panic),
        (Stage::Start, FaultKind::Panic),
        (Stage::Start, FaultKind::Failed),
        (Stage::Finish, FaultKind::BadProof),
        (Stage::Finish, FaultKind::Panic),
    ] {
        world.script.fail(Fault {
            stage,
            device: None,
            kind,
            times: 2,
        });
    }
    let mut parts = world.parts(2);
    parts.executor = None;
    let tight = EngineSettings {
        budget_bytes: Some(25 * MIB),
        partition_workers: 4,
        quarantine: Duration::from_millis(10),
        ..settings()
    };
    let engine = start(tight, parts);
    let mut jobs = Vec::new();
    for index in 0..40 {
        let circuit = if index % 5 == 0 { winning() } else { porep() };
        jobs.push(submit(&engine, circuit, &index.to_string()).await);
        if index % 7 == 0 {
            engine.cancel(jobs[index / 2]).expect("it is known");
        }
    }
    let mut counts = [0; 3];
    for job in jobs {
        let kind = match &*outcome(&engine, job).await {
            JobOutcome::Completed { .. } => 0,
            JobOutcome::Failed { .. } => 1,
            JobOutcome::Cancelled { reason, .. } => {
                assert_eq!(*reason, CancelReason::Requested);
                2
            }
        };
        counts[kind] += 1;
    }
    let totals = engine.snapshot().totals;
    let counted = [totals.completed, totals.failed, totals.cancelled];
    assert_eq!(counted, counts);
    // Six panics fail six jobs at most; everything else is proved again.
    assert!(totals.failed <= 6 && totals.completed >= 28, "{totals:?}");
    assert!(engine.snapshot().budget.peak_bytes <= 24 * MIB);
    serves_on(&engine).await;
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_job_that_comes_while_the_engine_shuts_down_is_refused_or_ends() {
    let world = world();
    for round in 0..200 {
        let mut parts = world.parts(1);
        parts.executor = None;
        let engine = start(settings(), parts);
        let clients = (0..3).map(|client| {
            let engine = engine.clone();
            tokio::spawn(async move {
                let mut jobs = Vec::new();
                for index in 0.. {
                    let payload = format!("{client} {index}");
                    let request = JobRequest::new(request(winning(), &payload));
                    match engine.submit(request).await {
                        Ok(submitted) => jobs.push(submitted.job),
                        Err(SubmitError::Draining) => break,
                        Err(_) => tokio::task::yield_now().await,
                    }
                }
                jobs
            })
        });
        let clients: Vec<_> = clients.collect();
        tokio::time::sleep(Duration::from_millis(2)).await;
        engine.shutdown().await;
        for client in clients {
            for job in client.await.expect("no panic") {
                let ended = engine.wait(job, Some(seconds(20))).await;
                assert!(
                    matches!(ended, Ok(JobStatus::Ended(_))),
                    "round {round}: {ended:?}"
                );
            }
        }
    }
}

#[test]
fn a_snapshot_may_be_taken_while_jobs_end() {
    let (done, is_done) = mpsc::channel();
    // A test whose threads wait for each other must fail, not wait for them.
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let mut parts = world().parts(1);
            parts.executor = None;
            let engine = start(settings(), parts);
            let observer = {
                let engine = engine.clone();
                std::thread::spawn(move || while !engine.snapshot().draining {})
            };
            for index in 0..500 {
                let job = submit(&engine, winning(), &index.to_string()).await;
                engine.cancel(job).expect("it is known");
            }
            engine.shutdown().await;
            observer.join().expect("no panic");
        });
        done.send(()).expect("the test waits");
    });
    let ended = is_done.recv_timeout(seconds(60));
    ended.expect("it ends in time");
}
