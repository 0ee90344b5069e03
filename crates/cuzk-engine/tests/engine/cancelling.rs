//! Jobs that nobody wants any more.

use cuzk_engine::{AbandonedJobs, CancelReason, SubmitError};
use tokio::time::Instant;

use super::*;

async fn reason(engine: &Engine, job: JobId) -> CancelReason {
    let outcome = outcome(engine, job).await;
    match *outcome {
        JobOutcome::Cancelled { reason, .. } => reason,
        _ => panic!("{outcome:?}"),
    }
}

/// Moments within the steps of a job alone, each ten seconds long. The circuit is loaded twice: into memory, and onto the
/// device.
const MOMENTS: [(Stage, u64); 6] = [
    (Stage::Load, 5),
    (Stage::Witness, 15),
    (Stage::Load, 25),
    (Stage::Start, 35),
    (Stage::Finish, 45),
    (Stage::Verify, 55),
];

#[tokio::test(start_paused = true)]
async fn a_job_is_cancelled_in_any_stage_and_its_memory_is_back_when_the_step_ends() {
    for (stage, moment) in MOMENTS {
        let world = world();
        all_stages_take(&world, seconds(10));
        let engine = start(settings(), world.parts(1));
        let job = submit(&engine, winning(), "unwanted").await;
        tokio::time::sleep(seconds(moment)).await;
        let running = engine.snapshot().running;
        assert!(
            running.iter().any(|step| step.step.stage == stage),
            "{stage}: {running:?}"
        );
        assert!(engine.cancel(job).expect("it is known"), "it was running");
        assert!(
            !engine.cancel(job).expect("it is known"),
            "it is not any more"
        );
        assert_eq!(reason(&engine, job).await, CancelReason::Requested);
        let cancelled_at = Instant::now();
        at_zero(&engine).await;
        assert!(cancelled_at.elapsed() <= seconds(10), "{stage}");
        serves_on(&engine).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_backlog_leaves_every_queue_at_once() {
    let world = world();
    all_stages_take(&world, seconds(10));
    let engine = start(settings(), world.parts(1));
    let kept = submit(&engine, porep(), "kept").await;
    let unwanted = submit(&engine, porep(), "unwanted").await;
    tokio::time::sleep(seconds(5)).await;
    assert!(engine.cancel(unwanted).expect("it is known"));
    let calls = world.script.num_calls(Stage::Decode);
    assert_eq!(calls, 2);
    completed(&engine, kept, 4).await;
    assert_eq!(world.script.num_calls(Stage::Witness), 4, "of the kept job");
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_deadline_cancels_a_job_in_any_stage() {
    for (stage, moment) in MOMENTS {
        let world = world();
        all_stages_take(&world, seconds(10));
        world.script.takes(Stage::Decode, seconds(0));
        let engine = start(settings(), world.parts(1));
        let wanted = JobRequest {
            deadline: Some(Instant::now() + seconds(moment)),
            ..JobRequest::new(request(winning(), "too late"))
        };
        let job = engine.submit(wanted).await.expect("admitted").job;
        let began = Instant::now();
        assert_eq!(reason(&engine, job).await, CancelReason::DeadlinePassed);
        assert_eq!(began.elapsed(), seconds(moment), "{stage}");
        serves_on(&engine).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_in_the_past_is_refused() {
    let world = world();
    let engine = start(settings(), world.parts(1));
    let wanted = JobRequest {
        deadline: Some(Instant::now()),
        ..JobRequest::new(request(winning(), "too late"))
    };
    let refused = engine.submit(wanted).await.expect_err("refused");
    assert!(matches!(refused, SubmitError::DeadlinePassed));
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_goes_away_leaves_its_job_or_ends_it_as_configured() {
    for (abandoned, is_kept) in [(AbandonedJobs::Keep, true), (AbandonedJobs::Cancel, false)] {
        let world = world();
        all_stages_take(&world, seconds(10));
        let configured = EngineSettings {
            abandoned,
            ..settings()
        };
        let engine = start(configured, world.parts(1));
        let job = submit(&engine, winning(), "left alone").await;
        let (first, second) = (engine.attend(job), engine.attend(job));
        tokio::time::sleep(seconds(15)).await;
        drop(first.expect("it is known"));
        tokio::time::sleep(seconds(1)).await;
        assert!(
            matches!(engine.status(job), Ok(JobStatus::Running { .. })),
            "one is left"
        );
        drop(second.expect("it is known"));
        if is_kept {
            completed(&engine, job, 1).await;
        } else {
            assert_eq!(reason(&engine, job).await, CancelReason::Abandoned);
        }
        serves_on(&engine).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_times_out_says_how_far_the_job_is() {
    let world = world();
    all_stages_take(&world, seconds(10));
    let engine = start(settings(), world.parts(1));
    let job = submit(&engine, porep(), "slow").await;
    let status = engine.wait(job, Some(seconds(55))).await.expect("known");
    let JobStatus::Running {
        num_done,
        num_partitions,
    } = status
    else {
        panic!("{status:?}")
    };
    assert_eq!((num_done, num_partitions), (1, 4));
    completed(&engine, job, 4).await;
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_drain_finishes_what_it_can_and_cancels_the_rest() {
    let world = world();
    all_stages_take(&world, seconds(10));
    let engine = start(settings(), world.parts(1));
    let first = submit(&engine, porep(), "in time").await;
    let second = submit(&engine, porep(), "too late").await;
    let drain = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.drain(Instant::now() + seconds(85)).await })
    };
    tokio::time::sleep(seconds(1)).await;
    let refused = engine
        .submit(JobRequest::new(request(porep(), "new")))
        .await;
    assert!(matches!(refused, Err(SubmitError::Draining)));
    assert_eq!(drain.await.expect("it ends"), 1);
    completed(&engine, first, 4).await;
    assert_eq!(reason(&engine, second).await, CancelReason::Shutdown);
    at_zero(&engine).await;
    engine.shutdown().await;
}
