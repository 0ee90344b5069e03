//! The whole way in files: demo makes a key, proves and saves; prove and verify take the files; what
//! is wrong is refused with the documented exit code.

#[allow(dead_code, reason = "each test file uses its part of the module")]
mod binary;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use binary::{Run, cuzk_with};
use serde_json::Value;

const PROOF_BYTES: usize = 192;

/// A home folder in which `demo --kind KIND --keys keys --save saved` ran once.
struct Home {
    kind: &'static str,
    folder: tempfile::TempDir,
    demo: Value,
    prove: Vec<String>,
}

static HOME: OnceLock<Home> = OnceLock::new();

/// The smallest circuit, for everything that does not depend on the kind.
fn home() -> &'static Home {
    HOME.get_or_init(|| Home::after_demo("wpost"))
}

impl Home {
    fn after_demo(kind: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let args = [
            "demo", "--kind", kind, "--keys", "keys", "--save", "saved", "--json",
        ];
        let run = cuzk_with(folder.path(), &[], &args).expect_code(0);
        assert!(run.err.contains("DEVELOPMENT ONLY"), "{run:?}");
        let demo = run.json();
        let command = demo["commands"][0].as_str().expect("a command");
        // Paths of this run have no blanks, so the command is its words.
        let prove = command.split(' ').skip(1).map(str::to_owned).collect();
        Self {
            kind,
            folder,
            demo,
            prove,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Run {
        cuzk_with(self.folder.path(), &[], args)
    }

    /// The printed command without `--out`, with keys in another folder and these options added.
    fn prove(&self, keys: &str, extra: &[&str]) -> Run {
        let mut args: Vec<&str> = Vec::new();
        let mut words = self.prove.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word {
                "--out" => drop(words.next()),
                "--keys" => {
                    words.next();
                    args.extend(["--keys", keys]);
                }
                word => args.push(word),
            }
        }
        args.extend(extra);
        self.run(&args)
    }

    /// The printed command with one word replaced.
    fn prove_with(&self, word: &str, replacement: &str) -> Run {
        let args: Vec<&str> = self
            .prove
            .iter()
            .map(|found| if found == word { replacement } else { found })
            .collect();
        assert!(args.contains(&replacement), "{word} is not in {args:?}");
        self.run(&args)
    }

    fn verify(&self, public: &Path, proof: &Path) -> Run {
        let utf8 = |path: &Path| path.to_str().expect("temporary paths are UTF-8").to_owned();
        let (public, proof) = (utf8(public), utf8(proof));
        self.run(&[
            "verify", self.kind, "--keys", "keys", "--public", &public, "--proof", &proof, "--json",
        ])
    }

    fn saved(&self, name: &str) -> PathBuf {
        self.path("saved").join(self.kind).join(name)
    }

    /// A copy of a saved file with an edit.
    fn edited(&self, name: &str, copy: &str, edit: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
        let mut content = fs::read(self.saved(name)).expect("a saved file");
        edit(&mut content);
        let path = self.path(copy);
        fs::write(&path, content).expect("write a copy");
        path
    }
}

#[test]
fn demo_reports_every_number_of_a_kind() {
    let kinds = home().demo["kinds"].as_array().expect("a list");
    assert_eq!(kinds.len(), 1);
    let kind = &kinds[0];
    assert_eq!(kind["circuit"], "wpost-2k");
    assert_eq!(kind["constraints"], 21_866);
    assert_eq!(kind["partitions"], 1);
    assert_eq!(kind["proof_bytes"], PROOF_BYTES);
    assert_eq!(kind["verified"], true);
    for key in ["setup_s", "witness_s", "prove_s", "verify_s"] {
        assert!(kind[key].as_f64() > Some(0.0), "{key}: {kind}");
    }
    if cfg!(target_os = "linux") {
        assert!(kind["peak_rss_bytes"].as_u64() > Some(10 << 20), "{kind}");
    }
}

#[test]
fn demo_makes_a_key_once_and_says_where_it_keeps_it() {
    let run = home()
        .run(&["demo", "--kind", "wpost", "--keys", "keys"])
        .expect_code(0);
    assert!(run.out.contains("reused"), "{run:?}");
    assert!(
        run.err.contains("development keys: keys (from --keys)"),
        "{run:?}"
    );
    assert!(!run.err.contains("DEVELOPMENT ONLY"), "{run:?}");
}

#[test]
fn the_printed_commands_prove_and_verify_a_winning_post() {
    let home = Home::after_demo("winning");
    let run = home
        .prove("keys", &["--check-vanilla", "--json"])
        .expect_code(0);
    let proved = run.json();
    assert_eq!(proved["verified"], true);
    assert_eq!(proved["kind"], "winning");
    let proof = proved["proof"].as_str().expect("hexadecimal digits");
    assert_eq!(proof.len(), 2 * PROOF_BYTES);
    let written = home.path("proof.hex");
    fs::write(&written, proof).expect("write the proof");
    let public = home.saved("public.json");
    let verified = home.verify(&public, &written).expect_code(0).json();
    assert_eq!(verified["verified"], true);
    assert_eq!(verified["circuit"], "winning-2k");
    let tampered = home.edited("proof.bin", "tampered.bin", |proof| flip_sign(proof));
    home.verify(&public, &tampered).expect_code(5);
}

/// Bit 5 of a compressed point is the sign of y: still a point, of another proof.
fn flip_sign(proof: &mut [u8]) {
    proof[0] ^= 0x20;
}

#[test]
fn a_proof_is_printed_in_the_encoding_asked_for_and_read_in_any() {
    let home = home();
    let base64 = home
        .prove("keys", &["--encoding", "base64", "--quiet"])
        .expect_code(0);
    assert_eq!(base64.out.len(), PROOF_BYTES / 3 * 4 + 1);
    assert!(base64.err.is_empty(), "{base64:?}");
    let written = home.path("proof.b64");
    fs::write(&written, base64.out).expect("write the proof");
    home.verify(&home.saved("public.json"), &written)
        .expect_code(0);
    let saved = fs::read(home.saved("proof.bin")).expect("the saved proof");
    assert_eq!(saved.len(), PROOF_BYTES);
    home.verify(&home.saved("public.json"), &home.saved("proof.bin"))
        .expect_code(0);
}

#[test]
fn a_proof_with_a_flipped_sign_does_not_verify() {
    let home = home();
    let tampered = home.edited("proof.bin", "tampered.bin", |proof| flip_sign(proof));
    let run = home
        .verify(&home.saved("public.json"), &tampered)
        .expect_code(5);
    assert!(run.err.contains("does not verify"), "{run:?}");
    assert!(run.out.is_empty(), "{run:?}");
}

#[test]
fn a_proof_of_another_statement_does_not_verify() {
    let home = home();
    let text = fs::read_to_string(home.saved("public.json")).expect("public data");
    let mut public: Value = serde_json::from_str(&text).expect("JSON");
    public["randomness"] = Value::from("11".repeat(32));
    let other = home.path("other.json");
    fs::write(&other, public.to_string()).expect("write public data");
    home.verify(&other, &home.saved("proof.bin")).expect_code(5);
}

#[test]
fn malformed_proofs_and_public_data_are_invalid_input() {
    let home = home();
    let public = home.saved("public.json");
    let short = home.edited("proof.bin", "short.bin", |proof| proof.truncate(191));
    let run = home.verify(&public, &short).expect_code(3);
    assert!(run.err.contains("191 bytes"), "{run:?}");
    let infinity = home.edited("proof.bin", "infinity.bin", |proof| {
        proof[..48].fill(0);
        proof[0] = 0xc0;
    });
    let run = home.verify(&public, &infinity).expect_code(3);
    assert!(run.err.contains("infinity"), "{run:?}");
    let prose = home.edited("proof.bin", "prose.txt", |proof| {
        *proof = b"a proof".to_vec();
    });
    home.verify(&public, &prose).expect_code(3);

    let cut = home.edited("public.json", "cut.json", |text| text.truncate(40));
    let run = home.verify(&cut, &home.saved("proof.bin")).expect_code(3);
    assert!(run.err.contains("byte"), "{run:?}");
}

#[test]
fn a_damaged_vanilla_proof_is_refused_and_makes_no_proof() {
    let home = home();
    let before = fs::read(home.saved("proof.bin")).expect("the saved proof");
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(100);
    // A byte of a hash on a path: well-formed, and not what the tree holds.
    let wrong = |bytes: &mut Vec<u8>| bytes[100] ^= 1;
    home.edited("vanilla-0.bin", "cut.bin", cut);
    home.edited("vanilla-0.bin", "wrong.bin", wrong);
    for (file, text) in [
        (
            "cut.bin",
            "cut.bin: the WindowPoSt request is refused: vanilla_proofs[0] is cut: it ends at byte 100",
        ),
        (
            "wrong.bin",
            "wpost-2k partition 0: constraint system not satisfied",
        ),
    ] {
        let run = home
            .prove_with("saved/wpost/vanilla-0.bin", file)
            .expect_code(3);
        assert!(run.err.contains(text), "{run:?}");
    }
    let after = fs::read(home.saved("proof.bin")).expect("the saved proof");
    assert_eq!(before, after, "a refused request has written a proof");
}

#[test]
fn a_window_post_may_be_a_later_partition_of_its_call() {
    let home = home();
    let at = |index: &str, proof: &str| {
        let mut args: Vec<&str> = home.prove.iter().map(String::as_str).collect();
        for pair in 0..args.len() - 1 {
            match args[pair] {
                "--partition-index" => args[pair + 1] = index,
                "--registered-proof" => args[pair + 1] = proof,
                "--out" => args[pair + 1] = "later.bin",
                _ => {}
            }
        }
        home.run(&args)
    };
    // Challenges of the second version do not depend on the place.
    at("7", "StackedDrgWindow2KiBV1_2").expect_code(0);
    // Those of the first do, and the saved sectors answer these as far as the versions agree.
    let first = at("0", "StackedDrgWindow2KiBV1").expect_code(3);
    assert!(first.err.contains("vanilla_proofs[1]"), "{first:?}");
    let later = at("1", "StackedDrgWindow2KiBV1").expect_code(3);
    assert!(later.err.contains("vanilla_proofs[0]"), "{later:?}");
}

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let home = home();
    let pipe = home.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo is in every system").success());
    let run = home
        .prove_with("saved/wpost/vanilla-0.bin", "pipe")
        .expect_code(3);
    assert!(run.err.contains("pipe is not a regular file"), "{run:?}");
    let run = home.prove("keys", &["--out", "pipe"]).expect_code(6);
    assert!(
        run.err.contains("pipe exists and is not a regular file"),
        "{run:?}"
    );
    assert!(!fs::metadata(&pipe).expect("the pipe").is_file());
}

#[test]
fn a_key_with_a_flipped_byte_makes_no_proof_and_is_named_with_section_and_index() {
    let home = home();
    let damaged = home.path("damaged");
    fs::create_dir(&damaged).expect("a folder");
    for entry in fs::read_dir(home.path("keys")).expect("the key folder") {
        let path = entry.expect("an entry").path();
        let mut content = fs::read(&path).expect("a key file");
        if path.extension().is_some_and(|found| found == "params") {
            // The last point of the last vector.
            *content.last_mut().expect("a key") ^= 1;
        }
        fs::write(damaged.join(path.file_name().expect("a name")), content).expect("a copy");
    }
    let run = home.prove("damaged", &["--out", "no.bin"]).expect_code(4);
    assert!(run.err.contains("section b_g2 index"), "{run:?}");
    assert!(run.err.contains("thrown away"), "{run:?}");
    assert!(!home.path("no.bin").exists());
}

#[test]
fn bad_c1_output_is_refused_with_the_json_path() {
    let home = home();
    for (name, text, expected) in [
        ("empty.json", "", "byte 0"),
        ("words.json", "hello", "byte 0"),
        (
            "size.json",
            r#"{"SectorNum":1,"Phase1Out":"","SectorSize":-1}"#,
            "SectorSize",
        ),
        (
            "base64.json",
            r#"{"SectorNum":1,"Phase1Out":"e?","SectorSize":2048}"#,
            "Phase1Out (byte 1)",
        ),
    ] {
        fs::write(home.path(name), text).expect("write a payload");
        let run = home
            .run(&["prove", "porep", "--c1", name, "--miner-id", "1000"])
            .expect_code(3);
        assert!(run.err.contains(expected), "{name}: {run:?}");
    }
}

#[test]
fn a_missing_key_exits_with_4_and_names_path_origin_and_way_out() {
    let home = home();
    let run = home.prove("elsewhere", &[]).expect_code(4);
    for text in [
        "elsewhere/v28-",
        "from --keys",
        "cuzk key setup --circuit wpost-2k --keys elsewhere",
    ] {
        assert!(run.err.contains(text), "{text}: {run:?}");
    }
    assert!(
        !home.path("elsewhere").exists(),
        "a key was made in silence"
    );
    let public = home.saved("public.json");
    let proof = home.saved("proof.bin");
    let args = [
        "verify",
        "wpost",
        "--public",
        public.to_str().expect("temporary paths are UTF-8"),
        "--proof",
        proof.to_str().expect("temporary paths are UTF-8"),
    ];
    let variables = [("FIL_PROOFS_PARAMETER_CACHE", "/nonexistent")];
    let run = cuzk_with(home.folder.path(), &variables, &args).expect_code(4);
    assert!(
        run.err
            .contains("from the variable FIL_PROOFS_PARAMETER_CACHE"),
        "{run:?}"
    );
}

#[test]
fn a_verifying_key_alone_verifies_and_a_stale_one_is_refused() {
    let home = home();
    let copy = |from: &Path, to: &Path| fs::copy(from, to).map(drop).expect("copy a key");
    let of = |extension: &str| {
        fs::read_dir(home.path("keys"))
            .expect("the key folder")
            .map(|entry| entry.expect("an entry").path())
            .find(|path| path.extension().is_some_and(|found| found == extension))
            .expect("a key file")
    };
    let vk = of("vk");
    let alone = home.path("vk-alone");
    fs::create_dir(&alone).expect("a folder");
    copy(&vk, &alone.join(vk.file_name().expect("a name")));
    let verify = |keys: &str| {
        let public = home.saved("public.json");
        let proof = home.saved("proof.bin");
        let paths = [public, proof].map(|path| path.display().to_string());
        home.run(&[
            "verify", "wpost", "--keys", keys, "--public", &paths[0], "--proof", &paths[1],
        ])
    };
    verify("vk-alone").expect_code(0);

    let setup = ["key", "setup", "--circuit", "wpost-2k", "--keys", "stale"];
    home.run(&setup).expect_code(0);
    let stale = home.path("stale");
    copy(&vk, &stale.join(vk.file_name().expect("a name")));
    let run = verify("stale").expect_code(4);
    assert!(run.err.contains("of another setup"), "{run:?}");
}

#[test]
fn bench_proves_the_same_bytes_as_bellperson_and_reports_both() {
    let args = [
        "bench",
        "partition",
        "--circuit",
        "wpost-2k",
        "--keys",
        "keys",
        "--against",
        "bellperson",
        "--json",
    ];
    let json = home().run(&args).expect_code(0).json();
    let keys: Vec<&str> = json
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    let mut expected = vec![
        "circuit",
        "ours",
        "bellperson",
        "time_ratio",
        "memory_ratio",
        "verified",
    ];
    expected.sort_unstable();
    let mut found = keys;
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(json["verified"], true);
    for side in ["ours", "bellperson"] {
        for key in ["evaluate_s", "prove_s", "total_s"] {
            assert!(json[side][key].as_f64() > Some(0.0), "{side} {key}");
        }
        assert!(json[side]["witness_s"].is_number());
    }
    assert!(json["time_ratio"].as_f64() > Some(0.0));
}
