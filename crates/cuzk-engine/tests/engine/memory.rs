//! The budget: never exceeded, never waited for in vain, back at zero.

use cuzk_engine::{ErrorClass, SubmitError};

use super::*;

#[tokio::test(start_paused = true)]
async fn a_flood_stays_under_a_budget_of_two_partitions_and_none_is_lost() {
    let world = world();
    all_stages_take(&world, seconds(3));
    world.script.takes(Stage::Witness, seconds(1));
    let tight = EngineSettings {
        budget_bytes: Some(17 * MIB),
        partition_workers: 8,
        ..settings()
    };
    let engine = start(tight, world.parts(1));
    let mut jobs = Vec::new();
    for index in 0..50 {
        jobs.push(submit(&engine, porep(), &index.to_string()).await);
    }
    for job in jobs {
        completed(&engine, job, 4).await;
    }
    let snapshot = engine.snapshot();
    assert!(snapshot.budget.peak_bytes <= 16 * MIB);
    let held = [
        BufferClass::Witness,
        BufferClass::Evaluations,
        BufferClass::DeviceScratch,
        BufferClass::Pending,
    ];
    let peaks = held.map(|class| snapshot.buffers[&class].peak_bytes);
    assert!(peaks.iter().all(|peak| *peak <= 16 * MIB), "{peaks:?}");
    assert_eq!(snapshot.totals.completed, 50);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_partition_larger_than_the_budget_is_refused_at_once_with_both_numbers() {
    let large = circuit("porep-32g");
    let world = FakeWorld::new(&[
        FakeCircuit::new(porep(), 4, 8 << 20),
        FakeCircuit::new(large, 10, 100 << 20),
    ]);
    let small = EngineSettings {
        budget_bytes: Some(65 * MIB),
        ..settings()
    };
    let engine = start(small, world.parts(1));
    // What a partition holds is known once the circuit was loaded; until then the job is admitted and fails.
    let job = submit(&engine, large, "first").await;
    let text = failure(&engine, job).await;
    let numbers = [100 * MIB, 64 * MIB].map(|number| number.to_string());
    for part in ["resource", "porep-32g", &numbers[0], &numbers[1]] {
        assert!(text.contains(part), "{text}");
    }
    let refused = engine
        .submit(JobRequest::new(request(large, "second")))
        .await
        .expect_err("refused");
    assert_eq!(refused.class(), ErrorClass::Resource);
    assert!(matches!(
        refused,
        SubmitError::TooLarge { needed_bytes, budget_bytes, .. }
            if needed_bytes == 100 * MIB && budget_bytes == 64 * MIB
    ));
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_with_its_limit_and_takes_again_when_a_job_ended() {
    let world = world();
    all_stages_take(&world, seconds(1));
    let few = EngineSettings {
        max_queued_jobs: 2,
        max_queued_bytes: Some(100),
        ..settings()
    };
    let engine = start(few, world.parts(1));
    let first = submit(&engine, porep(), "1").await;
    let second = submit(&engine, porep(), "2").await;
    let refused = |payload: String| {
        let engine = engine.clone();
        async move {
            let wanted = JobRequest::new(request(porep(), &payload));
            let error = engine.submit(wanted).await.expect_err("refused");
            assert_eq!(error.class(), ErrorClass::Busy);
            error.to_string()
        }
    };
    assert_eq!(refused("3".to_owned()).await, "2 jobs wait, at most 2 may");
    completed(&engine, first, 4).await;
    completed(&engine, second, 4).await;
    at_zero(&engine).await;
    let text = refused("x".repeat(101)).await;
    assert!(text.contains("has 101, at most 100 may"), "{text}");
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn results_are_forgotten_by_age_and_by_size() {
    let world = world();
    let brief = EngineSettings {
        result_retention: seconds(60),
        ..settings()
    };
    let engine = start(brief, world.parts(1));
    let old = submit(&engine, winning(), "old").await;
    completed(&engine, old, 1).await;
    tokio::time::sleep(seconds(61)).await;
    assert!(engine.status(old).is_err(), "its time is over");

    let small = EngineSettings {
        max_result_bytes: 1,
        ..settings()
    };
    all_stages_take(&world, seconds(1));
    let engine = start(small, world.parts(1));
    let waits = {
        let job = submit(&engine, winning(), "large").await;
        let engine = engine.clone();
        tokio::spawn(async move { completed(&engine, job, 1).await })
    };
    waits
        .await
        .expect("who waits gets the result that is not kept");
    assert_eq!(engine.snapshot().buffers[&BufferClass::Result].count, 0);
    serves_on(&engine).await;
}
