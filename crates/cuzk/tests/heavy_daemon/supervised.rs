//! What a service supervisor sees: readiness, the end, and lines that a machine can read.

use std::{
    fs::File,
    os::unix::net::UnixDatagram,
    process::{Command, Stdio},
    time::Duration,
};

use cuzk_proto::v1::{ProveRequest, proving_engine_client::ProvingEngineClient};
use serde_json::Value;

use super::{
    daemon::{Daemon, Home},
    fixture::Fixture,
};

/// Longer than a daemon takes to start or to stop.
const PATIENCE: Duration = Duration::from_mins(1);

fn make_a_key() {
    cuzk_testkit::keys::for_circuit("wpost-2k".parse().expect("a circuit"));
}

/// What the daemon tells next.
fn told(socket: &UnixDatagram) -> String {
    let mut message = [0; 256];
    let length = socket.recv(&mut message).expect("it tells in time");
    String::from_utf8_lossy(&message[..length]).into_owned()
}

#[test]
fn a_supervisor_is_told_when_the_daemon_serves_and_when_it_stops() {
    make_a_key();
    let home = Home::new();
    let path = home.path("notify");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let daemon = Daemon::start(home.serve(&[]).env("NOTIFY_SOCKET", &path));
    assert_eq!(told(&socket).trim(), "READY=1");
    assert!(daemon.page("/readyz").0.contains("200"), "it serves");
    daemon.terminate();
    assert_eq!(told(&socket).trim(), "STOPPING=1");
    assert!(daemon.wait().success());
}

/// What a daemon with these options logs from its start to its end.
fn log_of(home: &Home, options: &[&str]) -> String {
    let path = home.path("log");
    let file = File::create(&path).expect("a file");
    let command: &mut Command = &mut home.serve(options);
    let daemon = Daemon::start(command.stderr(Stdio::from(file)));
    daemon.terminate();
    assert!(daemon.wait().success());
    std::fs::read_to_string(path).expect("text")
}

#[test]
fn every_line_of_a_json_log_is_an_object_with_time_level_and_message() {
    make_a_key();
    let home = Home::new();
    let log = log_of(
        &home,
        &["--set", "log.format=json", "--set", "journal.enabled=false"],
    );
    let mut messages = Vec::new();
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line:?}"));
        for key in ["timestamp", "level", "message"] {
            assert!(line[key].is_string(), "{key} is not in {line}");
        }
        messages.push((line["level"].clone(), line["message"].clone(), line));
    }
    let find = |words: &str| {
        let says = |(_, message, _): &&(Value, Value, Value)| {
            message.as_str().is_some_and(|text| text.contains(words))
        };
        messages
            .iter()
            .find(says)
            .unwrap_or_else(|| panic!("{words} is not in {log}"))
    };
    assert_eq!(find("no journal").0, "WARN");
    assert_eq!(find("draining").2["deadline_s"], 600, "facts are fields");
    assert_eq!(find("ended").0, "INFO");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_debug_log_tells_each_buffer_of_a_proof_until_none_is_left() {
    let home = Home::new();
    let fixture = Fixture::new(&home);
    let path = home.path("log");
    let file = File::create(&path).expect("a file");
    let mut command = home.serve(&["--set", "log.format=json", "--set", "log.level=debug"]);
    let daemon = Daemon::start(command.stderr(Stdio::from(file)));
    let uri = format!("http://{}", daemon.address());
    let mut client = ProvingEngineClient::connect(uri).await.expect("it serves");
    let submit = Some(fixture.message("wpost", ""));
    let answer = client.prove(ProveRequest { submit }).await;
    fixture.verify(
        "wpost",
        &answer
            .expect("an answer")
            .into_inner()
            .result
            .expect("a result")
            .proof,
    );
    daemon.terminate();
    assert!(daemon.wait().success());
    let log = std::fs::read_to_string(path).expect("text");
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let buffers: Vec<_> = lines.filter(|line| line["message"] == "buffer").collect();
    for class in [
        "payload",
        "witness",
        "evaluations",
        "device_scratch",
        "pending",
    ] {
        let of_class = |change: &str| {
            let lines = buffers.iter();
            let lines = lines.filter(|line| line["class"] == class && line["change"] == change);
            lines
                .filter_map(|line| line["bytes"].as_u64())
                .collect::<Vec<_>>()
        };
        let taken = of_class("taken");
        assert_eq!(taken.len(), 1, "{class} in {log}");
        assert!(taken[0] > 0, "{class}");
        assert_eq!(of_class("freed"), taken, "{class}");
    }
}

#[test]
fn a_log_for_people_that_goes_to_a_file_has_no_colour_and_obeys_its_level() {
    make_a_key();
    let home = Home::new();
    let log = log_of(&home, &["--set", "log.level=info"]);
    assert!(log.contains("draining"), "{log}");
    assert!(!log.contains('\x1b'), "{log:?}");
    let log = log_of(&home, &["--set", "log.level=error"]);
    assert!(log.is_empty(), "{log}");
}
