//! A daemon of the built binary in a home folder of its own.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
};

use cuzk_testkit::keys;
use serde_json::Value;

/// A folder that outlives the daemons that run in it.
pub(crate) struct Home {
    folder: tempfile::TempDir,
}

/// A daemon that serves; killed when dropped.
pub(crate) struct Daemon {
    child: Child,
    // Held open: a daemon must not find its standard output closed.
    _stdout: ChildStdout,
    announced: Value,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The binary with these words, nothing but a home in its environment.
    pub(crate) fn cuzk(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.folder.path())
            .current_dir(self.folder.path());
        command
    }

    /// As [`Home::serve`], by a shell that runs `script` first.
    pub(crate) fn serve_after(&self, script: &str, options: &[&str]) -> Command {
        self.serve_through(&["/bin/sh"], script, options)
    }

    /// As [`Home::serve_after`], where what the script mounts is seen by the daemon alone.
    pub(crate) fn serve_in_own_mounts(&self, script: &str, options: &[&str]) -> Command {
        self.serve_through(
            &["/usr/bin/env", "unshare", "-rm", "/bin/sh"],
            script,
            options,
        )
    }

    fn serve_through(&self, shell: &[&str], script: &str, options: &[&str]) -> Command {
        let direct = self.serve(options);
        let mut command = Command::new(shell[0]);
        command
            .args(&shell[1..])
            .arg("-c")
            .arg(format!("{script} && exec \"$0\" \"$@\""))
            .arg(direct.get_program())
            .args(direct.get_args())
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .envs(
                direct
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .current_dir(self.folder.path());
        command
    }

    /// The command that starts a daemon with these options; unless they say otherwise, on ports that the system chooses
    /// and with the keys of tests.
    pub(crate) fn serve(&self, options: &[&str]) -> Command {
        let mut command = self.cuzk(&["serve", "--json", "--quiet"]);
        command
            .args(options)
            .env("CUZK_SERVER_LISTEN", "127.0.0.1:0")
            .env("CUZK_ADMIN_LISTEN", "127.0.0.1:0")
            .env("CUZK_JOURNAL_RESERVE", "1MiB")
            .env("FIL_PROOFS_PARAMETER_CACHE", keys::folder());
        command
    }

    /// Starts a daemon and waits until it serves.
    pub(crate) fn start(&self, options: &[&str]) -> Daemon {
        Daemon::start(&mut self.serve(options))
    }
}

impl Daemon {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut stdout = child.stdout.take().expect("it is piped");
        let announced = serde_json::Deserializer::from_reader(stdout.by_ref())
            .into_iter()
            .next();
        match announced {
            Some(Ok(announced)) => Self {
                child,
                _stdout: stdout,
                announced,
            },
            other => panic!("no daemon: {other:?}, {:?}", child.wait()),
        }
    }

    /// The first TCP address.
    pub(crate) fn address(&self) -> &str {
        self.announced["listen"][0].as_str().expect("an address")
    }

    /// The page at a path of the admin address: its status line and body.
    pub(crate) fn page(&self, path: &str) -> (String, String) {
        let admin = self.announced["admin"].as_str().expect("an address");
        http_get(admin, path)
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What the system has given it, in bytes.
    pub(crate) fn resident_bytes(&self) -> u64 {
        anonymous_bytes(self.id())
    }

    /// Sends SIGKILL and waits for the end.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ended");
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(status.is_ok_and(|status| status.success()));
    }

    /// Waits for the end.
    pub(crate) fn wait(mut self) -> ExitStatus {
        self.child.wait().expect("it ended")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Memory of a process that belongs to it alone, in bytes.
pub(crate) fn anonymous_bytes(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.expect("Linux tells").trim().trim_end_matches(" kB");
    kib.parse::<u64>().expect("a number") * 1024
}

/// One request over plain HTTP.
fn http_get(address: &str, path: &str) -> (String, String) {
    use std::io::Write as _;
    let mut stream = std::net::TcpStream::connect(address).expect("the admin port answers");
    write!(stream, "GET {path} HTTP/1.0\r\nHost: cuzk\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it is text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.lines().next().expect("a status line");
    (status.to_owned(), body.to_owned())
}

/// Says what a run found, for the record that is made of it.
#[allow(clippy::print_stdout, reason = "a test has no other output")]
pub(crate) fn tell(found: &str) {
    println!("{found}");
}

/// A path as text.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("temporary paths are UTF-8")
}
