//! `cuzk config`: what the daemon would do, without doing it.

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use super::serve::{SettingsArgs, describe_device};
use crate::{
    config::{ServeConfig, Settings, example, reference},
    daemon::KeyFolder,
    environment::Concern,
    keys::KeyStore,
    local::start_device,
    output::{Page, describe},
    session::Session,
};

/// Check, print or explain the settings of `cuzk serve`
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  cuzk config example > cuzk.toml\n  cuzk config check --config cuzk.toml"
)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Find what would keep the daemon from starting: settings, files, keys, the device
    #[command(
        after_help = "Examples:\n  cuzk config check --config cuzk.toml\n  cuzk config check \
                            --keys ./keys --set keys.require=winning-2k"
    )]
    Check(SettingsArgs),
    /// Print every setting, its value and who chose it
    #[command(
        after_help = "Examples:\n  cuzk config print --config cuzk.toml\n  cuzk config print --json"
    )]
    Print(SettingsArgs),
    /// Print a configuration file with every setting and its default
    #[command(after_help = "Examples:\n  cuzk config example > cuzk.toml")]
    Example,
    /// Print a page of the reference in Markdown
    #[command(
        after_help = "Examples:\n  cuzk config reference settings > docs/operations/settings.md"
    )]
    Reference {
        /// Which page
        page: ReferencePage,
    },
}

/// A page of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReferencePage {
    /// Every setting
    Settings,
    /// Every metric
    Metrics,
}

#[derive(Debug, Serialize)]
struct CheckResult {
    ok: bool,
    keys: std::path::PathBuf,
    device: String,
    listen: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SettingLine {
    key: &'static str,
    value: Option<String>,
    origin: String,
}

pub(crate) fn run(args: &ConfigArgs, session: &Session) -> anyhow::Result<()> {
    match &args.command {
        ConfigCommand::Check(settings) => check(settings, session),
        ConfigCommand::Print(settings) => print(&settings.load(session)?, session),
        ConfigCommand::Example => session.output.raw(example().as_bytes()),
        ConfigCommand::Reference { page } => {
            let text = match page {
                ReferencePage::Settings => reference(),
                ReferencePage::Metrics => cuzk_server::metrics::reference(),
            };
            session.output.raw(text.as_bytes())
        }
    }
}

fn check(args: &SettingsArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[
        Concern::Settings,
        Concern::Threads,
        Concern::ParameterFolder,
    ])?;
    let config = ServeConfig::new(&args.load(session)?, &session.environment)?;
    config
        .server
        .permit()
        .map_err(super::serve::classed_serve_error)?;
    let keys = config.keys.path.clone();
    let store = KeyStore::new(config.keys);
    for error in store.present().filter_map(|(_, key)| key.err()) {
        session.output.warning(&describe(&error));
    }
    KeyFolder::open(store, &config.require)?;
    let device = describe_device(&*start_device(config.device)?);
    let listen = config.server.listen.iter();
    let result = CheckResult {
        ok: true,
        keys,
        device,
        listen: listen.map(ToString::to_string).collect(),
    };
    session.output.result(&result, |page| {
        page.line(&format!(
            "the daemon can start with these settings, on {}",
            result.device
        ));
    })
}

fn print(settings: &Settings, session: &Session) -> anyhow::Result<()> {
    let lines: Vec<SettingLine> = settings
        .iter()
        .map(|(setting, resolved)| SettingLine {
            key: setting.key,
            value: resolved
                .value
                .as_ref()
                .map(|value| value.to_toml(setting.syntax)),
            origin: resolved.origin.to_string(),
        })
        .collect();
    session.output.result(&lines, |page| write(page, &lines))
}

fn write(page: &mut Page, lines: &[SettingLine]) {
    let width = lines.iter().map(|line| line.key.len()).max().unwrap_or(0);
    for line in lines {
        let value = line.value.as_deref().unwrap_or("derived");
        page.line(&format!("{:width$}  {value}  ({})", line.key, line.origin));
    }
}
