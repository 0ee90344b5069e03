//! Devices that fail: their work moves, and what they made is not believed.

use cuzk_engine::DeviceHealth;
use cuzk_testkit::fake::{Fault, FaultKind};

use super::*;

fn on_device(stage: Stage, device: usize, kind: FaultKind, times: usize) -> Fault {
    Fault {
        stage,
        device: Some(device),
        kind,
        times,
    }
}

fn health(engine: &Engine) -> Vec<DeviceHealth> {
    let devices = engine.snapshot().devices;
    devices.iter().map(|device| device.health).collect()
}

async fn devices_of(engine: &Engine, job: JobId) -> Vec<usize> {
    let outcome = outcome(engine, job).await;
    let JobOutcome::Completed { devices, .. } = &*outcome else {
        panic!("{outcome:?}")
    };
    devices.clone()
}

#[tokio::test(start_paused = true)]
async fn a_device_that_failed_is_quarantined_its_work_moves_and_it_comes_back_as_suspect() {
    for stage in [Stage::Start, Stage::Finish] {
        let world = world();
        all_stages_take(&world, seconds(1));
        world.script.fail(on_device(stage, 0, FaultKind::Failed, 1));
        let brief = EngineSettings {
            quarantine: seconds(500),
            ..settings()
        };
        let engine = start(brief, world.parts(2));
        let job = submit(&engine, porep(), "moves").await;
        let devices = devices_of(&engine, job).await;
        assert!(devices.contains(&1), "{devices:?}");
        assert_eq!(
            health(&engine),
            [DeviceHealth::Quarantined, DeviceHealth::Healthy]
        );
        let degraded = engine.snapshot().degraded;
        assert!(degraded[0].contains("scripted failure"), "{degraded:?}");
        let other = submit(&engine, porep(), "elsewhere").await;
        assert_eq!(devices_of(&engine, other).await, [1; 4]);
        tokio::time::sleep(seconds(501)).await;
        assert_eq!(health(&engine)[0], DeviceHealth::Suspect);
        serves_on(&engine).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_device_goes_on_as_suspect_and_the_partition_is_tried_again() {
    for stage in [Stage::Start, Stage::Finish] {
        let world = world();
        all_stages_take(&world, seconds(1));
        world.script.fail(on_device(stage, 0, FaultKind::Failed, 1));
        let engine = start(settings(), world.parts(1));
        let job = submit(&engine, porep(), "again").await;
        completed(&engine, job, 4).await;
        assert_eq!(health(&engine), [DeviceHealth::Suspect]);
        assert_eq!(engine.snapshot().totals.retried, 1);
        serves_on(&engine).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_device_that_fails_every_time_fails_the_job_and_the_next_one_succeeds() {
    let world = world();
    all_stages_take(&world, seconds(1));
    world
        .script
        .fail(on_device(Stage::Start, 0, FaultKind::Failed, 3));
    let engine = start(settings(), world.parts(1));
    let job = submit(&engine, winning(), "bad luck").await;
    let text = failure(&engine, job).await;
    assert!(
        text.starts_with("device: partition 0: device 0 in start, attempt 3"),
        "{text}"
    );
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn the_last_device_rests_longer_after_each_failure_in_a_row_and_no_longer_than_a_quarantine()
{
    let world = world();
    world
        .script
        .fail(on_device(Stage::Start, 0, FaultKind::Failed, 4));
    let brief = EngineSettings {
        quarantine: seconds(12),
        max_attempts: 6,
        ..settings()
    };
    let engine = start(brief, world.parts(1));
    let mut receiver = engine.subscribe();
    let job = submit(&engine, winning(), "after a while").await;
    completed(&engine, job, 1).await;
    world
        .script
        .fail(on_device(Stage::Start, 0, FaultKind::Failed, 1));
    let other = submit(&engine, winning(), "soon").await;
    completed(&engine, other, 1).await;
    let begun: Vec<_> = events(&mut receiver)
        .iter()
        .filter(|stamped| !order_in(Stage::Start, std::slice::from_ref(*stamped)).is_empty())
        .map(|stamped| stamped.at)
        .collect();
    let pauses: Vec<_> = begun
        .windows(2)
        .map(|pair| pair[1].abs_diff(pair[0]).as_secs())
        .collect();
    assert_eq!(pauses, [5, 10, 12, 12, 0, 5]);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn failures_at_the_same_time_are_one() {
    let world = world();
    world.script.takes(Stage::Finish, seconds(1));
    world
        .script
        .fail(on_device(Stage::Finish, 0, FaultKind::Failed, 2));
    let engine = start(settings(), world.parts(1));
    let began = tokio::time::Instant::now();
    let job = submit(&engine, porep(), "two in flight").await;
    completed(&engine, job, 4).await;
    // Two fail, the device rests, and four are finished in twos.
    assert_eq!(began.elapsed().as_secs(), 1 + 5 + 2);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_device_without_memory_is_asked_again_and_not_blamed() {
    let world = world();
    all_stages_take(&world, seconds(1));
    let short = on_device(Stage::Start, 0, FaultKind::OutOfMemory, 2);
    world.script.fail(short);
    let engine = start(settings(), world.parts(1));
    let job = submit(&engine, winning(), "later").await;
    let began = tokio::time::Instant::now();
    completed(&engine, job, 1).await;
    // Load, three witnesses, load on the device, three starts, finish, verification, and two pauses.
    assert_eq!(began.elapsed(), seconds(10 + 5 + 10));
    assert_eq!(health(&engine), [DeviceHealth::Healthy]);
    assert_eq!(engine.snapshot().totals.retried, 2);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn only_the_bad_partition_is_proved_again_and_elsewhere() {
    let world = world();
    all_stages_take(&world, seconds(1));
    let engine = start(settings(), world.parts(2));
    world
        .script
        .fail(on_device(Stage::Finish, 0, FaultKind::BadProof, 1));
    let job = submit(&engine, porep(), "bad once").await;
    completed(&engine, job, 4).await;
    assert_eq!(world.script.num_calls(Stage::Start), 5);
    let health = health(&engine);
    assert_eq!(health, [DeviceHealth::Suspect, DeviceHealth::Healthy]);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_second_bad_proof_fails_the_job_and_none_is_ever_returned() {
    let world = world();
    all_stages_take(&world, seconds(1));
    let engine = start(settings(), world.parts(1));
    world
        .script
        .fail(on_device(Stage::Finish, 0, FaultKind::BadProof, 2));
    let job = submit(&engine, winning(), "bad").await;
    let text = failure(&engine, job).await;
    assert!(text.contains("does not verify, made 2 times"), "{text}");
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn two_devices_take_twice_as_much() {
    let world = world();
    world.script.takes(Stage::Start, seconds(10));
    let wide = EngineSettings {
        partition_workers: 8,
        ..settings()
    };
    let mut took = Vec::new();
    for num_devices in [1, 2] {
        let engine = start(wide.clone(), world.parts(num_devices));
        let began = tokio::time::Instant::now();
        let job = submit(&engine, porep(), "shared").await;
        completed(&engine, job, 4).await;
        took.push(began.elapsed());
        at_zero(&engine).await;
    }
    assert_eq!(took, [seconds(40), seconds(20)]);
}
