//! `cuzk serve`: the daemon.

use std::{path::PathBuf, sync::Arc};

use anyhow::Context as _;
use clap::Args;
use cuzk_circuits::CircuitId;
use cuzk_engine::{Engine, EngineParts, FilecoinCircuits};
use cuzk_groth16::ProverDevice;
use cuzk_server::{ServeError, Server, ServerSettings};
use serde::Serialize;

use crate::{
    config::{Layers, ServeConfig, Settings},
    daemon::{KeyFolder, notify_ready, start_log, stop_on_signals},
    environment::Concern,
    exit::{ExitClass, OrExit as _, classed, failure},
    keys::KeyStore,
    local::{start_device, start_runtime},
    option_values::key_and_value,
    session::Session,
    units,
};

/// Run the daemon: serve proofs over gRPC until told to stop
///
/// Prints where it listens, as soon as it does, and logs to standard error. SIGTERM or SIGINT lets
/// jobs end until the deadline; a second signal stops at once.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk serve\n  cuzk serve --config /etc/cuzk/cuzk.toml\n  cuzk serve --keys \
                  ./keys --listen 127.0.0.1:9820 --listen unix:/run/cuzk/cuzk.sock --set \
                  engine.budget=64GiB"
)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Where settings come from.
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Serve gRPC here; may be repeated [setting: server.listen]
    #[arg(long, value_name = "ADDR")]
    listen: Vec<String>,
    /// Serve the admin pages here [setting: admin.listen]
    #[arg(long, value_name = "ADDR")]
    admin: Option<String>,
    /// The folder of proving keys [setting: keys.folder]
    #[arg(long, value_name = "DIR")]
    keys: Option<String>,
    /// Any setting; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    set: Vec<(String, String)>,
}

#[derive(Debug, Serialize)]
struct ServeResult {
    listen: Vec<String>,
    admin: Option<String>,
    circuits: Vec<String>,
    device: String,
    journal: Option<PathBuf>,
}

impl SettingsArgs {
    /// Reads all layers.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub(crate) fn load(&self, session: &Session) -> anyhow::Result<Settings> {
        let set = |key: &str| key.to_owned();
        let mut options: Vec<(&'static str, String, String)> = self
            .set
            .iter()
            .map(|(key, value)| ("--set", key.clone(), value.clone()))
            .collect();
        if !self.listen.is_empty() {
            options.push(("--listen", set("server.listen"), self.listen.join(",")));
        }
        if let Some(admin) = &self.admin {
            options.push(("--admin", set("admin.listen"), admin.clone()));
        }
        if let Some(keys) = &self.keys {
            options.push(("--keys", set("keys.folder"), keys.clone()));
        }
        if let Some(threads) = session.threads_option() {
            options.push(("--threads", set("device.threads"), threads.to_string()));
        }
        Settings::load(&Layers {
            file: self.config.clone(),
            variables: session.environment.settings(),
            options,
        })
    }
}

pub(crate) fn run(args: &ServeArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[
        Concern::Settings,
        Concern::Threads,
        Concern::ParameterFolder,
        Concern::Synthesis,
    ])?;
    let config = ServeConfig::new(&args.settings.load(session)?, &session.environment)?;
    let color = session.environment.color_allowed() && session.output.is_error_terminal();
    start_log(config.log_format, config.log_level, color)?;
    session.start_threads_with(config.device.threads)?;
    let runtime = start_runtime()?;
    let ended = runtime.block_on(serve(config, session));
    // Work that was cancelled may still hold a thread; the process does not wait for it.
    runtime.shutdown_background();
    ended
}

async fn serve(config: ServeConfig, session: &Session) -> anyhow::Result<()> {
    let stop = stop_on_signals()?;
    let keys = KeyFolder::open(KeyStore::new(config.keys.clone()), &config.require)?;
    let device = start_device(config.device)?;
    let parts = EngineParts {
        circuits: Arc::new(FilecoinCircuits::kept_in(config.keys.path.clone())),
        ..EngineParts::new(vec![Arc::clone(&device)], Arc::new(keys))
    };
    let engine = Engine::start(config.engine, parts)
        .or_exit(ExitClass::Usage, || "starting the engine".to_owned())?;
    preload(&engine, &config.preload).await?;
    let server = bind(config.server.clone(), engine.clone()).await?;
    let result = ServeResult {
        listen: server
            .addresses()
            .context("the addresses listened on")?
            .iter()
            .map(ToString::to_string)
            .collect(),
        admin: server
            .admin_address()
            .context("the admin address")?
            .map(|address| address.to_string()),
        circuits: circuits(&engine),
        device: describe_device(&*device),
        journal: config.server.journal.map(|journal| journal.folder),
    };
    session.output.result(&result, |page| result.write(page))?;
    notify_ready();
    let drained = server.run(stop).await.map_err(classed_serve_error)?;
    if drained.num_cancelled > 0 {
        tracing::warn!(num_cancelled = drained.num_cancelled, "jobs were cancelled");
    }
    tracing::info!("ended");
    Ok(())
}

async fn preload(engine: &Engine, circuits: &[CircuitId]) -> anyhow::Result<()> {
    for &circuit in circuits {
        let loaded = engine.preload(circuit).await;
        let loaded = loaded.or_exit(ExitClass::Key, || format!("keys.preload: {circuit}"))?;
        tracing::info!(%circuit, took_s = loaded.took.as_secs_f64(), "resident");
    }
    Ok(())
}

async fn bind(settings: ServerSettings, engine: Engine) -> anyhow::Result<Server> {
    if settings.trusted_network {
        tracing::warn!("trusted_network: everybody who can connect is served");
    }
    if settings.journal.is_none() {
        tracing::warn!("no journal: accepted jobs end with the daemon");
    }
    Server::bind(settings, engine)
        .await
        .map_err(classed_serve_error)
}

pub(crate) fn classed_serve_error(error: ServeError) -> anyhow::Error {
    let class = match &error {
        ServeError::NoAddress | ServeError::Exposure(_) | ServeError::Credentials(_) => {
            ExitClass::Usage
        }
        ServeError::Listen(_) | ServeError::Journal(_) | ServeError::Admin(_) => {
            ExitClass::Resource
        }
        ServeError::Devices(_) => ExitClass::Device,
        ServeError::Grpc(_) => return failure(ExitClass::Internal, error.to_string()),
    };
    classed(class, "the daemon", error)
}

fn circuits(engine: &Engine) -> Vec<String> {
    let snapshot = engine.snapshot();
    let residents = snapshot.residents.iter();
    residents.map(|found| found.circuit.to_string()).collect()
}

/// What proves, in words.
pub(crate) fn describe_device(device: &dyn ProverDevice) -> String {
    let description = device.describe();
    if let Some(card) = &description.card {
        return format!("card {}: {}, {}", card.number, card.name, card.uuid);
    }
    format!(
        "{} ({}), {}",
        description.name,
        description.arithmetic,
        units::counted(description.threads.get() as u64, "thread")
    )
}

impl ServeResult {
    fn write(&self, page: &mut crate::output::Page) {
        let journal = self
            .journal
            .as_ref()
            .map_or_else(|| "none".to_owned(), |folder| folder.display().to_string());
        page.fields(&[
            ("gRPC", self.listen.join(", ")),
            (
                "admin",
                self.admin.clone().unwrap_or_else(|| "none".to_owned()),
            ),
            ("device", self.device.clone()),
            ("keys", self.circuits.join(", ")),
            ("journal", journal),
        ]);
    }
}
