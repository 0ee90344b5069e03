//! Derived values and refusals.

use super::*;

const GIB: u64 = 1 << 30;

fn limit(bytes: u64) -> MemoryLimit {
    MemoryLimit {
        bytes,
        origin: "the cgroup",
    }
}

fn settings() -> EngineSettings {
    EngineSettings {
        budget_bytes: Some(8 * GIB),
        partition_workers: 12,
        ..EngineSettings::default()
    }
}

fn refusal(settings: &EngineSettings) -> String {
    settings
        .derive(Some(&limit(16 * GIB)), 0)
        .expect_err("refused")
        .to_string()
}

#[test]
fn the_queue_is_as_long_as_lookahead_or_workers_ask() {
    let long = EngineSettings {
        lookahead: 20,
        ..settings()
    };
    for (settings, expected) in [(settings(), 12), (long, 20)] {
        let derived = settings.derive(Some(&limit(16 * GIB)), 0).expect("sound");
        assert_eq!(derived.ready_capacity, expected);
    }
}

#[test]
fn a_queue_that_would_serialise_the_workers_is_refused_with_both_numbers() {
    let text = refusal(&EngineSettings {
        ready_capacity: Some(1),
        ..settings()
    });
    assert!(text.contains("ready_capacity is 1"), "{text}");
    assert!(text.contains("partition_workers = 12"), "{text}");
}

#[test]
fn a_budget_over_the_limit_is_refused_with_both_numbers_and_the_origin() {
    let text = refusal(&EngineSettings {
        budget_bytes: Some(17 * GIB),
        ..settings()
    });
    for part in ["18253611008", "17179869184", "the cgroup"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn payloads_may_not_fill_the_budget() {
    let text = refusal(&EngineSettings {
        max_queued_bytes: Some(8 * GIB),
        ..settings()
    });
    assert!(text.starts_with("max_queued_bytes is 8589934592"), "{text}");
}

#[test]
fn a_zero_is_named() {
    for (name, settings) in [
        (
            "partition_workers",
            EngineSettings {
                partition_workers: 0,
                ..settings()
            },
        ),
        (
            "device_workers",
            EngineSettings {
                device_workers: 0,
                ..settings()
            },
        ),
        (
            "cpu_tail_threads",
            EngineSettings {
                cpu_tail_threads: 0,
                ..settings()
            },
        ),
        (
            "stall_deadline",
            EngineSettings {
                stall_deadline: Duration::ZERO,
                ..settings()
            },
        ),
        (
            "budget_bytes",
            EngineSettings {
                budget_bytes: Some(0),
                ..settings()
            },
        ),
    ] {
        assert!(refusal(&settings).starts_with(&format!("{name} is 0")));
    }
}

#[test]
fn an_unset_budget_follows_the_limit_and_is_never_made_up() {
    let unset = EngineSettings {
        budget_bytes: None,
        ..settings()
    };
    let derived = unset.derive(Some(&limit(1000)), 0).expect("sound");
    assert_eq!(derived.budget_bytes, 800);
    assert_eq!(unset.derive(None, 0), Err(SettingsError::UnknownMemory));
}

#[test]
fn what_devices_keep_is_taken_from_the_partitions_and_must_leave_some() {
    let settings = EngineSettings {
        budget_bytes: Some(1000),
        max_queued_bytes: Some(200),
        ..settings()
    };
    let derived = settings.derive(Some(&limit(1000)), 300).expect("sound");
    assert_eq!(derived.partition_bytes, 500);
    assert_eq!(
        settings.derive(Some(&limit(1000)), 800),
        Err(SettingsError::DevicesFillBudget {
            budget_bytes: 1000,
            own_bytes: 800,
            max_queued_bytes: 200,
        })
    );
}
