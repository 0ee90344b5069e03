//! Partitions that wait for a pass of their device: they hold up nobody, and the device always has a next pass.

use std::num::NonZeroUsize;

use cuzk_testkit::fake::{Fault, FaultKind, Pass};

use super::*;

/// Partitions of a pass, as devices say.
const PER_PASS: usize = 4;

/// A world of passes of ten seconds with room for so many partitions; collecting the result of one takes a second.
fn streaming(room: usize) -> Arc<FakeWorld> {
    let count = |count| NonZeroUsize::new(count).expect("not 0");
    let world = world();
    let brief = Duration::from_millis(10);
    for stage in [Stage::Witness, Stage::Start, Stage::Verify] {
        world.script.takes(stage, brief);
    }
    world.script.takes(Stage::Finish, seconds(1));
    world.script.share_passes(count(PER_PASS));
    world.script.lead_passes(Pass {
        takes: seconds(10),
        room: count(room),
    });
    world
}

fn few_tail_threads() -> EngineSettings {
    EngineSettings {
        partition_workers: 8,
        device_workers: 1,
        cpu_tail_threads: 2,
        ..settings()
    }
}

/// Submits six jobs, which have 24 partitions, and waits for their ends. What happened, and how long it took.
async fn six_jobs(world: &Arc<FakeWorld>, num_devices: usize) -> (Vec<Stamped>, Duration) {
    let engine = start(few_tail_threads(), world.parts(num_devices));
    let mut receiver = engine.subscribe();
    let began = tokio::time::Instant::now();
    let mut jobs = Vec::new();
    for payload in ["a", "b", "c", "d", "e", "f"] {
        jobs.push(submit(&engine, porep(), payload).await);
    }
    for job in jobs {
        completed(&engine, job, 4).await;
    }
    let took = began.elapsed();
    let events = events(&mut receiver);
    serves_on(&engine).await;
    (events, took)
}

/// The most partitions that were finished at a time on any device.
fn most_finished_at_a_time(events: &[Stamped]) -> usize {
    let mut running = BTreeMap::<usize, usize>::new();
    let mut most = 0;
    for stamped in events {
        match stamped.event {
            Event::StepBegan { step } if step.stage == Stage::Finish => {
                let running = running.entry(step.device.expect("a device's")).or_default();
                *running += 1;
                most = most.max(*running);
            }
            Event::StepEnded { step, .. } if step.stage == Stage::Finish => {
                *running.entry(step.device.expect("a device's")).or_default() -= 1;
            }
            _ => {}
        }
    }
    most
}

#[tokio::test(start_paused = true)]
async fn devices_with_few_tail_threads_have_no_pause_between_passes() {
    for (num_devices, room, num_passes) in [
        (1, PER_PASS, 6),
        // The first job's partitions are half a pass on each.
        (2, PER_PASS, 4),
        // A device may find less memory than it expected.
        (1, 2, 12),
    ] {
        let (_, took) = six_jobs(&streaming(room), num_devices).await;
        // What the last pass left is collected.
        let range = seconds(10 * num_passes)..seconds(10 * num_passes + 3);
        assert!(
            range.contains(&took),
            "{num_devices} devices with room for {room}: {took:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_device_has_three_partitions_finished_at_a_time_and_verification_waits_for_none() {
    for room in [1, 2, PER_PASS] {
        let (events, _) = six_jobs(&streaming(room), 2).await;
        assert_eq!(most_finished_at_a_time(&events), 3, "room for {room}");
        let mut last_finished = BTreeMap::new();
        for stamped in &events {
            match stamped.event {
                Event::StepEnded { step, .. } if step.stage == Stage::Finish => {
                    last_finished.insert(step.job.expect("a job's"), stamped.at);
                }
                _ => {}
            }
        }
        for (job, end) in ends(&events) {
            let waited = end.saturating_sub(last_finished[&job]);
            assert!(
                waited < Duration::from_millis(100),
                "{job} waits {waited:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn leaders_that_panic_or_are_cancelled_leave_their_place_to_others() {
    let world = streaming(PER_PASS);
    let engine = start(few_tail_threads(), world.parts(1));
    for payload in ["a", "b", "c", "d"] {
        world.script.fail(Fault {
            stage: Stage::Finish,
            device: None,
            kind: FaultKind::Panic,
            times: 1,
        });
        let job = submit(&engine, porep(), payload).await;
        let text = failure(&engine, job).await;
        assert!(text.contains("finish"), "{text}");
        at_zero(&engine).await;
    }
    for payload in ["e", "f", "g", "h"] {
        let job = submit(&engine, porep(), payload).await;
        tokio::time::sleep(seconds(5)).await;
        assert!(engine.cancel(job).expect("it is known"), "it was running");
        at_zero(&engine).await;
    }
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_winning_post_has_the_pass_after_the_one_that_runs() {
    let world = streaming(PER_PASS);
    let engine = start(few_tail_threads(), world.parts(1));
    let mut backlog = Vec::new();
    for payload in ["a", "b", "c"] {
        backlog.push(submit(&engine, porep(), payload).await);
    }
    // One leads, and the next one waits to.
    tokio::time::sleep(seconds(5)).await;
    let began = tokio::time::Instant::now();
    let urgent = submit(&engine, winning(), "now").await;
    completed(&engine, urgent, 1).await;
    assert!(began.elapsed() < seconds(17), "{:?}", began.elapsed());
    for job in backlog {
        completed(&engine, job, 4).await;
    }
    serves_on(&engine).await;
}
