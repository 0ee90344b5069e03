//! What a user meets first: help, mistakes, exit codes, and which stream carries what.

#[allow(dead_code, reason = "each test file uses its part of the module")]
mod binary;

use binary::{cuzk, cuzk_with};

#[test]
fn no_arguments_show_the_help_and_count_as_a_mistake() {
    let run = cuzk(&[]).expect_code(2);
    assert!(run.err.contains("Usage: cuzk"), "{run:?}");
}

#[test]
fn the_long_help_documents_exit_codes_and_variables() {
    let run = cuzk(&["--help"]).expect_code(0);
    for text in [
        "Examples:",
        "Exit codes:",
        "no card that can be used",
        "Environment variables:",
        "FIL_PROOFS_PARAMETER_CACHE",
    ] {
        assert!(run.out.contains(text), "{text}");
    }
}

#[test]
fn version_and_completions_need_nothing() {
    let run = cuzk(&["--version"]).expect_code(0);
    assert!(run.out.starts_with("cuzk "), "{run:?}");
    for shell in ["bash", "zsh", "fish"] {
        let run = cuzk(&["completions", shell]).expect_code(0);
        assert!(run.out.contains("inspect"), "{shell}");
    }
}

#[test]
fn mistakes_on_the_command_line_exit_with_2_and_name_the_mistake() {
    for (args, text) in [
        (&["prove-it"][..], "prove-it"),
        (
            &["circuit", "inspect", "porep-3k"][..],
            "did you mean porep-2k",
        ),
        (
            &["--threads", "0", "circuit", "inspect", "wpost-2k"][..],
            "--threads",
        ),
        (&["key", "setup", "--circuit", "winning-2k"][..], "--keys"),
        (
            &[
                "key",
                "setup",
                "--circuit",
                "winning-2k",
                "--keys",
                "k",
                "--toxic-waste-seed",
                "12",
            ][..],
            "1 bytes, expected 32",
        ),
        (
            &["key", "check", "unknown.params", "--digest"][..],
            "no digest is published",
        ),
    ] {
        let run = cuzk(args).expect_code(2);
        assert!(run.err.contains(text), "{run:?}");
        assert!(run.out.is_empty(), "{run:?}");
    }
}

#[test]
fn a_variable_that_cannot_be_read_exits_with_2_and_names_it() {
    let home = tempfile::tempdir().expect("a folder");
    let args = ["key", "setup", "--circuit", "wpost-2k", "--keys", "keys"];
    let run = cuzk_with(home.path(), &[("CUZK_THREADS", "many")], &args).expect_code(2);
    assert!(run.err.contains("CUZK_THREADS=many"), "{run:?}");
}

#[test]
fn variables_are_named_on_standard_error_with_their_effect_or_as_having_none() {
    let home = tempfile::tempdir().expect("a folder");
    let variables = [
        ("FIL_PROOFS_WINDOW_POST_SYNTHESIS_NUM_CPUS", "2"),
        ("FIL_PROOFS_USE_GPU_TREE_BUILDER", "true"),
        ("BELLMAN_NO_GPU", "1"),
    ];
    let args = ["circuit", "inspect", "wpost-2k", "--json"];
    let run = cuzk_with(home.path(), &variables, &args).expect_code(0);
    assert!(
        run.err
            .contains("FIL_PROOFS_WINDOW_POST_SYNTHESIS_NUM_CPUS=2: parts"),
        "{run:?}"
    );
    assert!(
        run.err
            .contains("FIL_PROOFS_USE_GPU_TREE_BUILDER is set and has no effect"),
        "{run:?}"
    );
    assert!(
        run.err.contains("BELLMAN_NO_GPU is set and has no effect"),
        "{run:?}"
    );
    run.json();

    let args = ["circuit", "inspect", "wpost-2k", "--json", "--quiet"];
    let run = cuzk_with(home.path(), &variables, &args).expect_code(0);
    assert!(run.err.is_empty(), "{run:?}");
}

#[test]
fn circuit_inspect_counts_the_real_circuit() {
    let json = cuzk(&["circuit", "inspect", "winning-2k", "--json"])
        .expect_code(0)
        .json();
    for (pointer, expected) in [
        ("/num_constraints", 90_750),
        ("/num_aux", 91_674),
        ("/num_inputs", 133),
        ("/num_rows", 90_883),
        ("/log_domain", 17),
        ("/densities/a_aux", 69_300),
        ("/densities/b_input", 1),
        ("/densities/b_aux", 66_792),
        ("/key_bytes", 47_299_128),
    ] {
        let found = json.pointer(pointer).and_then(serde_json::Value::as_u64);
        assert_eq!(found, Some(expected), "{pointer}");
    }
    assert_eq!(json["matches_expected"], true);
    assert_eq!(json["digest"].as_str().map(str::len), Some(64));
    for matrix in ["a", "b", "c"] {
        assert!(json["non_zeros"][matrix].as_u64() > Some(90_000));
    }
}
