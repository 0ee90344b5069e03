//! Upstream finds keys through the environment, which it reads once. Each test gets a process that has the right one.

use std::process::Command;

use cuzk_testkit::keys;

/// Set in the process that runs a test's body.
const INSIDE: &str = "CUZK_TEST_WITH_UPSTREAM";

/// Runs `body` in a new process of this test program, whose environment points upstream at the test keys.
///
/// `test` is the full name of the calling test.
pub(crate) fn with_upstream(test: &str, body: impl FnOnce()) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the mark is for this process only"
    )]
    let is_inside = std::env::var_os(INSIDE).is_some();
    if is_inside {
        body();
        return;
    }
    let program = std::env::current_exe().expect("a running test has a program");
    let output = Command::new(program)
        .args([test, "--exact", "--nocapture", "--test-threads", "1"])
        .env(INSIDE, "1")
        .env("FIL_PROOFS_PARAMETER_CACHE", keys::folder())
        .env("FIL_PROOFS_PARENT_CACHE", keys::folder().join("parents"))
        .output()
        .expect("the program runs, since it runs already");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    // A name that matches no test succeeds too; the count tells.
    let passed = output.status.success() && stdout.contains("1 passed");
    assert!(passed, "{test} in its own process:\n{stdout}\n{stderr}");
}
