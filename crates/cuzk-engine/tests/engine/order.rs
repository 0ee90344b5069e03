//! Which partition is served when.

use cuzk_engine::Priority;
use tokio::time::Instant;

use super::*;

#[tokio::test(start_paused = true)]
async fn the_oldest_job_is_finished_before_the_next_one_is_begun() {
    let world = world();
    all_stages_take(&world, seconds(1));
    let engine = start(settings(), world.parts(1));
    let mut receiver = engine.subscribe();
    let mut jobs = Vec::new();
    for payload in ["a", "b", "c"] {
        jobs.push(submit(&engine, porep(), payload).await);
    }
    for job in &jobs {
        completed(&engine, *job, 4).await;
    }
    let events = events(&mut receiver);
    // Two workers take two partitions of a job at the same moment, in any order.
    let expected: Vec<_> = jobs.iter().flat_map(|job| [*job; 4]).collect();
    for stage in [Stage::Witness, Stage::Start, Stage::Finish] {
        let steps = order_in(stage, &events);
        let order: Vec<_> = steps.iter().map(|(job, _)| *job).collect();
        assert_eq!(order, expected, "{stage}");
    }
    serves_on(&engine).await;
}

/// How long a WinningPoSt takes alone, and in a backlog whose partitions take ten seconds in each step.
async fn winning_times(world: &Arc<FakeWorld>) -> (Duration, Duration) {
    all_stages_take(world, seconds(10));
    let idle_engine = start(settings(), world.parts(1));
    let alone = submit(&idle_engine, winning(), "warms the circuit").await;
    completed(&idle_engine, alone, 1).await;
    let began = Instant::now();
    let alone = submit(&idle_engine, winning(), "alone").await;
    completed(&idle_engine, alone, 1).await;
    let idle_time = began.elapsed();

    let engine = start(settings(), world.parts(1));
    let warm = submit(&engine, winning(), "warms the circuit").await;
    completed(&engine, warm, 1).await;
    let mut backlog = Vec::new();
    for index in 0..10 {
        backlog.push(submit(&engine, porep(), &index.to_string()).await);
    }
    tokio::time::sleep(seconds(95)).await;
    let began = Instant::now();
    let urgent = submit(&engine, winning(), "urgent").await;
    completed(&engine, urgent, 1).await;
    let time = began.elapsed();
    for job in backlog {
        completed(&engine, job, 4).await;
    }
    serves_on(&engine).await;
    (idle_time, time)
}

#[tokio::test(start_paused = true)]
async fn a_winning_post_does_not_wait_for_a_backlog() {
    let (idle_time, time) = winning_times(&world()).await;
    // At most one step of others on the device's thread is in its way.
    assert!(
        time <= idle_time + seconds(10),
        "{time:?} in the backlog, {idle_time:?} alone"
    );
}

#[tokio::test(start_paused = true)]
async fn a_winning_post_waits_for_nobody_where_a_device_starts_it_beside_another_partition() {
    let world = world();
    world.script.start_beside();
    let (idle_time, time) = winning_times(&world).await;
    assert_eq!(time, idle_time);
}

#[tokio::test(start_paused = true)]
async fn a_device_starts_one_partition_and_one_of_the_lane_at_a_time_and_no_more() {
    let world = world();
    world.script.start_beside();
    world.script.takes(Stage::Start, seconds(10));
    let engine = start(settings(), world.parts(1));
    let mut receiver = engine.subscribe();
    let mut jobs = Vec::new();
    for index in 0..4 {
        jobs.push((submit(&engine, winning(), &index.to_string()).await, 1));
        jobs.push((submit(&engine, porep(), &index.to_string()).await, 4));
    }
    for (job, num_partitions) in &jobs {
        completed(&engine, *job, *num_partitions).await;
    }
    let (mut running, mut most) = ([0; 2], [0; 2]);
    for stamped in events(&mut receiver) {
        let (step, change) = match stamped.event {
            Event::StepBegan { step } => (step, 1),
            Event::StepEnded { step, .. } => (step, -1),
            _ => continue,
        };
        if step.stage == Stage::Start {
            let lane = usize::from(step.circuit == Some(winning()));
            running[lane] += change;
            most[lane] = most[lane].max(running[lane]);
        }
    }
    assert_eq!(most, [1, 1]);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn a_winning_post_finds_memory_and_workers_though_others_wait_for_both() {
    let world = world();
    all_stages_take(&world, seconds(10));
    // Room for two partitions and the reserve of one WinningPoSt.
    let tight = EngineSettings {
        budget_bytes: Some(21 * MIB),
        ..settings()
    };
    let engine = start(tight, world.parts(1));
    engine.preload(winning()).await.expect("it loads");
    let mut backlog = Vec::new();
    for index in 0..3 {
        backlog.push(submit(&engine, porep(), &index.to_string()).await);
    }
    tokio::time::sleep(seconds(35)).await;
    assert_eq!(engine.snapshot().budget.reserved_bytes, 4 * MIB);
    world.script.takes(Stage::Decode, seconds(0));
    let mut receiver = engine.subscribe();
    let urgent = submit(&engine, winning(), "urgent").await;
    completed(&engine, urgent, 1).await;
    let events = events(&mut receiver);
    let witness = order_in(Stage::Witness, &events);
    assert_eq!(
        witness.first(),
        Some(&(urgent, 0)),
        "it is computed at once"
    );
    for job in backlog {
        completed(&engine, job, 4).await;
    }
    assert!(engine.snapshot().budget.peak_bytes <= 20 * MIB);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn an_urgent_job_gets_the_worker_of_one_that_waits_for_memory() {
    let window = circuit("wpost-2k");
    let world = FakeWorld::new(&[
        FakeCircuit::new(porep(), 4, 8 << 20),
        FakeCircuit::new(window, 1, 8 << 20),
    ]);
    all_stages_take(&world, seconds(10));
    let tight = EngineSettings {
        budget_bytes: Some(9 * MIB),
        ..settings()
    };
    let engine = start(tight, world.parts(1));
    engine.preload(window).await.expect("it loads");
    let backlog = submit(&engine, porep(), "backlog").await;
    // The first partition is in work, the second one waits for memory with the only other worker.
    tokio::time::sleep(seconds(25)).await;
    let mut receiver = engine.subscribe();
    let urgent = submit(&engine, window, "urgent").await;
    completed(&engine, urgent, 1).await;
    completed(&engine, backlog, 4).await;
    let events = events(&mut receiver);
    assert_eq!(order_in(Stage::Witness, &events)[0], (urgent, 0));
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn priority_and_deadline_overrule_age_and_never_ping_pong() {
    let world = world();
    all_stages_take(&world, seconds(1));
    world.script.takes(Stage::Decode, seconds(0));
    let one_worker = EngineSettings {
        partition_workers: 1,
        ..settings()
    };
    let engine = start(one_worker, world.parts(1));
    let mut receiver = engine.subscribe();
    let first = submit(&engine, porep(), "holds the worker").await;
    let mut jobs = Vec::new();
    for (payload, priority, deadline) in [
        ("low", Priority::Low, None),
        ("normal", Priority::Normal, None),
        ("later", Priority::Normal, Some(5000)),
        ("sooner", Priority::Normal, Some(4000)),
        ("high", Priority::High, None),
    ] {
        let wanted = JobRequest {
            priority: Some(priority),
            deadline: deadline.map(|after| Instant::now() + seconds(after)),
            ..JobRequest::new(request(porep(), payload))
        };
        jobs.push(engine.submit(wanted).await.expect("admitted").job);
    }
    for job in jobs.iter().chain([&first]) {
        completed(&engine, *job, 4).await;
    }
    let mut order: Vec<_> = order_in(Stage::Start, &events(&mut receiver))
        .into_iter()
        .map(|(job, _)| job)
        .collect();
    order.dedup();
    jobs.reverse();
    let served: Vec<_> = order.iter().filter(|job| **job != first).copied().collect();
    assert_eq!(served, jobs);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn tenants_take_turns_where_they_are_told_apart() {
    let world = world();
    all_stages_take(&world, seconds(1));
    let fair = EngineSettings {
        fair_tenants: true,
        ..settings()
    };
    let engine = start(fair, world.parts(1));
    let mut receiver = engine.subscribe();
    let mut jobs = Vec::new();
    for (tenant, payload) in [("a", "1"), ("a", "2"), ("a", "3"), ("b", "4"), ("b", "5")] {
        let wanted = JobRequest {
            tenant: Some(tenant.to_owned()),
            ..JobRequest::new(request(porep(), payload))
        };
        jobs.push(engine.submit(wanted).await.expect("admitted").job);
    }
    for job in &jobs {
        completed(&engine, *job, 4).await;
    }
    let mut ends: Vec<_> = ends(&events(&mut receiver)).into_iter().collect();
    ends.sort_by_key(|(_, at)| *at);
    let order: Vec<_> = ends
        .iter()
        .filter_map(|(job, _)| jobs.iter().position(|other| other == job))
        .collect();
    assert_eq!(order, [0, 3, 1, 4, 2]);
    serves_on(&engine).await;
}

#[tokio::test(start_paused = true)]
async fn the_lane_waits_for_memory_in_peace_while_somebody_more_urgent_waits_for_a_worker() {
    let world = world();
    all_stages_take(&world, seconds(10));
    // One partition at a time, and no room for a WinningPoSt beside it.
    let tight = EngineSettings {
        budget_bytes: Some(9 * MIB),
        partition_workers: 1,
        ..settings()
    };
    let engine = start(tight, world.parts(1));
    let critical = |payload: &str| JobRequest {
        priority: Some(Priority::Critical),
        ..JobRequest::new(request(porep(), payload))
    };
    let first = engine.submit(critical("first")).await.expect("admitted");
    let second = engine.submit(critical("second")).await.expect("admitted");
    let in_lane = submit(&engine, winning(), "in the lane").await;
    completed(&engine, in_lane, 1).await;
    completed(&engine, first.job, 4).await;
    completed(&engine, second.job, 4).await;
    serves_on(&engine).await;
}
