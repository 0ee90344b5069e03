//! From settings to what the daemon is made of. Values that contradict each other are refused here, with their keys and
//! who chose them.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use cuzk_circuits::CircuitId;
use cuzk_engine::{AbandonedJobs, EngineSettings};
use cuzk_server::{
    ServerSettings,
    journal::{JournalSettings, Retention},
    listen::{Address, TlsFiles, Token},
};

use super::{Settings, Value};
use crate::{
    device_choice::{DeviceChoice, DeviceOptions},
    environment::{Environment, Folder, Origin},
    exit::{ExitClass, OrExit as _, failure},
};

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Everything that `serve` needs.
#[derive(Debug)]
pub(crate) struct ServeConfig {
    /// Listeners and journal.
    pub(crate) server: ServerSettings,
    /// The engine.
    pub(crate) engine: EngineSettings,
    /// Where keys are.
    pub(crate) keys: Folder,
    /// Circuits whose keys must be there.
    pub(crate) require: Vec<CircuitId>,
    /// Circuits to make resident first.
    pub(crate) preload: Vec<CircuitId>,
    /// What proves.
    pub(crate) device: DeviceOptions,
    /// How log lines are written.
    pub(crate) log_format: LogFormat,
    /// What is logged.
    pub(crate) log_level: tracing::Level,
}

impl ServeConfig {
    /// Puts the settings together; what nobody set comes from the environment or the engine's defaults.
    ///
    /// # Errors
    /// Usage, with the key and its origin.
    pub(crate) fn new(settings: &Settings, environment: &Environment) -> anyhow::Result<Self> {
        let read = Reader(settings);
        let threads = match read.count("device.threads") {
            Some(threads) => NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN),
            None => environment.threads(None)?,
        };
        let keys = match read.text("keys.folder") {
            Some(path) => Folder {
                path: path.into(),
                origin: Origin::Setting("keys.folder"),
            },
            None => environment.parameter_folder(None)?,
        };
        let choice = read
            .text("device.kind")
            .and_then(|name| name.parse().ok())
            .unwrap_or(DeviceChoice::Cpu);
        let origin = &settings.get("device.memory_limit").origin;
        let device = DeviceOptions::new(choice, threads).limited(
            read.number("device.memory_limit"),
            &format!("device.memory_limit ({origin})"),
        )?;
        Ok(Self {
            server: read.server(environment)?,
            engine: engine_settings(settings)?,
            keys,
            require: read.circuits("keys.require"),
            preload: read.circuits("keys.preload"),
            device,
            log_format: match read.text("log.format") {
                Some("json") => LogFormat::Json,
                _ => LogFormat::Text,
            },
            log_level: read
                .text("log.level")
                .and_then(|level| level.parse().ok())
                .unwrap_or(tracing::Level::INFO),
        })
    }
}

/// Values by type; a row's syntax has seen to it that the type is right.
struct Reader<'a>(&'a Settings);

impl<'a> Reader<'a> {
    fn value(&self, key: &str) -> Option<&'a Value> {
        self.0.get(key).value.as_ref()
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        match self.value(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn number(&self, key: &str) -> Option<u64> {
        match self.value(key) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    fn count(&self, key: &str) -> Option<usize> {
        self.number(key)
            .map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    fn flag(&self, key: &str) -> bool {
        matches!(self.value(key), Some(Value::Flag(true)))
    }

    fn time(&self, key: &str) -> Option<Duration> {
        match self.value(key) {
            Some(Value::Time(time)) => Some(*time),
            _ => None,
        }
    }

    fn words(&self, key: &str) -> &'a [String] {
        match self.value(key) {
            Some(Value::List(words)) => words,
            _ => &[],
        }
    }

    fn circuits(&self, key: &str) -> Vec<CircuitId> {
        let words = self.words(key).iter();
        words.filter_map(|word| word.parse().ok()).collect()
    }

    fn addresses(&self, key: &str) -> Vec<Address> {
        let words = self.words(key).iter();
        words.filter_map(|word| word.parse().ok()).collect()
    }

    fn server(&self, environment: &Environment) -> anyhow::Result<ServerSettings> {
        let token = self.text("server.token_file").map(|path| {
            Token::read(path.as_ref()).or_exit(ExitClass::Usage, || {
                format!(
                    "server.token_file, {}",
                    self.0.get("server.token_file").origin
                )
            })
        });
        let admin = self
            .text("admin.listen")
            .filter(|_| self.flag("admin.enabled"))
            .and_then(|text| text.parse().ok());
        Ok(ServerSettings {
            listen: self.addresses("server.listen"),
            unix_mode: self
                .number("server.unix_mode")
                .map_or(0, |bits| bits as u32),
            admin,
            max_message_bytes: self.count("server.max_message").unwrap_or(0),
            tls: self.tls()?,
            token: token.transpose()?,
            trusted_network: self.flag("server.trusted_network"),
            journal: self.journal(environment)?,
            drain_deadline: self.time("server.drain_deadline").unwrap_or_default(),
        })
    }

    fn tls(&self) -> anyhow::Result<Option<TlsFiles>> {
        let path = |key: &str| self.text(key).map(PathBuf::from);
        match (
            path("tls.certificate"),
            path("tls.key"),
            path("tls.client_ca"),
        ) {
            (Some(certificate), Some(key), client_ca) => Ok(Some(TlsFiles {
                certificate,
                key,
                client_ca,
            })),
            (None, None, None) => Ok(None),
            (certificate, key, _) => {
                let missing = match (certificate, key) {
                    (None, Some(_)) => "tls.certificate",
                    (Some(_), _) => "tls.key",
                    (None, None) => "tls.certificate and tls.key",
                };
                Err(failure(
                    ExitClass::Usage,
                    format!("{missing} missing: an encrypted listener needs both"),
                ))
            }
        }
    }

    fn journal(&self, environment: &Environment) -> anyhow::Result<Option<JournalSettings>> {
        if !self.flag("journal.enabled") {
            return Ok(None);
        }
        let folder = match self.text("journal.folder") {
            Some(folder) => PathBuf::from(folder),
            None => environment.journal_folder()?.path,
        };
        Ok(Some(JournalSettings {
            folder,
            reserve_bytes: self.number("journal.reserve").unwrap_or(0),
            retention: Retention {
                max_age: self.time("results.keep_for").unwrap_or_default(),
                max_results: self.count("results.keep_number").unwrap_or(0),
                max_bytes: self.number("results.keep_bytes").unwrap_or(0),
            },
        }))
    }
}

/// The engine's settings.
///
/// # Errors
/// Usage, when they contradict each other or the machine.
pub(crate) fn engine_settings(settings: &Settings) -> anyhow::Result<EngineSettings> {
    let read = Reader(settings);
    let defaults = EngineSettings::default();
    let count = |key: &str, default: usize| read.count(key).unwrap_or(default);
    let time = |key: &str, default: Duration| read.time(key).unwrap_or(default);
    let settings = EngineSettings {
        budget_bytes: read.number("engine.budget"),
        partition_workers: count("engine.partition_workers", defaults.partition_workers),
        device_workers: count("engine.device_workers", defaults.device_workers),
        cpu_tail_threads: count("engine.cpu_tail_threads", defaults.cpu_tail_threads),
        lookahead: count("engine.lookahead", defaults.lookahead),
        ready_capacity: read.count("engine.ready_capacity"),
        max_queued_jobs: count("engine.max_queued_jobs", defaults.max_queued_jobs),
        max_queued_bytes: read.number("engine.max_queued_bytes"),
        result_retention: time("results.keep_for", defaults.result_retention),
        max_result_bytes: read
            .number("results.keep_bytes")
            .unwrap_or(defaults.max_result_bytes),
        stall_deadline: time("engine.stall_deadline", defaults.stall_deadline),
        quarantine: time("engine.quarantine", defaults.quarantine),
        max_attempts: count("engine.max_attempts", defaults.max_attempts),
        abandoned: match read.text("server.client_gone") {
            Some("cancel") => AbandonedJobs::Cancel,
            _ => AbandonedJobs::Keep,
        },
        fair_tenants: read.flag("engine.fair_tenants"),
        winning_lane: read.flag("engine.winning_lane"),
    };
    settings
        .validate()
        .or_exit(ExitClass::Usage, || "the section engine".to_owned())?;
    Ok(settings)
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test and says where"
)]
mod tests {
    use super::{super::Layers, *};

    fn config(options: &[(&str, &str)]) -> anyhow::Result<ServeConfig> {
        let option = |&(key, text): &(&str, &str)| ("--set", key.to_owned(), text.to_owned());
        let mut options: Vec<_> = options.iter().map(option).collect();
        options.push(("--set", "journal.folder".into(), "/nonexistent".into()));
        let layers = Layers {
            options,
            ..Layers::default()
        };
        ServeConfig::new(&Settings::load(&layers)?, &Environment::default())
    }

    #[test]
    fn without_any_setting_the_daemon_listens_on_this_machine_only() {
        let config = config(&[]).unwrap();
        assert!(config.server.listen.iter().all(Address::is_local));
        assert!(config.server.admin.is_some_and(|admin| admin.is_local()));
        assert_eq!(config.server.max_message_bytes, 256 << 20);
        assert_eq!(config.server.unix_mode, 0o660);
    }

    #[test]
    fn a_certificate_without_a_key_is_refused_by_name() {
        let error = config(&[("tls.certificate", "/a")])
            .unwrap_err()
            .to_string();
        assert!(error.contains("tls.key missing"), "{error}");
        let error = config(&[("tls.client_ca", "/a")]).unwrap_err().to_string();
        assert!(error.contains("tls.certificate and tls.key"), "{error}");
    }

    #[test]
    fn a_limit_of_a_cards_memory_needs_a_card() {
        let limit = ("device.memory_limit", "8GiB");
        let error = config(&[limit]).unwrap_err().to_string();
        assert!(
            error.starts_with("device.memory_limit (from --set): 8.00 GiB"),
            "{error}"
        );
        let config = config(&[limit, ("device.kind", "cuda:1")]).unwrap();
        assert_eq!(config.device.memory_limit, Some(8 << 30));
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused_with_both_numbers() {
        let options = [
            ("engine.ready_capacity", "1"),
            ("engine.partition_workers", "3"),
        ];
        let error = format!("{:#}", config(&options).unwrap_err());
        assert!(error.contains("ready_capacity is 1"), "{error}");
        assert!(error.contains("partition_workers = 3"), "{error}");
    }

    #[test]
    fn every_engine_setting_reaches_the_engine() {
        let config = config(&[
            ("engine.device_workers", "7"),
            ("engine.max_attempts", "8"),
            ("engine.fair_tenants", "true"),
            ("engine.winning_lane", "false"),
            ("engine.stall_deadline", "9s"),
            ("server.client_gone", "cancel"),
            ("results.keep_for", "2h"),
        ])
        .unwrap();
        let engine = config.engine;
        assert_eq!((engine.device_workers, engine.max_attempts), (7, 8));
        assert!(engine.fair_tenants && !engine.winning_lane);
        assert_eq!(engine.stall_deadline, Duration::from_secs(9));
        assert_eq!(engine.result_retention, Duration::from_hours(2));
        assert_eq!(engine.abandoned, AbandonedJobs::Cancel);
    }
}
