//! Request ids that occur twice.

use cuzk_engine::{SubmitError, Submitted};
use cuzk_testkit::fake::{Fault, FaultKind};

use super::*;

async fn submit_as(engine: &Engine, request_id: &str, payload: &str) -> Submitted {
    let wanted = JobRequest {
        request_id: Some(request_id.to_owned()),
        ..JobRequest::new(request(porep(), payload))
    };
    engine.submit(wanted).await.expect("admitted")
}

#[tokio::test(start_paused = true)]
async fn the_same_request_joins_the_job_that_runs_or_gets_the_kept_result() {
    let world = world();
    all_stages_take(&world, seconds(10));
    let engine = start(settings(), world.parts(1));
    let first = submit_as(&engine, "porep-1000-1", "a").await;
    tokio::time::sleep(seconds(5)).await;
    let while_it_runs = submit_as(&engine, "porep-1000-1", "a").await;
    completed(&engine, first.job, 4).await;
    let after = submit_as(&engine, "porep-1000-1", "a").await;
    for twin in [while_it_runs, after] {
        assert_eq!((twin.job, twin.joined), (first.job, true));
    }
    assert!(!first.joined);
    assert_eq!(world.script.num_calls(Stage::Witness), 4, "proved once");
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn requests_that_come_at_the_same_moment_are_one_job() {
    let world = world();
    all_stages_take(&world, seconds(10));
    let engine = start(settings(), world.parts(1));
    let both = [(); 2].map(|()| {
        let engine = engine.clone();
        tokio::spawn(async move { submit_as(&engine, "porep-1000-1", "a").await })
    });
    let mut jobs = Vec::new();
    for submitted in both {
        jobs.push(submitted.await.expect("it ends"));
    }
    assert_eq!(jobs[0].job, jobs[1].job);
    assert_eq!(jobs.iter().filter(|job| job.joined).count(), 1);
    completed(&engine, jobs[0].job, 4).await;
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn the_same_id_with_other_content_is_another_job() {
    let world = world();
    all_stages_take(&world, seconds(10));
    let engine = start(settings(), world.parts(1));
    let first = submit_as(&engine, "wdpost-1000-3", "partition 0").await;
    let second = submit_as(&engine, "wdpost-1000-3", "partition 1").await;
    assert_ne!(first.job, second.job);
    assert!(!second.joined);
    completed(&engine, first.job, 4).await;
    completed(&engine, second.job, 4).await;
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_failed_is_tried_again() {
    let world = world();
    all_stages_take(&world, seconds(10));
    world.script.fail(Fault {
        stage: Stage::Witness,
        device: None,
        kind: FaultKind::Panic,
        times: 1,
    });
    let engine = start(settings(), world.parts(1));
    let first = submit_as(&engine, "porep-1000-1", "a").await;
    failure(&engine, first.job).await;
    let second = submit_as(&engine, "porep-1000-1", "a").await;
    assert!(!second.joined);
    completed(&engine, second.job, 4).await;
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_job_taken_up_again_keeps_its_id_and_exists_once() {
    let world = world();
    let engine = start(settings(), world.parts(1));
    let id = JobId::random();
    let wanted = || JobRequest {
        job_id: Some(id),
        ..JobRequest::new(request(porep(), "journaled"))
    };
    let taken_up = engine.submit(wanted()).await.expect("admitted");
    assert_eq!(taken_up.job, id);
    let refused = engine.submit(wanted()).await.expect_err("refused");
    assert!(matches!(refused, SubmitError::DuplicateJob { job } if job == id));
    completed(&engine, id, 4).await;
    serves_on(&engine).await;
}
