//! Devices that are lost for ever: nothing is asked of them again, and no job suffers for it.

use cuzk_engine::{CancelReason, DeviceHealth, SubmitError, Tier};
use cuzk_testkit::fake::{Fault, FaultKind};

use super::*;

/// Everything that a device is asked.
const ASKED: [Stage; 3] = [Stage::Load, Stage::Start, Stage::Finish];

fn loss(stage: Stage, device: usize) -> Fault {
    Fault {
        stage,
        device: Some(device),
        kind: FaultKind::Lost,
        times: 1,
    }
}

/// An attempt that counts ends its job.
fn one_attempt() -> EngineSettings {
    EngineSettings {
        max_attempts: 1,
        cpu_tail_threads: 1,
        ..settings()
    }
}

fn health(engine: &Engine) -> Vec<DeviceHealth> {
    let devices = engine.snapshot().devices;
    devices.iter().map(|device| device.health).collect()
}

/// Steps that a device began after it was lost.
fn asked_when_lost(device: usize, events: &[Stamped]) -> Vec<&Event> {
    let is_loss = |stamped: &&Stamped| {
        let lost = DeviceHealth::Lost;
        matches!(stamped.event, Event::DeviceChanged { device: own, health } if own == device && health == lost)
    };
    let after = events.iter().skip_while(|stamped| !is_loss(stamped));
    let asked = after.filter(
        |stamped| matches!(stamped.event, Event::StepBegan { step } if step.device == Some(device)),
    );
    asked.map(|stamped| &stamped.event).collect()
}

#[tokio::test(start_paused = true)]
async fn the_work_of_a_lost_device_is_done_by_another_one_and_counts_as_no_attempt() {
    for stage in ASKED {
        let world = world();
        all_stages_take(&world, seconds(1));
        world.script.takes(Stage::Finish, seconds(5));
        let engine = start(one_attempt(), world.parts(2));
        let mut receiver = engine.subscribe();
        let first = submit(&engine, porep(), "before").await;
        if stage != Stage::Load {
            // Both devices have partitions in flight, and some wait for the tail.
            tokio::time::sleep(seconds(6)).await;
        }
        world.script.fail(loss(stage, 0));
        let second = submit(&engine, porep(), "meanwhile").await;
        let urgent = submit(&engine, winning(), "urgent").await;
        for (job, num_partitions) in [(first, 4), (second, 4), (urgent, 1)] {
            completed(&engine, job, num_partitions).await;
        }
        let lost = [DeviceHealth::Lost, DeviceHealth::Healthy];
        assert_eq!(health(&engine), lost, "{stage}");
        let degraded = engine.snapshot().degraded;
        assert_eq!(degraded, ["device 0 (fake) is lost: scripted loss"]);
        tokio::time::sleep(LONG).await;
        serves_on(&engine).await;
        assert_eq!(health(&engine), lost, "{stage}");
        let events = events(&mut receiver);
        assert_eq!(asked_when_lost(0, &events), Vec::<&Event>::new(), "{stage}");
    }
}

#[tokio::test(start_paused = true)]
async fn when_the_only_device_is_lost_the_owner_is_told_and_jobs_are_interrupted_instead_of_failed()
{
    for stage in ASKED {
        let world = world();
        all_stages_take(&world, seconds(1));
        world.script.takes(Stage::Decode, Duration::ZERO);
        world.script.fail(loss(stage, 0));
        let engine = start(settings(), world.parts(1));
        let mut jobs = vec![submit(&engine, winning(), "urgent").await];
        for payload in ["a", "b", "c"] {
            jobs.push(submit(&engine, porep(), payload).await);
        }
        let lost = tokio::time::timeout(LONG, engine.lost()).await;
        assert_eq!(
            lost.expect("the owner is told").to_string(),
            "device 0 (fake) is lost, and no other one is left: scripted loss"
        );
        for job in jobs {
            let outcome = outcome(&engine, job).await;
            let JobOutcome::Cancelled { reason, .. } = &*outcome else {
                panic!("{outcome:?}")
            };
            assert_eq!(*reason, CancelReason::DevicesLost);
            assert!(reason.is_interruption());
        }
        assert_eq!(engine.snapshot().totals.failed, 0, "{stage}");
        assert_eq!(health(&engine), [DeviceHealth::Lost]);
        at_zero(&engine).await;
        for resident in engine.snapshot().residents {
            assert_ne!(resident.tier, Tier::Hot, "{stage}: {resident:?}");
        }
        let late = JobRequest::new(request(porep(), "late"));
        let refused = engine.submit(late).await.expect_err("refused");
        assert!(matches!(refused, SubmitError::Draining));
    }
}

#[tokio::test(start_paused = true)]
async fn a_quarantine_ends_when_the_other_device_is_lost() {
    let world = world();
    all_stages_take(&world, seconds(1));
    let engine = start(settings(), world.parts(2));
    world.script.fail(Fault {
        kind: FaultKind::Failed,
        ..loss(Stage::Start, 1)
    });
    let job = submit(&engine, porep(), "quarantined").await;
    completed(&engine, job, 4).await;
    assert_eq!(health(&engine)[1], DeviceHealth::Quarantined);
    world.script.fail(loss(Stage::Start, 0));
    let began = tokio::time::Instant::now();
    let job = submit(&engine, porep(), "back").await;
    completed(&engine, job, 4).await;
    assert!(began.elapsed() < settings().quarantine);
    assert_eq!(health(&engine), [DeviceHealth::Lost, DeviceHealth::Suspect]);
    world.script.fail(loss(Stage::Start, 1));
    submit(&engine, porep(), "nowhere").await;
    let lost = tokio::time::timeout(LONG, engine.lost()).await;
    assert_eq!(lost.expect("the owner is told").device, 1);
    at_zero(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_device_that_is_lost_while_it_loads_a_circuit_is_not_asked_to_start_it() {
    let world = world();
    world.script.takes(Stage::Finish, seconds(5));
    let engine = start(one_attempt(), world.parts(2));
    engine.preload(winning()).await.expect("it loads");
    let mut receiver = engine.subscribe();
    world.script.fail(loss(Stage::Finish, 0));
    let first = submit(&engine, porep(), "lost in 5 s").await;
    tokio::time::sleep(seconds(1)).await;
    world.script.takes(Stage::Load, seconds(10));
    let second = submit(&engine, winning(), "loaded meanwhile").await;
    completed(&engine, first, 4).await;
    completed(&engine, second, 1).await;
    assert_eq!(health(&engine)[0], DeviceHealth::Lost);
    let events = events(&mut receiver);
    let is_loaded = |stamped: &Stamped| {
        matches!(stamped.event, Event::StepBegan { step } if step.job == Some(second)
            && step.stage == Stage::Load && step.device == Some(0))
    };
    assert!(events.iter().any(is_loaded), "by the one that is lost");
    assert_eq!(asked_when_lost(0, &events), Vec::<&Event>::new());
    serves_on(&engine).await;
}
