//! Compiled circuits through the binary: made, looked at, checked, and refused when they are damaged.

#[allow(dead_code, reason = "each test file uses its part of the module")]
mod binary;

use std::fs;

use binary::{cuzk, cuzk_with};

#[test]
fn a_compiled_circuit_is_what_the_real_one_is() {
    let home = tempfile::tempdir().expect("a folder");
    let run = |args: &[&str]| cuzk_with(home.path(), &[], args).expect_code(0).json();
    let made = run(&[
        "circuit",
        "compile",
        "winning-2k",
        "--out",
        "new/winning.circuit",
        "--json",
    ]);
    let bytes = fs::read(home.path().join("new/winning.circuit")).expect("the file was made");
    assert_eq!(made["file_bytes"].as_u64(), Some(bytes.len() as u64));
    assert!(bytes.len() < 80_000, "{} bytes", bytes.len());

    let counted = run(&["circuit", "inspect", "winning-2k", "--json"]);
    let mut loaded = run(&["circuit", "inspect", "new/winning.circuit", "--json"]);
    assert_eq!(loaded["compiled"]["is_current"], true);
    assert!(loaded["compiled"]["instances"].as_u64() > Some(66));
    let fields = counted.as_object().expect("an object");
    for (name, value) in fields {
        if name != "seconds" && name != "peak_rss_bytes" {
            assert_eq!(loaded[name].take(), *value, "{name}");
        }
    }
    let checked = run(&["circuit", "check", "new/winning.circuit", "--json"]);
    assert_eq!(checked["digest"], made["digest"]);
    assert_eq!(checked["num_constraints"], 90_750);
}

#[test]
fn a_damaged_file_exits_with_3_and_a_missing_one_with_6() {
    let home = tempfile::tempdir().expect("a folder");
    let args = ["circuit", "compile", "wpost-2k", "--keys", "keys", "--json"];
    let made = cuzk_with(home.path(), &[], &args).expect_code(0).json();
    let name = made["file"].as_str().expect("a path");
    assert!(name.starts_with("keys/wpost-2k-"), "{name}");
    let path = home.path().join(name);
    let mut bytes = fs::read(&path).expect("the file was made");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, bytes).expect("the file can be written");
    for command in ["inspect", "check"] {
        let run = cuzk_with(home.path(), &[], &["circuit", command, name]).expect_code(3);
        assert!(run.err.contains("checksum"), "{run:?}");
    }
    let run = cuzk(&["circuit", "check", "no.circuit"]).expect_code(6);
    assert!(run.err.contains("no.circuit"), "{run:?}");
}

#[test]
fn templates_evaluate_to_the_rows_that_were_built() {
    let home = tempfile::tempdir().expect("a folder");
    let args = [
        "bench",
        "evaluate",
        "--circuit",
        "winning-2k",
        "--rows-fraction",
        "0.5",
        "--json",
    ];
    let json = cuzk_with(home.path(), &[], &args).expect_code(0).json();
    assert_eq!(json["num_rows"], 45_375);
    assert_eq!(json["equal"], true);
    let refused = cuzk_with(home.path(), &[], &[&args[..5], &["1.5"]].concat()).expect_code(2);
    assert!(refused.err.contains("above 0 and at most 1"), "{refused:?}");
}
