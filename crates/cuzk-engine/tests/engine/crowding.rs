//! Devices without memory for all circuits: those that are idle give way, and those in use do not.

use cuzk_engine::Tier;
use cuzk_testkit::fake::{Fault, FaultKind};

use super::*;

fn snap() -> CircuitId {
    circuit("snap-2k")
}

/// Three circuits, and devices with memory for so many of them.
fn crowded(max_circuits: usize) -> Arc<FakeWorld> {
    let circuits = [(porep(), 4), (winning(), 1), (snap(), 1)];
    let world = FakeWorld::new(&circuits.map(|(id, num)| FakeCircuit::new(id, num, 8 << 20)));
    world.script.hold_circuits(max_circuits);
    world
}

/// A failure that counts ends its job.
fn one_attempt() -> EngineSettings {
    EngineSettings {
        max_attempts: 1,
        ..settings()
    }
}

/// Circuits that are on a device.
fn hot(engine: &Engine) -> Vec<CircuitId> {
    let residents = engine.snapshot().residents;
    let hot = residents.iter().filter(|one| one.tier == Tier::Hot);
    hot.map(|one| one.circuit).collect()
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_does_not_fit_is_loaded_when_the_idle_one_left() {
    for num_devices in [1, 2] {
        let engine = start(one_attempt(), crowded(1).parts(num_devices));
        for round in 0..3 {
            for (circuit, num_partitions) in [(porep(), 4), (winning(), 1)] {
                let job = submit(&engine, circuit, &round.to_string()).await;
                completed(&engine, job, num_partitions).await;
                at_zero(&engine).await;
                assert!(hot(&engine).contains(&circuit));
            }
        }
        assert_eq!(engine.snapshot().totals.retried, 0);
        serves_on(&engine).await;
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_idle_circuit_leaves() {
    let world = crowded(2);
    let engine = start(one_attempt(), world.parts(1));
    let idle = submit(&engine, snap(), "idle soon").await;
    completed(&engine, idle, 1).await;
    world
        .script
        .takes_for(Stage::Finish, porep(), seconds(1000));
    let long = submit(&engine, porep(), "in use").await;
    tokio::time::sleep(seconds(1)).await;
    assert_eq!(hot(&engine).len(), 2);
    let urgent = submit(&engine, winning(), "urgent").await;
    completed(&engine, urgent, 1).await;
    let mut expected = [porep(), winning()];
    expected.sort_unstable();
    assert_eq!(hot(&engine), expected);
    completed(&engine, long, 4).await;
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_circuit_in_use_stays_and_the_other_one_waits_for_it() {
    let world = crowded(1);
    world.script.takes_for(Stage::Finish, porep(), seconds(4));
    let engine = start(settings(), world.parts(1));
    let first = submit(&engine, porep(), "in use").await;
    tokio::time::sleep(seconds(1)).await;
    let second = submit(&engine, winning(), "later").await;
    tokio::time::sleep(seconds(1)).await;
    assert_eq!(hot(&engine), [porep()]);
    completed(&engine, first, 4).await;
    completed(&engine, second, 1).await;
    assert_eq!(engine.snapshot().totals.retried, 2);
    serves_on(&engine).await;

    let engine = start(settings(), world.parts(1));
    world
        .script
        .takes_for(Stage::Finish, porep(), seconds(1000));
    let first = submit(&engine, porep(), "in use for long").await;
    tokio::time::sleep(seconds(1)).await;
    let second = submit(&engine, winning(), "in vain").await;
    let text = failure(&engine, second).await;
    assert!(
        text.contains("device 0 in load, attempt 3"),
        "as often as it may: {text}"
    );
    completed(&engine, first, 4).await;
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_never_fits_is_tried_once_more_for_the_idle_one_that_left() {
    let world = crowded(2);
    let engine = start(settings(), world.parts(1));
    let idle = submit(&engine, porep(), "idle soon").await;
    completed(&engine, idle, 4).await;
    at_zero(&engine).await;
    engine.preload(winning()).await.expect("it loads");
    let before = world.script.num_calls(Stage::Load);
    world.script.fail(Fault {
        stage: Stage::Load,
        device: Some(0),
        kind: FaultKind::OutOfMemory,
        times: 4,
    });
    let job = submit(&engine, winning(), "too large").await;
    let text = failure(&engine, job).await;
    assert!(text.contains("device 0 in load, attempt 3"), "{text}");
    assert_eq!(world.script.num_calls(Stage::Load) - before, 4);
    assert_eq!(hot(&engine), Vec::<CircuitId>::new());
    serves_on(&engine).await;
}
