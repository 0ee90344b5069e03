//! Synthetic sectors on the command line: what is written is decoded, satisfies the circuit, and has upstream's witness.

#[allow(dead_code, reason = "each test file uses its part of the module")]
mod binary;

use binary::{cuzk, cuzk_with};

#[test]
fn a_synthetic_replication_satisfies_its_circuit_and_no_other() {
    let home = tempfile::tempdir().expect("a folder for the run");
    let run = |args: &str| {
        let args: Vec<&str> = args.split_whitespace().collect();
        cuzk_with(home.path(), &[], &args)
    };
    let synth = "sector synth --kind porep --size 2KiB --seed 7 --data random --out c1.json --json";
    let json = run(synth).expect_code(0).json();
    let written = std::fs::read(home.path().join("c1.json")).expect("the file was written");
    assert_eq!(json["bytes"], written.len());
    assert_eq!(json["circuit"], "porep-2k");
    assert_eq!(
        json["command"],
        "cuzk prove porep --c1 c1.json --miner-id 1000"
    );

    run(synth).expect_code(0);
    let again = std::fs::read(home.path().join("c1.json")).expect("the file was written");
    assert!(again == written, "the same options give the same bytes");

    let check = "circuit check --satisfied --circuit porep-2k --c1 c1.json --json --partition";
    let json = run(&format!("{check} 0")).expect_code(0).json();
    assert_eq!(json["satisfied"], true);
    assert_eq!(json["rows"], 2_687_921);
    let beyond = run(&format!("{check} 1")).expect_code(3);
    assert!(
        beyond.err.contains("partition 1 does not exist"),
        "{beyond:?}"
    );
    let other = run("circuit check --satisfied --circuit porep-8m --c1 c1.json --partition 0");
    let other = other.expect_code(3);
    assert!(
        other.err.contains("of porep-2k, not of porep-8m"),
        "{other:?}"
    );
}

#[test]
fn a_synthetic_post_is_a_folder_with_a_file_per_sector() {
    let home = tempfile::tempdir().expect("a folder for the run");
    let args = "sector synth --kind wpost --size 2KiB --seed 7 --sectors 3 --out wpost --json";
    let args: Vec<&str> = args.split_whitespace().collect();
    let json = cuzk_with(home.path(), &[], &args).expect_code(0).json();
    let files = json["files"].as_array().expect("a list of files");
    assert_eq!(files.len(), 3);
    for file in files {
        let path = home.path().join(file.as_str().expect("a path"));
        assert!(path.is_file(), "{}", path.display());
    }
    let command = json["command"].as_str().expect("a command");
    assert!(
        command.starts_with("cuzk prove wpost --partition-index 0 --registered-proof 10 "),
        "{command}"
    );
}

#[test]
fn more_than_one_sector_is_for_window_posts() {
    for args in [
        "sector synth --kind porep --size 2KiB --seed 1 --sectors 2 --out x",
        "bench witness --circuit porep-2k --sectors 2",
    ] {
        let args: Vec<&str> = args.split_whitespace().collect();
        let run = cuzk(&args).expect_code(2);
        assert!(run.err.contains("--sectors 2 is for"), "{run:?}");
    }
    let args = "sector synth --kind wpost --size 2KiB --seed 1 --sectors 2350 --out x";
    let args: Vec<&str> = args.split_whitespace().collect();
    let run = cuzk(&args).expect_code(2);
    assert!(run.err.contains("2350"), "{run:?}");
}

#[test]
fn bench_witness_compares_every_variable_with_upstreams() {
    let args = ["bench", "witness", "--circuit", "winning-2k", "--json"];
    let json = cuzk(&args).expect_code(0).json();
    assert_eq!(json["exact"], true);
    assert_eq!(json["num_aux"], 91_674);
    assert!(json["ours_core_s"].as_f64() > Some(0.0), "{json}");
    assert!(json["ratio"].as_f64() < Some(1.0), "{json}");
    assert!(
        json["packed_bytes"].as_u64() < json["upstream_bytes"].as_u64(),
        "{json}"
    );
}

#[test]
fn a_demonstration_of_witnesses_needs_no_key_and_explains_itself() {
    let home = tempfile::tempdir().expect("a folder for the run");
    let run = |args: &str| {
        let args: Vec<&str> = args.split_whitespace().collect();
        cuzk_with(home.path(), &[], &args)
    };
    let demo = "demo --size 32GiB --witness-only --kind winning";
    let json = run(&format!("{demo} --json")).expect_code(0).json();
    assert_eq!(json["size"], "32GiB");
    let kind = &json["kinds"][0];
    assert_eq!(kind["circuit"], "winning-32g");
    assert_eq!(kind["num_aux"], 375_210);
    assert_eq!(kind["public_inputs_equal"], true);
    assert!(kind["packed_bytes"].as_u64() < kind["plain_bytes"].as_u64());
    let page = run(demo).expect_code(0);
    for words in [
        "one sector is at hand this very moment",
        "nothing was proved",
        "cuzk bench witness --circuit winning-32g",
    ] {
        assert!(page.out.contains(words), "{words}: {page:?}");
    }
    let proofs = run("demo --size 32GiB").expect_code(2);
    assert!(proofs.err.contains("--witness-only"), "{proofs:?}");
    let saved = run("demo --size 8MiB --save here").expect_code(2);
    assert!(
        saved.err.contains("cuzk sector synth --size 8MiB"),
        "{saved:?}"
    );
}

#[test]
fn rows_by_templates_have_the_digest_of_rows_as_they_are_built() {
    let args = "bench evaluate --circuit wpost-8m --digest --repeat 1 --json";
    let args: Vec<&str> = args.split_whitespace().collect();
    let json = cuzk(&args).expect_code(0).json();
    assert_eq!(json["num_rows"], 64_266);
    assert_eq!(
        (&json["compared"], &json["equal"]),
        (&"digest".into(), &true.into())
    );
}
