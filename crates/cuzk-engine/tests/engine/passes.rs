//! Devices that compute several partitions together: they are given as many, and nobody waits for what does not come.

use std::num::NonZeroUsize;

use super::*;

/// A world whose devices compute so many partitions together.
fn sharing(proofs_per_pass: usize) -> Arc<FakeWorld> {
    let world = world();
    let proofs_per_pass = NonZeroUsize::new(proofs_per_pass).expect("not 0");
    world.script.share_passes(proofs_per_pass);
    world
}

fn narrow() -> EngineSettings {
    EngineSettings {
        partition_workers: 1,
        device_workers: 1,
        ..settings()
    }
}

/// When steps of a stage began.
fn began(stage: Stage, events: &[Stamped]) -> Vec<Duration> {
    let steps = events.iter().filter_map(|stamped| match stamped.event {
        Event::StepBegan { step } if step.stage == stage => Some(stamped.at),
        _ => None,
    });
    steps.collect()
}

/// Completes a job of four partitions on a narrow engine, which then serves on; when its partitions were started and finished.
async fn starts_and_finishes(
    world: Arc<FakeWorld>,
    payload: &'static str,
) -> (Vec<Duration>, Vec<Duration>) {
    let engine = start(narrow(), world.parts(1));
    let mut receiver = engine.subscribe();
    let job = submit(&engine, porep(), payload).await;
    completed(&engine, job, 4).await;
    let events = events(&mut receiver);
    serves_on(&engine).await;
    (began(Stage::Start, &events), began(Stage::Finish, &events))
}

#[tokio::test(start_paused = true)]
async fn all_partitions_of_a_job_are_started_before_the_first_is_finished() {
    let world = sharing(4);
    world
        .script
        .takes(Stage::Witness, Duration::from_millis(100));
    world.script.takes(Stage::Finish, seconds(10));
    let (starts, finishes) = starts_and_finishes(world, "together").await;
    assert_eq!((starts.len(), finishes.len()), (4, 4));
    // At once, since nothing else is to come.
    assert_eq!(starts[3], finishes[0]);
}

#[tokio::test(start_paused = true)]
async fn a_full_pass_waits_for_nobody() {
    let world = sharing(2);
    world
        .script
        .takes(Stage::Witness, Duration::from_millis(100));
    world.script.takes(Stage::Finish, seconds(10));
    let (starts, finishes) = starts_and_finishes(world, "in twos").await;
    assert_eq!(starts[1], finishes[0]);
}

#[tokio::test(start_paused = true)]
async fn partitions_that_take_long_to_come_are_not_waited_for() {
    let world = sharing(4);
    world.script.takes(Stage::Witness, seconds(10));
    let (starts, finishes) = starts_and_finishes(world, "one by one").await;
    for (start, finish) in starts.iter().zip(&finishes) {
        assert!(*finish <= *start + Duration::from_millis(501));
    }
}

#[tokio::test(start_paused = true)]
async fn a_device_has_the_partitions_of_two_passes_and_no_more() {
    for (proofs_per_pass, expected) in [(1, 1), (2, 4), (3, 6)] {
        let world = sharing(proofs_per_pass);
        world.script.takes(Stage::Finish, seconds(100));
        let wide = EngineSettings {
            partition_workers: 8,
            device_workers: 1,
            cpu_tail_threads: 8,
            ..settings()
        };
        let engine = start(wide, world.parts(1));
        let mut jobs = Vec::new();
        for payload in ["a", "b", "c"] {
            jobs.push(submit(&engine, porep(), payload).await);
        }
        tokio::time::sleep(seconds(50)).await;
        let in_flight = engine.snapshot().devices[0].in_flight.len();
        assert_eq!(in_flight, expected, "{proofs_per_pass} per pass");
        for job in jobs {
            completed(&engine, job, 4).await;
        }
        serves_on(&engine).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_cancelled_while_its_partitions_gather_leaves_room_for_others() {
    let world = sharing(4);
    world
        .script
        .takes(Stage::Witness, Duration::from_millis(200));
    let engine = start(narrow(), world.parts(1));
    let job = submit(&engine, porep(), "given up").await;
    // One is started, and waits for the second.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(engine.snapshot().devices[0].in_flight.len(), 1);
    assert!(engine.cancel(job).expect("it is known"), "it was running");
    serves_on(&engine).await;
}
