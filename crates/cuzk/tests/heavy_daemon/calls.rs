//! A client of other people makes every call.

use serde_json::{Value, json};

use super::{
    daemon::{Home, text},
    fixture::{Fixture, bytes},
    python::Python,
};

#[test]
fn a_generated_client_makes_every_call_over_tcp_and_a_unix_socket() {
    let home = Home::new();
    let fixture = Fixture::new(&home);
    let python = Python::new(&home);
    let socket = home.path("cuzk.sock");
    let unix = format!("unix:{}", text(&socket));
    let keys = only_post_keys(&home);
    let daemon = home.start(&[
        "--listen",
        "127.0.0.1:0",
        "--listen",
        &unix,
        "--keys",
        &keys,
    ]);
    let requests = fixture.files(&home);
    for (prefix, address) in [("tcp", daemon.address()), ("unix", unix.as_str())] {
        let input = json!({ "address": address, "requests": requests, "prefix": prefix });
        let proofs = python.run("calls.py", &input);
        let proofs = proofs.as_array().expect("a list");
        assert_eq!(proofs.len(), 3);
        for proof in proofs {
            let [kind, proof] = [&proof[0], &proof[1]].map(|part| part.as_str().expect("text"));
            fixture.verify(kind, &bytes(proof));
        }
    }
    check_admin_pages(&daemon);
    daemon.terminate();
    assert!(daemon.wait().success());
    assert!(!socket.exists(), "the socket goes with its daemon");
}

/// A key folder in which exactly the keys of the proofs of spacetime are, whatever other tests have made.
fn only_post_keys(home: &Home) -> String {
    let folder = home.path("keys");
    std::fs::create_dir(&folder).expect("a folder");
    for circuit in ["winning-2k", "wpost-2k"] {
        let key = cuzk_testkit::keys::for_circuit(circuit.parse().expect("a circuit"));
        for file in [key.params, key.verifying_key] {
            let link = folder.join(file.file_name().expect("a name"));
            std::os::unix::fs::symlink(&file, link).expect("a link");
        }
    }
    text(&folder).to_owned()
}

fn check_admin_pages(daemon: &super::daemon::Daemon) {
    for path in ["/healthz", "/readyz"] {
        assert!(daemon.page(path).0.contains("200"), "{path}");
    }
    let (status, metrics) = daemon.page("/metrics");
    assert!(status.contains("200"), "{status}");
    let ended = "cuzk_jobs_ended_total{kind=\"winning-post\",ending=\"completed\"} 4";
    assert!(metrics.contains(ended), "{metrics}");
    assert!(metrics.contains("cuzk_events_missed_total 0"), "{metrics}");
    let (_, status) = daemon.page("/status.json");
    let status: Value = serde_json::from_str(&status).expect("JSON");
    assert_eq!(status["totals"]["completed"], 6);
    let (_, timeline) = daemon.page("/timeline.json");
    let timeline: Value = serde_json::from_str(&timeline).expect("JSON");
    let starts = timeline["steps"].as_array().expect("a list");
    assert!(starts.iter().any(|step| step["stage"] == "start"));
    assert!(daemon.page("/nothing").0.contains("404"));
}
