//! Garbage is refused quickly, with the place, and leaves no memory behind.

use serde_json::json;

use super::{daemon::Home, fixture::Fixture, python::Python};

/// What allocators keep for the next request, beside the largest message.
const SLACK_BYTES: u64 = 64 << 20;

#[test]
fn bad_requests_are_refused_with_their_place_and_leave_no_memory_behind() {
    let home = Home::new();
    let fixture = Fixture::new(&home);
    let python = Python::new(&home);
    let daemon = home.start(&[]);
    let input = json!({ "address": daemon.address(), "requests": fixture.files(&home) });
    // The first round warms up what is allocated once.
    python.run("bad_input.py", &input);
    let before = daemon.resident_bytes();
    let answer = python.run("bad_input.py", &input);
    assert_eq!(answer["failures"], json!([]), "{answer:#}");
    let after = daemon.resident_bytes();
    assert!(
        after <= before + SLACK_BYTES,
        "{before} bytes before, {after} after"
    );
    let (_, status) = daemon.page("/status.json");
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    assert_eq!(status["totals"]["accepted"], 0);
    assert_eq!(status["buffers"]["payload"]["bytes"], 0);
    // Requests of 200 MB are among them; most of their time is that of sending them.
    let longest_s = &status["stages"]["decode"]["longest_s"];
    assert!(longest_s.as_f64() < Some(1.0), "{longest_s} s to refuse");
}
