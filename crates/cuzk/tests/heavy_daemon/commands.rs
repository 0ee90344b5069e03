//! The client commands against a daemon that asks for a token.

use std::{
    fs,
    process::{Command, Output},
};

use serde_json::Value;

use super::{
    daemon::{Home, text},
    fixture::{Fixture, bytes},
};

fn output(command: &mut Command) -> Output {
    command.output().expect("the binary starts")
}

fn json(command: &mut Command) -> Value {
    let output = output(command);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn commands_prove_look_cancel_and_load_keys_with_a_token() {
    let home = Home::new();
    let fixture = Fixture::new(&home);
    let token = home.path("token");
    fs::write(&token, "a token of this test 1".replace(' ', "-")).expect("room");
    let daemon = home.start(&["--set", &format!("server.token_file={}", text(&token))]);
    let ask = |args: &[&str]| {
        let mut command = home.cuzk(args);
        command
            .args(["--json", "--quiet", "--addr", daemon.address()])
            .args(["--token-file", text(&token)]);
        command
    };
    let options = fixture.winning_options(&home);
    let mut prove = vec!["prove", "winning"];
    prove.extend(options.iter().map(String::as_str));
    let proved = json(&mut ask(&prove));
    fixture.verify(
        "winning",
        &bytes(proved["proof"].as_str().expect("a proof")),
    );
    assert_eq!(proved["devices"].as_array().map(Vec::len), Some(1));

    let status = json(&mut ask(&["status"]));
    assert_eq!(status["proofs_completed"], 1);
    assert_eq!(status["health"], "serving");
    assert_eq!(
        json(&mut ask(&["keys", "preload", "wpost-2k"]))["already_loaded"],
        false
    );
    assert_eq!(
        json(&mut ask(&["keys", "preload", "wpost-2k"]))["already_loaded"],
        true
    );
    assert_eq!(
        json(&mut ask(&["keys", "evict", "wpost-2k"]))["was_loaded"],
        true
    );
    let keys = json(&mut ask(&["keys", "list"]));
    let tier = |circuit: &str| {
        let keys = keys.as_array().expect("a list");
        keys.iter()
            .find(|key| key["circuit"] == circuit)
            .map(|key| key["tier"].clone())
    };
    assert_eq!(tier("wpost-2k"), Some("cold".into()));
    let job = proved["job"].as_str().expect("a job");
    assert_eq!(json(&mut ask(&["cancel", job]))["was_running"], false);
    let unknown = output(&mut ask(&["cancel", &"0".repeat(32)]));
    assert_eq!(unknown.status.code(), Some(3), "{unknown:?}");

    let stranger = output(&mut home.cuzk(&["status", "--addr", daemon.address()]));
    assert_eq!(stranger.status.code(), Some(7), "{stranger:?}");
    let words = String::from_utf8_lossy(&stranger.stderr);
    assert!(words.contains("asks for a token"), "{words}");
    let address = daemon.address().to_owned();
    daemon.terminate();
    assert!(daemon.wait().success());
    let nobody = output(&mut home.cuzk(&["status", "--addr", &address]));
    assert_eq!(nobody.status.code(), Some(7), "{nobody:?}");
    assert!(String::from_utf8_lossy(&nobody.stderr).contains("no daemon answers"));
}

#[test]
fn a_daemon_that_is_loaded_tells_what_it_did() {
    let home = Home::new();
    for circuit in ["winning-2k", "wpost-2k"] {
        cuzk_testkit::keys::for_circuit(circuit.parse().expect("a circuit"));
    }
    let daemon = home.start(&[]);
    let load = [
        "bench",
        "load",
        "--mix",
        "winning=1,wpost=3",
        "-j",
        "2",
        "--json",
    ];
    let load = json(home.cuzk(&load).args(["--addr", daemon.address()]));
    assert_eq!([&load["verified"], &load["failed"]], [4, 0], "{load:#}");
    assert_eq!(load["tracker_at_zero"], true, "{load:#}");
    assert_eq!(load["stages"]["start"]["steps"], 4, "{load:#}");
    assert!(
        load["peak_by_class"]["witness"].as_u64() > Some(0),
        "{load:#}"
    );
    assert!(load["cpu_s"].as_f64() > Some(0.0), "{load:#}");
    assert!(
        load["back_to_back_s_per_proof"].is_null(),
        "no key, no comparison"
    );
}
