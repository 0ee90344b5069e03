//! What a proving farm learned about one hand-over: 12 partition workers, partitions of 16 GiB, ten per proof.
//!
//! Finished partitions waited before the device while their permits were already given back, and the machine ran out of
//! memory. Holding the permit with room for one partition capped memory and cost throughput. Room for as many as there are
//! workers gives both.

use cuzk_engine::Mistakes;
use tokio::time::Instant;

use super::*;

const WORKERS: usize = 12;
const PARTITION_BYTES: u64 = 16 * GIB;
const NUM_PROOFS: u32 = 30;

struct Run {
    /// Sets of values that were alive at the worst moment.
    peak_sets: u64,
    /// Bytes of permits at the worst moment.
    peak_permits: u64,
    /// Wall time by number of proofs.
    per_proof: Duration,
}

/// Proves a backlog; witnesses take between 10 and 70 seconds, the device takes 3.6.
async fn run(mistakes: Mistakes, budget_bytes: u64) -> Run {
    let large = circuit("porep-32g");
    let world = FakeWorld::new(&[FakeCircuit::new(large, 10, PARTITION_BYTES as usize)]);
    let script = &world.script;
    script.takes_between(Stage::Witness, seconds(10), seconds(70));
    script.takes(Stage::Start, Duration::from_millis(3600));
    script.takes(Stage::Finish, Duration::from_millis(1700));
    let mut parts = world.parts(1);
    parts.mistakes = mistakes;
    let field = EngineSettings {
        budget_bytes: Some(budget_bytes + MIB),
        partition_workers: WORKERS,
        max_queued_bytes: Some(MIB),
        ..settings()
    };
    let engine = start(field, parts);
    engine.preload(large).await.expect("it loads");
    let began = Instant::now();
    let mut jobs = Vec::new();
    for index in 0..NUM_PROOFS {
        jobs.push(submit(&engine, large, &index.to_string()).await);
    }
    for job in jobs {
        completed(&engine, job, 10).await;
    }
    let per_proof = began.elapsed() / NUM_PROOFS;
    at_zero(&engine).await;
    let snapshot = engine.snapshot();
    Run {
        peak_sets: snapshot.buffers[&BufferClass::Witness].peak_count,
        peak_permits: snapshot.budget.peak_bytes,
        per_proof,
    }
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_covers_the_hand_over_and_a_queue_as_long_as_the_workers_give_memory_and_overlap()
 {
    let machine = 755 * GIB;
    let dropped = Mistakes {
        permit_dropped_before_send: true,
        ready_capacity: Some(1),
    };
    let serialising = Mistakes {
        permit_dropped_before_send: false,
        ready_capacity: Some(1),
    };
    let dropped = run(dropped, machine).await;
    let serialised = run(serialising, machine).await;
    let derived = run(Mistakes::default(), machine).await;
    let tight = run(Mistakes::default(), 12 * PARTITION_BYTES).await;

    // As many sets as there were backlog, whatever the permits say.
    assert!(dropped.peak_sets > 28, "{} sets", dropped.peak_sets);
    // Workers, the queue's one place, and the device's two.
    assert!(serialised.peak_sets <= 15, "{} sets", serialised.peak_sets);
    assert!(derived.peak_sets <= 26, "{} sets", derived.peak_sets);
    assert!(
        serialised.per_proof > derived.per_proof.mul_f64(1.02),
        "{:?} with room for one, {:?} with room for {WORKERS}",
        serialised.per_proof,
        derived.per_proof
    );
    assert!(
        derived.per_proof < seconds(36).mul_f64(1.08),
        "{:?} where the device alone takes 36 s",
        derived.per_proof
    );
    // The budget holds in any case, to the byte, and counts what is alive.
    assert_eq!(tight.peak_permits, 12 * PARTITION_BYTES);
    assert!(tight.peak_sets <= 12, "{} sets", tight.peak_sets);
}

#[test]
fn a_queue_that_serialises_is_refused_as_a_setting() {
    let serialising = EngineSettings {
        partition_workers: WORKERS,
        ready_capacity: Some(1),
        ..settings()
    };
    let text = serialising.validate().expect_err("refused").to_string();
    assert!(text.contains("ready_capacity is 1"), "{text}");
    assert!(text.contains("partition_workers = 12"), "{text}");
}
