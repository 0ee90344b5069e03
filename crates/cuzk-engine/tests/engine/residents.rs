//! Keys and circuits under the same budget as partitions.

use cuzk_engine::{ErrorClass, ResidencyError, Tier};

use super::*;

/// Two circuits whose keys take 40 MiB each, with partitions of 8 MiB.
fn two_keys() -> Arc<FakeWorld> {
    let with_key = |id, num_partitions| FakeCircuit {
        key_bytes: 40 * MIB,
        ..FakeCircuit::new(id, num_partitions, 8 << 20)
    };
    let world = FakeWorld::new(&[with_key(porep(), 4), with_key(snap(), 4)]);
    all_stages_take(&world, seconds(1));
    world
}

fn snap() -> CircuitId {
    circuit("snap-2k")
}

fn with_budget(mib: u64) -> EngineSettings {
    EngineSettings {
        budget_bytes: Some((mib + 1) * MIB),
        ..settings()
    }
}

fn tier(engine: &Engine, circuit: CircuitId) -> Tier {
    let residents = engine.snapshot().residents;
    let found = residents.iter().find(|one| one.circuit == circuit);
    found.expect("it has a key").tier
}

#[tokio::test(start_paused = true)]
async fn a_circuit_is_cold_then_warm_then_hot_and_cold_again_with_its_bytes_back() {
    let world = two_keys();
    let engine = start(with_budget(100), world.parts(1));
    assert_eq!(tier(&engine, porep()), Tier::Cold);
    let loaded = engine.preload(porep()).await.expect("it loads");
    assert!(!loaded.already_loaded);
    assert_eq!(loaded.took, seconds(1));
    assert_eq!(tier(&engine, porep()), Tier::Warm);
    assert!(
        engine
            .preload(porep())
            .await
            .expect("it is there")
            .already_loaded
    );
    let job = submit(&engine, porep(), "heats it").await;
    completed(&engine, job, 4).await;
    at_zero(&engine).await;
    assert_eq!(tier(&engine, porep()), Tier::Hot);
    assert_eq!(engine.snapshot().budget.used_bytes, 40 * MIB);
    assert_eq!(engine.evict(porep()).expect("it is idle"), Some(40 * MIB));
    assert_eq!(engine.evict(porep()).expect("nothing there"), None);
    assert_eq!(
        world.script.evicted(),
        [porep()],
        "its source gives up what it kept, too"
    );
    assert_eq!(tier(&engine, porep()), Tier::Cold);
    assert_eq!(engine.snapshot().budget.used_bytes, 0);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_circuit_in_use_is_not_evicted() {
    let engine = start(with_budget(100), two_keys().parts(1));
    let job = submit(&engine, porep(), "uses it").await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let refused = engine.evict(porep()).expect_err("refused");
    assert!(matches!(refused, ResidencyError::InUse { .. }));
    assert_eq!(refused.class(), ErrorClass::Busy);
    completed(&engine, job, 4).await;
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn the_idle_circuit_gives_way_and_keys_alternate_where_both_do_not_fit() {
    let world = two_keys();
    let engine = start(with_budget(60), world.parts(1));
    for round in 0..3 {
        for circuit in [porep(), snap()] {
            let job = submit(&engine, circuit, &round.to_string()).await;
            completed(&engine, job, 4).await;
            assert_eq!(tier(&engine, circuit), Tier::Hot);
        }
    }
    assert!(engine.snapshot().budget.peak_bytes <= 60 * MIB);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn jobs_of_two_circuits_that_do_not_fit_together_both_end() {
    let world = two_keys();
    for mib in [48, 56, 60, 88, 100] {
        let engine = start(with_budget(mib), world.parts(1));
        let mut jobs = Vec::new();
        for index in 0..4 {
            for circuit in [porep(), snap()] {
                jobs.push(submit(&engine, circuit, &index.to_string()).await);
            }
        }
        for job in jobs {
            completed(&engine, job, 4).await;
        }
        assert!(engine.snapshot().budget.peak_bytes <= mib * MIB);
        serves_on(&engine).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_jobs_key_is_loaded_while_the_first_job_is_proved() {
    let world = two_keys();
    let engine = start(with_budget(100), world.parts(1));
    let first = submit(&engine, porep(), "first").await;
    let second = submit(&engine, snap(), "second").await;
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert!(matches!(
        engine.status(first),
        Ok(JobStatus::Running { num_done: 0, .. })
    ));
    assert_eq!(tier(&engine, snap()), Tier::Warm, "it was looked ahead");
    completed(&engine, first, 4).await;
    completed(&engine, second, 4).await;
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_key_that_can_never_fit_is_refused_at_once() {
    let engine = start(with_budget(47), two_keys().parts(1));
    let job = submit(&engine, porep(), "too large").await;
    let text = failure(&engine, job).await;
    let numbers = [48 * MIB, 47 * MIB].map(|number| number.to_string());
    assert!(numbers.iter().all(|number| text.contains(number)), "{text}");
    at_zero(&engine).await;

    let engine = start(with_budget(39), two_keys().parts(1));
    let refused = engine.preload(porep()).await.expect_err("refused");
    assert!(matches!(refused, ResidencyError::TooLarge { .. }));
    at_zero(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_circuit_without_a_key_is_refused_before_it_is_a_job() {
    let engine = start(with_budget(100), two_keys().parts(1));
    let wanted = JobRequest::new(request(winning(), "no key"));
    let refused = engine.submit(wanted).await.expect_err("refused");
    assert_eq!(refused.class(), ErrorClass::Resource);
    serves_on(&engine).await;
}
