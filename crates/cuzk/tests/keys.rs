//! Keys: made, looked at, checked, remembered; and refused when anything about them is wrong.

#[allow(dead_code, reason = "each test file uses its part of the module")]
mod binary;

use std::{
    fs,
    path::{Path, PathBuf},
};

use binary::{Run, cuzk, cuzk_with};

/// A home folder with the key of the smallest circuit in `keys`.
struct Home {
    folder: tempfile::TempDir,
    params: PathBuf,
}

impl Home {
    fn with_key(extra: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut args = vec![
            "key",
            "setup",
            "--circuit",
            "wpost-2k",
            "--keys",
            "keys",
            "--json",
        ];
        args.extend(extra);
        let run = cuzk_with(folder.path(), &[], &args).expect_code(0);
        assert!(run.err.contains("DEVELOPMENT ONLY"), "{run:?}");
        let params = folder
            .path()
            .join(run.json()["params"].as_str().expect("a path"));
        Self { folder, params }
    }

    fn run(&self, args: &[&str]) -> Run {
        cuzk_with(self.folder.path(), &[], args)
    }

    fn params(&self) -> &str {
        self.params.to_str().expect("temporary paths are UTF-8")
    }
}

fn digest(run: &Run) -> String {
    let json = run.json();
    json["digest"].as_str().expect("a digest").to_owned()
}

#[test]
fn a_key_is_made_inspected_checked_and_the_check_is_remembered() {
    let home = Home::with_key(&[]);
    let inspection = home
        .run(&["key", "inspect", home.params(), "--json"])
        .expect_code(0)
        .json();
    assert_eq!(inspection["circuit_by_name"], "wpost-2k");
    assert_eq!(inspection["circuits_by_counts"][0], "wpost-2k");
    assert_eq!(inspection["file_bytes"], 11_501_496);
    assert_eq!(inspection["counts"]["ic"], 23);

    let check = ["key", "check", home.params(), "--json"];
    let first = home.run(&check).expect_code(0);
    assert_eq!(first.json()["remembered"], false);
    assert_eq!(first.json()["points"], "on_curve");
    let second = home.run(&check).expect_code(0);
    assert_eq!(second.json()["remembered"], true);
    assert_eq!(digest(&first), digest(&second));
    let again = home
        .run(&["key", "check", home.params(), "--again", "--json"])
        .expect_code(0);
    assert_eq!(again.json()["remembered"], false);
    let full = home
        .run(&["key", "check", home.params(), "--full", "--json"])
        .expect_code(0);
    assert_eq!(
        full.json()["remembered"],
        false,
        "a lesser check is no full one"
    );
    assert_eq!(full.json()["points"], "subgroup");
}

#[test]
fn a_development_key_is_not_the_published_one() {
    let home = Home::with_key(&[]);
    let run = home
        .run(&["key", "check", home.params(), "--digest"])
        .expect_code(4);
    assert!(
        run.err
            .contains("expected 7610b9f82bfc88405b7a832b651ce2f6")
            || run.err.contains("digest"),
        "{run:?}"
    );
}

#[test]
fn the_same_seed_makes_the_same_key_and_says_what_that_means() {
    let seed = "5a".repeat(32);
    let extra = ["--toxic-waste-seed", seed.as_str()];
    let (one, two) = (Home::with_key(&extra), Home::with_key(&extra));
    let read = |home: &Home| fs::read(&home.params).expect("the key");
    assert!(read(&one) == read(&two), "the keys differ");
    let other = Home::with_key(&[]);
    assert!(read(&one) != read(&other), "a random key is the seeded one");
}

#[test]
fn an_existing_key_is_replaced_only_by_force() {
    let home = Home::with_key(&[]);
    let before = fs::read(&home.params).expect("the key");
    let setup = ["key", "setup", "--circuit", "wpost-2k", "--keys", "keys"];
    let run = home.run(&setup).expect_code(4);
    assert!(
        run.err.contains("exists already") && run.err.contains("--force"),
        "{run:?}"
    );
    assert!(fs::read(&home.params).expect("the key") == before);
    let mut force = setup.to_vec();
    force.push("--force");
    home.run(&force).expect_code(0);
    assert!(fs::read(&home.params).expect("the key") != before);
}

#[test]
fn a_key_that_is_missing_empty_cut_too_long_or_damaged_is_refused_with_its_place() {
    let home = Home::with_key(&[]);
    let bytes = fs::read(&home.params).expect("the key");
    let write = |content: &[u8]| fs::write(&home.params, content).expect("write the key");
    let check = || {
        home.run(&["key", "check", home.params()])
            .expect_code(4)
            .err
    };

    write(&[]);
    assert!(check().contains("empty"));
    write(&bytes[..bytes.len() / 2]);
    assert!(check().contains("cut in section"));
    let mut long = bytes.clone();
    long.push(0);
    write(&long);
    assert!(check().contains("found 11501497"));
    let mut flipped = bytes.clone();
    // The last byte of the last point of b_g2.
    *flipped.last_mut().expect("a key") ^= 1;
    write(&flipped);
    let error = check();
    assert!(error.contains("section b_g2 index"), "{error}");

    fs::remove_file(&home.params).expect("remove the key");
    assert!(check().contains(home.params()));
}

#[test]
fn a_key_under_the_name_of_another_circuit_is_refused() {
    let home = Home::with_key(&[]);
    let other = cuzk(&["circuit", "inspect", "winning-2k", "--json"]).json();
    let name = other["key_file"].as_str().expect("a name");
    let renamed = home.params.with_file_name(name);
    fs::rename(&home.params, &renamed).expect("rename");
    let path = renamed.to_str().expect("temporary paths are UTF-8");
    let run = home.run(&["key", "check", path]).expect_code(4);
    assert!(
        run.err.contains("named as the key of winning-2k"),
        "{run:?}"
    );
    assert!(
        run.err.contains("section ic holds 23 points, expected 133"),
        "{run:?}"
    );
    let inspection = home.run(&["key", "inspect", path, "--json"]).expect_code(0);
    assert_eq!(inspection.json()["counts_fit_name"], false);
}

#[test]
fn a_folder_that_cannot_be_made_is_a_resource_failure() {
    let home = tempfile::tempdir().expect("a folder");
    fs::write(home.path().join("file"), "").expect("a file");
    let args = [
        "key",
        "setup",
        "--circuit",
        "wpost-2k",
        "--keys",
        "file/keys",
    ];
    let run = cuzk_with(home.path(), &[], &args).expect_code(6);
    assert!(
        run.err
            .contains(&Path::new("file").join("keys").display().to_string())
    );
}
