//! Commands that use an NVIDIA card, where there is none: they say what is missing, and leave nothing behind.

#[allow(dead_code, reason = "each test file uses its part of the module")]
mod binary;

use binary::{cuzk, cuzk_with};

#[test]
fn the_doctor_answers_in_words_and_as_json() {
    let run = cuzk(&["doctor"]).expect_code(0);
    for text in ["processor", "key folder", "no keys"] {
        assert!(run.out.contains(text), "{text}: {run:?}");
    }
    let json = cuzk(&["doctor", "--json"]).expect_code(0).json();
    assert!(json["threads"].as_u64().is_some_and(|threads| threads > 0));
    let cards = json["cards"].as_array().expect("a list").len();
    assert_eq!(cards == 0, json["no_cards"].is_string(), "{json}");
}

#[test]
fn the_doctor_lists_the_keys_of_a_folder() {
    let home = tempfile::tempdir().expect("a folder");
    let setup = ["key", "setup", "--circuit", "wpost-2k", "--keys", "keys"];
    cuzk_with(home.path(), &[], &setup).expect_code(0);
    let json = cuzk_with(home.path(), &[], &["doctor", "--keys", "keys", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(json["keys"][0]["circuit"], "wpost-2k");
    assert_eq!(json["keys"][0]["file_bytes"], 11_501_496);
    assert!(json["keys"][0]["resident_bytes"].as_u64() > Some(11_000_000));
}

#[test]
fn what_compares_with_the_processor_is_refused_for_a_card() {
    let card = [
        "bench",
        "partition",
        "--circuit",
        "wpost-2k",
        "--device",
        "cuda",
    ];
    for comparison in [&["--against", "bellperson"][..], &["--oracle"]] {
        let run = cuzk(&[&card[..], comparison].concat()).expect_code(2);
        assert!(run.err.contains(comparison[0]), "{run:?}");
        assert!(run.err.contains("--device"), "{run:?}");
    }
}
