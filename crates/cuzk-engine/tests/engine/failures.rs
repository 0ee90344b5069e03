//! One bad partition ends one job, and nothing else.

use cuzk_engine::{ErrorClass, SubmitError};
use cuzk_testkit::fake::{Fault, FaultKind};

use super::*;

fn fault(stage: Stage, kind: FaultKind) -> Fault {
    Fault {
        stage,
        device: None,
        kind,
        times: 1,
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_any_stage_fails_its_job_as_internal_and_the_worker_goes_on() {
    for stage in [
        Stage::Load,
        Stage::Witness,
        Stage::Start,
        Stage::Finish,
        Stage::Verify,
    ] {
        let world = world();
        all_stages_take(&world, seconds(1));
        world.script.fail(fault(stage, FaultKind::Panic));
        let engine = start(settings(), world.parts(1));
        let bad = submit(&engine, porep(), "bad").await;
        let good = submit(&engine, porep(), "good").await;
        let text = failure(&engine, bad).await;
        assert_eq!(text, format!("internal: panic in {stage}"));
        completed(&engine, good, 4).await;
        serves_on(&engine).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_decoding_refuses_the_request_and_leaves_nothing() {
    let world = world();
    world.script.fail(fault(Stage::Decode, FaultKind::Panic));
    let engine = start(settings(), world.parts(1));
    let refused = engine
        .submit(JobRequest::new(request(porep(), "bad")))
        .await
        .expect_err("refused");
    assert!(matches!(refused, SubmitError::Panicked));
    assert_eq!(refused.class(), ErrorClass::Internal);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_cannot_be_decoded_is_invalid_and_leaves_nothing() {
    let world = world();
    world.script.fail(fault(Stage::Decode, FaultKind::Invalid));
    let engine = start(settings(), world.parts(1));
    let refused = engine
        .submit(JobRequest::new(request(porep(), "bad")))
        .await
        .expect_err("refused");
    assert_eq!(refused.class(), ErrorClass::Invalid);
    assert!(engine.jobs().is_empty());
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn an_error_in_any_stage_ends_its_job_once_with_its_class() {
    for (stage, kind, class) in [
        (Stage::Load, FaultKind::OutOfMemory, "resource"),
        (Stage::Witness, FaultKind::Invalid, "invalid"),
        (Stage::Start, FaultKind::Invalid, "invalid"),
        (Stage::Start, FaultKind::Refused, "internal"),
        (Stage::Finish, FaultKind::Refused, "internal"),
        (Stage::Verify, FaultKind::Invalid, "invalid"),
    ] {
        let world = world();
        all_stages_take(&world, seconds(1));
        world.script.fail(fault(stage, kind));
        let engine = start(settings(), world.parts(1));
        let mut receiver = engine.subscribe();
        let bad = submit(&engine, porep(), "bad").await;
        let text = failure(&engine, bad).await;
        assert!(text.starts_with(class), "{stage}: {text}");
        serves_on(&engine).await;
        let ended = events(&mut receiver)
            .iter()
            .filter(|stamped| matches!(stamped.event, Event::JobEnded { job, .. } if job == bad))
            .count();
        assert_eq!(ended, 1, "{stage}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_partition_cancels_its_siblings() {
    let world = world();
    all_stages_take(&world, seconds(1));
    world.script.takes(Stage::Witness, seconds(20));
    world.script.fail(fault(Stage::Witness, FaultKind::Invalid));
    let engine = start(settings(), world.parts(1));
    let bad = submit(&engine, porep(), "bad").await;
    failure(&engine, bad).await;
    at_zero(&engine).await;
    let started = world.script.num_calls(Stage::Witness);
    assert!(
        started <= 2,
        "two workers began {started} of four partitions"
    );
    assert_eq!(world.script.num_calls(Stage::Start), 0);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_stalled_step_is_named_with_its_job() {
    let world = world();
    all_stages_take(&world, seconds(1));
    world.script.takes(Stage::Finish, seconds(1000));
    let watched = EngineSettings {
        stall_deadline: seconds(100),
        ..settings()
    };
    let engine = start(watched, world.parts(1));
    let mut receiver = engine.subscribe();
    let slow = submit(&engine, winning(), "slow").await;
    tokio::time::sleep(seconds(300)).await;
    let stalled: Vec<_> = events(&mut receiver)
        .into_iter()
        .filter_map(|stamped| match stamped.event {
            Event::Stalled { step, .. } => Some((step.stage, step.job)),
            _ => None,
        })
        .collect();
    assert_eq!(stalled, [(Stage::Finish, Some(slow))], "once");
    let snapshot = engine.snapshot();
    assert!(snapshot.running[0].stalled, "{:?}", snapshot.running);
    assert!(
        snapshot
            .degraded
            .iter()
            .any(|text| text.contains("finish") && text.contains(&slow.to_string())),
        "{:?}",
        snapshot.degraded
    );
    completed(&engine, slow, 1).await;
    assert_eq!(engine.snapshot().degraded, Vec::<String>::new());
    world.script.takes(Stage::Finish, seconds(1));
    serves_on(&engine).await;
}
