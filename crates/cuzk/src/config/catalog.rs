//! Every setting of the daemon, once.

use super::Syntax;

/// A setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// Section and name, separated by a point.
    pub(crate) key: &'static str,
    /// How its value is written.
    pub(crate) syntax: Syntax,
    /// Its default as a variable would give it, or what decides where nobody does.
    pub(crate) default: DefaultValue,
    /// What it does.
    pub(crate) effect: &'static str,
}

/// What holds where nobody sets a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DefaultValue {
    /// A value, as a variable would give it.
    Text(&'static str),
    /// Something that depends on the machine or on other settings, in words.
    Derived(&'static str),
}

use DefaultValue::{Derived, Text};

impl Setting {
    /// The environment variable that gives this setting.
    pub(crate) fn variable(&self) -> String {
        format!("CUZK_{}", self.key.replace('.', "_").to_uppercase())
    }

    /// Section and name.
    pub(crate) fn section_and_name(&self) -> (&'static str, &'static str) {
        self.key.split_once('.').unwrap_or(("", self.key))
    }
}

/// The setting that a variable gives.
pub(crate) fn setting_of_variable(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.variable() == name)
}

const fn setting(
    key: &'static str,
    syntax: Syntax,
    default: DefaultValue,
    effect: &'static str,
) -> Setting {
    Setting {
        key,
        syntax,
        default,
        effect,
    }
}

/// All settings, by section.
pub(crate) const SETTINGS: &[Setting] = &[
    setting(
        "server.listen",
        Syntax::Addresses,
        Text("127.0.0.1:9820"),
        "Where gRPC is served. Beyond this machine, clients must be known: see `tls`, `server.token_file` and `server.trusted_network`.",
    ),
    setting(
        "server.unix_mode",
        Syntax::Mode,
        Text("0660"),
        "Permission bits of unix sockets.",
    ),
    setting(
        "server.max_message",
        Syntax::Bytes,
        Text("256MiB"),
        "Largest message that is received or sent.",
    ),
    setting(
        "server.token_file",
        Syntax::Text,
        Derived("no token"),
        "A file with the token that clients must show, 16 characters at least.",
    ),
    setting(
        "server.trusted_network",
        Syntax::Flag,
        Text("false"),
        "Lets everybody in who can connect, on any address. Say it only where a firewall decides who can.",
    ),
    setting(
        "server.drain_deadline",
        Syntax::Time,
        Text("10min"),
        "How long jobs may go on after SIGTERM or SIGINT; then they are cancelled, and go on after a restart where there is a journal.",
    ),
    setting(
        "server.client_gone",
        Syntax::Choice(&["keep", "cancel"]),
        Text("keep"),
        "What becomes of a job whose last client went away: it goes on and its result is kept, or it is cancelled.",
    ),
    setting(
        "tls.certificate",
        Syntax::Text,
        Derived("no encryption"),
        "The server's certificate chain, PEM. TCP listeners are then encrypted, unix sockets are not.",
    ),
    setting(
        "tls.key",
        Syntax::Text,
        Derived("no encryption"),
        "The private key of the certificate, PEM.",
    ),
    setting(
        "tls.client_ca",
        Syntax::Text,
        Derived("clients need no certificate"),
        "Who signs certificates of clients, PEM. Clients without one are turned away.",
    ),
    setting(
        "admin.enabled",
        Syntax::Flag,
        Text("true"),
        "Whether the admin pages are served: /healthz, /readyz, /metrics, /status.json, /timeline.json.",
    ),
    setting(
        "admin.listen",
        Syntax::Address,
        Text("127.0.0.1:9821"),
        "Where the admin pages are served. They ask nobody who they are.",
    ),
    setting(
        "keys.folder",
        Syntax::Text,
        Derived("`FIL_PROOFS_PARAMETER_CACHE`, else /var/tmp/filecoin-proof-parameters"),
        "The folder of proving keys. It must hold one key at least; keys are never made silently.",
    ),
    setting(
        "keys.require",
        Syntax::Circuits,
        Text(""),
        "Circuits whose keys must be there, or the daemon does not start.",
    ),
    setting(
        "keys.preload",
        Syntax::Circuits,
        Text(""),
        "Circuits that are loaded into the machine's memory before the first client is served; a card gets \
         its copy with the first proof.",
    ),
    setting(
        "device.kind",
        Syntax::Device,
        Text("cpu"),
        "What proves. Cards need a program that was built with the feature cuda.",
    ),
    setting(
        "device.memory_limit",
        Syntax::Bytes,
        Derived("what the card has free at the start"),
        "Memory of a card to stay within. A key that does not fit is streamed from its file, once for several partitions.",
    ),
    setting(
        "device.threads",
        Syntax::Count,
        Derived("`CUZK_THREADS`, else `RAYON_NUM_THREADS`, else what the system offers"),
        "Threads of the CPU prover.",
    ),
    setting(
        "engine.budget",
        Syntax::Bytes,
        Derived("80 % of what the machine and the cgroup allow"),
        "Memory that requests, keys, circuits, partitions and results may take together.",
    ),
    setting(
        "engine.partition_workers",
        Syntax::Count,
        Derived("one per core, 12 at most"),
        "Partitions whose values are computed at the same time.",
    ),
    setting(
        "engine.device_workers",
        Syntax::Count,
        Text("2"),
        "Proofs in flight per device; of a streamed key, those of two passes.",
    ),
    setting(
        "engine.cpu_tail_threads",
        Syntax::Count,
        Derived("one per core"),
        "Threads that finish and verify proofs.",
    ),
    setting(
        "engine.lookahead",
        Syntax::Count,
        Text("1"),
        "Partitions that should be ready before a device asks.",
    ),
    setting(
        "engine.ready_capacity",
        Syntax::Count,
        Derived("the larger of lookahead and partition_workers"),
        "Partitions that may be ready. Refused below partition_workers, since workers would then wait for each other.",
    ),
    setting(
        "engine.max_queued_jobs",
        Syntax::Count,
        Text("1000"),
        "Jobs that may be unfinished; more are told to come back later.",
    ),
    setting(
        "engine.max_queued_bytes",
        Syntax::Bytes,
        Derived("an eighth of the budget"),
        "Payloads of unfinished jobs, as part of the budget.",
    ),
    setting(
        "engine.stall_deadline",
        Syntax::Time,
        Text("15min"),
        "A step that runs longer is reported with its stage and job.",
    ),
    setting(
        "engine.quarantine",
        Syntax::Time,
        Text("5min"),
        "How long a device that failed gets no work while another one works. The last one rests for 5 s, for longer \
         after each failure in a row, and never for longer than this.",
    ),
    setting(
        "engine.max_attempts",
        Syntax::Count,
        Text("3"),
        "How often a partition is tried when devices fail.",
    ),
    setting(
        "engine.fair_tenants",
        Syntax::Flag,
        Text("false"),
        "Whether tenants take turns among jobs of equal priority and deadline.",
    ),
    setting(
        "engine.winning_lane",
        Syntax::Flag,
        Text("true"),
        "Whether memory, a worker of each kind and the next device slot are kept for WinningPoSt.",
    ),
    setting(
        "journal.enabled",
        Syntax::Flag,
        Text("true"),
        "Whether accepted jobs and their results are written down, so that they survive a crash.",
    ),
    setting(
        "journal.folder",
        Syntax::Text,
        Derived("`XDG_STATE_HOME`/cuzk/journal, else ~/.local/state/cuzk/journal"),
        "Where they are written.",
    ),
    setting(
        "journal.reserve",
        Syntax::Bytes,
        Text("256MiB"),
        "Room on the disk that payloads leave free for results; a job for which there is less is refused.",
    ),
    setting(
        "results.keep_for",
        Syntax::Time,
        Text("1d"),
        "How long results are kept.",
    ),
    setting(
        "results.keep_number",
        Syntax::Count,
        Text("10000"),
        "How many results the journal keeps.",
    ),
    setting(
        "results.keep_bytes",
        Syntax::Bytes,
        Text("256MiB"),
        "How many bytes of results are kept.",
    ),
    setting(
        "log.format",
        Syntax::Choice(&["text", "json"]),
        Text("text"),
        "How log lines are written, to standard error.",
    ),
    setting(
        "log.level",
        Syntax::Choice(&["error", "warn", "info", "debug", "trace"]),
        Text("info"),
        "What is logged.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_of_its_setting() {
        for setting in SETTINGS {
            if let Text(text) = setting.default {
                let read = setting.syntax.read_text(text);
                assert!(read.is_ok(), "{}: {read:?}", setting.key);
            }
        }
    }

    #[test]
    fn keys_and_variables_are_distinct_and_none_is_a_variable_of_another_command() {
        for (index, setting) in SETTINGS.iter().enumerate() {
            let variable = setting.variable();
            let earlier = &SETTINGS[..index];
            assert!(earlier.iter().all(|other| other.variable() != variable));
            assert!(crate::variables::find(&variable).is_none(), "{variable}");
            assert_eq!(setting.key.matches('.').count(), 1, "{}", setting.key);
        }
    }

    #[test]
    fn settings_of_a_section_stand_together() {
        let mut seen: Vec<&str> = Vec::new();
        for setting in SETTINGS {
            let (section, _) = setting.section_and_name();
            if seen.last() != Some(&section) {
                assert!(!seen.contains(&section), "{section} is in two places");
                seen.push(section);
            }
        }
    }
}
