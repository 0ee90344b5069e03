//! What keeps a daemon from starting, in words and with an exit code.

use super::daemon::{Daemon, Home, text};

#[test]
fn a_daemon_that_must_not_start_says_why() {
    let home = Home::new();
    let folder = home.path("empty");
    std::fs::create_dir(&folder).expect("a folder");
    let config = home.path("cuzk.toml");
    std::fs::write(&config, "[server]\nlisen = []\n").expect("room");
    let cases: [(&[&str], i32, &str); 7] = [
        (
            &["--listen", "0.0.0.0:0"],
            2,
            "nothing tells clients from strangers",
        ),
        (&["--admin", "0.0.0.0:0"], 2, "admin address"),
        (&["--listen", "localhost"], 2, "no port"),
        (&["--set", "engine.budget=1000TiB"], 2, "budget_bytes is"),
        (&["--keys", text(&folder)], 4, "no proving key"),
        (&["--set", "keys.require=porep-64g"], 4, "porep-64g"),
        (
            &["--config", text(&config)],
            2,
            "did you mean \"server.listen\"",
        ),
    ];
    cuzk_testkit::keys::for_circuit("wpost-2k".parse().expect("a circuit"));
    for (options, code, words) in cases {
        let output = home.serve(options).output().expect("the binary starts");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{options:?}: {err}");
        assert!(err.contains(words), "{options:?}: {err}");
        assert!(output.stdout.is_empty(), "{options:?}");
    }
}

#[test]
fn a_second_daemon_on_the_same_journal_is_refused() {
    let home = Home::new();
    cuzk_testkit::keys::for_circuit("wpost-2k".parse().expect("a circuit"));
    let first: Daemon = home.start(&[]);
    let output = home.serve(&[]).output().expect("the binary starts");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{err}");
    assert!(err.contains("journal"), "{err}");
    first.terminate();
    assert!(first.wait().success());
    home.start(&[]).kill();
    home.start(&[]).terminate();
}
