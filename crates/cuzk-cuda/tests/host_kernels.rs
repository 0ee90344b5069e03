//! The kernels' bodies on the host, with toy fields: each C++ program in `tests/host` is compiled and must succeed.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot compile its program fails"
)]

use std::{path::Path, process::Command};

fn compile_and_run(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(name);
    let target = env!("CUZK_TARGET");
    let compiler = cc::Build::new()
        .cpp(true)
        .std("c++20")
        .opt_level(1)
        .target(target)
        .host(target)
        .cargo_metadata(false)
        .get_compiler();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/host")
        .join(name)
        .with_extension("cpp");
    let compiled = compiler
        .to_command()
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let ran = Command::new(&program).output().unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn transforms_by_passes_equal_their_defining_sums() {
    compile_and_run("ntt_test");
}

#[test]
fn bucket_sums_follow_the_group_law() {
    compile_and_run("msm_test");
}

#[test]
fn rows_read_the_variables_of_their_instance() {
    compile_and_run("rows_test");
}

#[test]
fn table_entries_that_a_scalar_selects_add_up_to_it() {
    compile_and_run("fixed_test");
}
