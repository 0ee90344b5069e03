//! The load generator on the real circuits of 2 KiB, through an engine of its own.

#[allow(dead_code, reason = "each test file uses its part of the module")]
mod binary;

use binary::cuzk_with;
use cuzk_testkit::keys;
use serde_json::Value;

/// What every result must have, whatever else it says.
const KEYS: [&str; 9] = [
    "proofs",
    "verified",
    "failed",
    "s_per_proof",
    "back_to_back_s_per_proof",
    "latency_ms",
    "peak_rss_bytes",
    "peak_by_class",
    "tracker_at_zero",
];

#[test]
fn a_load_through_an_engine_is_verified_compared_and_recorded() {
    let home = tempfile::tempdir().expect("a folder");
    for circuit in ["winning-2k", "wpost-2k"] {
        keys::for_circuit(circuit.parse().expect("a circuit"));
    }
    let folder = keys::folder();
    let folder = folder.to_str().expect("the target folder is UTF-8");
    let args = [
        "bench",
        "load",
        "-c",
        "4",
        "-j",
        "3",
        "--mix",
        "wpost=3,winning=1",
        "--keys",
        folder,
        "--out",
        "record.json",
        "--json",
    ];
    let result = cuzk_with(home.path(), &[], &args).expect_code(0).json();
    for key in KEYS {
        assert!(!result[key].is_null(), "{key} is not in {result:#}");
    }
    assert_eq!(
        [&result["proofs"], &result["verified"], &result["failed"]],
        [4, 4, 0]
    );
    assert_eq!(result["tracker_at_zero"], true);
    assert_eq!(result["kinds"]["wpost-2k"]["proofs"], 3);
    assert_eq!(result["stages"]["start"]["steps"], 4);
    let positive = |pointer: &str| {
        let value = result.pointer(pointer).and_then(Value::as_f64);
        assert!(value > Some(0.0), "{pointer} in {result:#}");
    };
    positive("/s_per_proof");
    positive("/back_to_back_s_per_proof");
    positive("/latency_ms/p50");
    positive("/kinds/winning-2k/latency_ms/p99");
    positive("/peak_by_class/witness");
    positive("/devices/0/busy_share");
    positive("/cpu_s");

    let record = std::fs::read(home.path().join("record.json")).expect("a record");
    let record: Value = serde_json::from_slice(&record).expect("JSON");
    assert_eq!(record["result"], result);
    assert_eq!(record["answers"].as_array().map(Vec::len), Some(4));
    let steps = record["steps"].as_array().expect("a list");
    let of_stage = |stage: &str| steps.iter().filter(|step| step["stage"] == stage).count();
    assert_eq!((of_stage("start"), of_stage("finish")), (4, 4));
}

#[test]
fn a_load_that_cannot_be_made_is_refused_by_name() {
    let home = tempfile::tempdir().expect("a folder");
    for (args, words) in [
        (&["--mix", "poreb=1"][..], "poreb"),
        (&["--circuit", "winning-2k", "--mix", "porep=1"], "--mix"),
        (&[], "--circuit"),
        (
            &["--circuit", "winning-2k", "--set", "server.listen=x:1"],
            "section engine",
        ),
        (
            &[
                "--circuit",
                "winning-2k",
                "--set",
                "engine.ready_capacity=0",
            ],
            "ready_capacity",
        ),
    ] {
        let all = [&["bench", "load"], args].concat();
        let run = cuzk_with(home.path(), &[], &all).expect_code(2);
        assert!(run.err.contains(words), "{args:?}: {}", run.err);
    }
}
