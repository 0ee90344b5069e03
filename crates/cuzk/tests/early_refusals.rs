//! What can be known at once is refused at once: with the value, the way out and the documented exit code, and before a
//! sector is sealed, a circuit compiled or a folder made.

#[allow(dead_code, reason = "each test file uses its part of the module")]
mod binary;

use std::{fs, net::TcpListener, path::Path};

use binary::{Run, cuzk_with};

/// Runs a command that must end with `code`, say `words`, and leave nothing in its home.
fn refused(line: &str, code: i32, words: &str) -> Run {
    let home = tempfile::tempdir().expect("a folder");
    let args: Vec<&str> = line.split_whitespace().collect();
    let run = cuzk_with(home.path(), &[], &args).expect_code(code);
    assert!(run.err.contains(words), "{line}: {}", run.err);
    for work in ["sealing", "compiling", "circuit winning-2k\n", "synthetic"] {
        assert!(!run.err.contains(work), "{line}: {}", run.err);
    }
    let left = fs::read_dir(home.path()).expect("the home").count();
    assert_eq!(left, 0, "{line} left something behind");
    run
}

#[test]
fn terms_are_for_a_daemon_and_a_record_needs_a_folder() {
    for terms in ["--deadline 5s", "--priority high", "--request-id r"] {
        let line = format!(
            "prove winning --vanilla v --registered-proof 0 --miner-id 1000 --randomness {} {terms}",
            "2a".repeat(32)
        );
        refused(&line, 2, "--addr");
    }
    refused(
        "bench load --circuit winning-2k --out missing/record.json",
        6,
        "missing/record.json",
    );
}

#[test]
fn a_value_that_cannot_be_read_is_named_with_what_is_expected() {
    for (line, words) in [
        (
            "bench proof --circuit winning-2k --device CPU",
            "cpu, cuda, or cuda:N",
        ),
        ("bench kernels --device cpu", "cuda, or cuda:N"),
        (
            "bench proof --circuit winning-2k -n 0",
            "a whole number from 1",
        ),
        (
            "bench proof --circuit winning-2k -n abc",
            "a whole number from 1",
        ),
        (
            "bench load --circuit winning-2k --set device.kind",
            "\"device.kind\"",
        ),
        (
            "key setup --circuit nosuch --keys k",
            "circuits are porep-2k",
        ),
    ] {
        refused(line, 2, words);
    }
    for bytes in ["-1", "-1GiB", "16GB", "1.5GiB", "8"] {
        for command in ["proof", "load"] {
            let line = format!(
                "bench {command} --circuit winning-2k --device cuda --device-memory-limit {bytes}"
            );
            let run = refused(&line, 2, "B, KiB, MiB, GiB or TiB");
            assert!(run.err.contains(bytes), "{run:?}");
        }
    }
    refused(
        "bench proof --circuit winning-2k --device cuda --device-memory-limit 99999999TiB",
        2,
        "\"99999999TiB\" is too large",
    );
}

#[test]
fn an_option_that_would_have_no_effect_is_refused() {
    for (line, words) in [
        (
            "bench proof --circuit winning-2k --device-memory-limit 1GiB",
            "--device-memory-limit: 1.00 GiB limit the memory of a card",
        ),
        (
            "bench load --circuit winning-2k --device-memory-limit 1GiB",
            "choose the device cuda",
        ),
        (
            "bench proof --circuit winning-2k --device cuda --device-memory-limit 0B",
            "leave no memory",
        ),
        (
            "bench load --circuit winning-2k --addr 127.0.0.1:1 --device-memory-limit 1GiB",
            "cannot be used with",
        ),
        (
            "serve --set device.memory_limit=1GiB",
            "device.memory_limit (from --set): 1.00 GiB limit",
        ),
        (
            "serve --set device.kind=cuda --set device.memory_limit=0B",
            "leave no memory",
        ),
        (
            "bench load --circuit winning-2k --set device.kind=cuda",
            "device.kind=cuda: only settings of the section engine count here; --device",
        ),
        (
            "bench proof --circuit winning-2k --sectors 2",
            "--sectors 2 is for WindowPoSt, winning-2k is about one sector",
        ),
        (
            "bench proof --circuit winning-2k --partitions 2",
            "--partitions 2: a proof of winning-2k has 1 partition\n",
        ),
        (
            "bench proof --circuit porep-32g --partitions 11",
            "--partitions 11: a proof of porep-32g has 10 partitions\n",
        ),
        (
            "bench proof --circuit winning-2k --ephemeral",
            "--device cuda",
        ),
        (
            "key setup --circuit winning-2k --ephemeral",
            "--device cuda",
        ),
        (
            "bench kernels --smallest 25 --largest 24",
            "--smallest 25 is more than --largest 24",
        ),
        ("bench kernels --largest 28", "from 20 to 27, found \"28\""),
    ] {
        refused(line, 2, words);
    }
    refused("bench kernels --peer ./nosuch", 6, "--peer ./nosuch");
}

#[test]
fn a_key_that_is_missing_is_found_missing_before_anything_is_made() {
    for command in ["proof", "partition", "load"] {
        let line = format!("bench {command} --circuit winning-2k --keys missing");
        refused(&line, 4, "no key of winning-2k");
    }
}

#[test]
fn a_daemon_that_does_not_answer_is_found_before_anything_is_made() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("its address");
    drop(free);
    let line = format!("bench load --circuit winning-2k --addr {address}");
    refused(&line, 7, "no daemon answers");
}

#[test]
fn a_card_that_cannot_be_used_is_found_before_anything_is_made() {
    // No machine has so many cards.
    for line in [
        "key setup --circuit winning-2k --keys keys --device cuda:999",
        "key setup --circuit winning-2k --device cuda:999 --ephemeral",
        "bench partition --circuit winning-2k --device cuda:999",
        "bench proof --circuit winning-2k --device cuda:999 --ephemeral",
        "bench load --circuit winning-2k --device cuda:999",
        "bench kernels --device cuda:999",
    ] {
        let run = refused(line, 6, "NVIDIA card 999");
        assert!(run.err.contains("the device cpu"), "{run:?}");
    }
}

/// A home with the key of the smallest circuit in `keys`.
fn with_key() -> (tempfile::TempDir, std::path::PathBuf) {
    let home = tempfile::tempdir().expect("a folder");
    let setup = "key setup --circuit wpost-2k --keys keys --json";
    let run = run(home.path(), setup).expect_code(0).json();
    let params = home.path().join(run["params"].as_str().expect("a path"));
    (home, params)
}

fn run(home: &Path, line: &str) -> Run {
    let args: Vec<&str> = line.split_whitespace().collect();
    cuzk_with(home, &[], &args)
}

#[test]
fn a_check_of_the_settings_starts_the_device_as_the_daemon_does() {
    let (home, _) = with_key();
    let check = "config check --keys keys";
    let ok = run(home.path(), check).expect_code(0);
    assert!(
        ok.out.contains("can start") && ok.out.contains("cpu"),
        "{ok:?}"
    );
    // No machine has so many cards.
    let card = " --set device.kind=cuda:999";
    let checked = run(home.path(), &format!("{check}{card}")).expect_code(6);
    let served = run(home.path(), &format!("serve --keys keys{card}")).expect_code(6);
    assert!(checked.out.is_empty(), "{checked:?}");
    assert!(checked.err.contains("NVIDIA card 999"), "{checked:?}");
    assert_eq!(checked.err.lines().last(), served.err.lines().last());
}

#[test]
fn a_folder_of_keys_that_is_none_is_named() {
    let home = tempfile::tempdir().expect("a folder");
    fs::write(home.path().join("file"), "").expect("a file");
    for command in ["doctor", "serve", "config check"] {
        for (folder, words) in [("missing", "does not exist"), ("file", "is not a folder")] {
            let run = run(home.path(), &format!("{command} --keys {folder}")).expect_code(4);
            assert!(run.err.contains(words), "{command}: {run:?}");
            assert!(run.err.contains(folder), "{command}: {run:?}");
        }
    }
}

#[test]
fn a_key_that_was_cut_is_named_with_its_defect_and_the_way_out() {
    let (home, params) = with_key();
    let bytes = fs::read(&params).expect("the key");
    fs::write(&params, &bytes[..bytes.len() / 2]).expect("a shorter key");
    let way_out = "fetch or copy the file again, or remove it";

    let doctor = run(home.path(), "doctor --keys keys").expect_code(4);
    for words in ["wpost-2k CANNOT BE USED", "cut in section", way_out] {
        assert!(doctor.out.contains(words), "{words}: {doctor:?}");
    }
    assert!(doctor.err.contains("1 key cannot be used"), "{doctor:?}");
    let json = run(home.path(), "doctor --keys keys --json")
        .expect_code(4)
        .json();
    assert_eq!(json["unusable_keys"][0]["circuit"], "wpost-2k");
    assert_eq!(json["keys"].as_array().map(Vec::len), Some(0));

    for command in ["serve", "config check"] {
        let refused = run(home.path(), &format!("{command} --keys keys")).expect_code(4);
        for words in ["cut in section", way_out] {
            assert!(refused.err.contains(words), "{words}: {refused:?}");
        }
    }
}
