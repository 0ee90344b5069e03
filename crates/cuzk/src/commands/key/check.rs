//! `cuzk key check`: reads every byte of a key once and remembers that it passed.

use std::{path::PathBuf, time::Instant};

use clap::Args;
use cuzk_groth16::{
    CheckReport, CheckRequest, CheckSource, KeyDigest, KeyProgress, KeyStep, OpenOptions,
    PointCheck, ProvingKey, RecordPlace,
};
use serde::Serialize;

use super::inspect::circuit_named;
use crate::{
    environment::Concern,
    exit::{ExitClass, OrExit as _, failure},
    keys::{KeyResult as _, unexpected_counts},
    output::Page,
    session::Session,
    units,
};

/// Check every point of a key file, and its digest against the published one
///
/// A passed check is remembered by size, time and digest of the file, in the user's cache folder;
/// the same file is not read again for it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cuzk key check ./keys/v28-….params\n  cuzk key check \
                        /var/tmp/filecoin-proof-parameters/v28-….params --full --digest"
)]
pub(super) struct CheckArgs {
    /// The .params file
    file: PathBuf,
    /// Check that each point is in the subgroup of prime order, too; a hundred times slower
    #[arg(long)]
    full: bool,
    /// Compare the digest with the published one, which the file's name finds, or with HEX
    #[arg(long, value_name = "HEX", num_args = 0..=1, default_missing_value = "published")]
    digest: Option<String>,
    /// Read the file even if a passed check of it is remembered
    #[arg(long)]
    again: bool,
}

#[derive(Debug, Serialize)]
struct CheckResult {
    file: PathBuf,
    file_bytes: u64,
    circuit_by_name: Option<String>,
    points: PointCheck,
    digest: String,
    digest_compared: bool,
    remembered: bool,
    record: Option<PathBuf>,
    seconds: f64,
}

pub(super) fn run(args: &CheckArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Threads, Concern::CacheFolder])?;
    session.start_threads()?;
    let expected_digest = args
        .digest
        .as_deref()
        .map(|text| expected_digest(text, args))
        .transpose()?;
    let key = ProvingKey::open(&args.file, &OpenOptions::default())
        .or_exit_by_kind(|| "not a usable proving key".to_owned())?;
    expect_counts_of_name(&key)?;
    let records = session.environment.key_checks()?;
    let start = Instant::now();
    let report = check(&key, args, expected_digest, &records.path, session)?;
    let result = CheckResult::new(
        &key,
        &report,
        expected_digest,
        start.elapsed().as_secs_f64(),
    );
    if let CheckSource::CheckedNotRecorded(error) = &report.source {
        session
            .output
            .warning(&format!("the check is not remembered: {error}"));
    }
    session.output.result(&result, |page| result.write(page))
}

fn check(
    key: &ProvingKey,
    args: &CheckArgs,
    expected_digest: Option<KeyDigest>,
    records: &std::path::Path,
    session: &Session,
) -> anyhow::Result<CheckReport> {
    let request = CheckRequest {
        check: if args.full {
            PointCheck::Subgroup
        } else {
            PointCheck::OnCurve
        },
        expected_digest,
        records: Some(RecordPlace::Folder(records)),
    };
    if args.again {
        forget(request.records, key)?;
    }
    let step = session.output.bar("checking", 1);
    key.check(&request, &|progress: KeyProgress| {
        step.rename(match progress.step {
            KeyStep::Digest => "hashing the file",
            KeyStep::Points => "checking its points",
        });
        step.set(progress.done, progress.total);
    })
    .or_exit_by_kind(|| "the key does not pass".to_owned())
}

fn forget(place: Option<RecordPlace<'_>>, key: &ProvingKey) -> anyhow::Result<()> {
    let Some(path) = place.map(|place| place.path_for(key.path())) else {
        return Ok(());
    };
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error)
            .or_exit(ExitClass::Resource, || {
                format!("removing the record {}", path.display())
            }),
        _ => Ok(()),
    }
}

fn expected_digest(text: &str, args: &CheckArgs) -> anyhow::Result<KeyDigest> {
    if text != "published" {
        return text.parse().or_exit(ExitClass::Usage, || {
            "--digest takes the first 16 bytes of the file's BLAKE2b-512".to_owned()
        });
    }
    let published = circuit_named(&args.file).and_then(|id| id.info().published_params_digest);
    match published {
        Some(digest) => digest.parse().or_exit(ExitClass::Internal, || {
            "the published manifest is damaged".to_owned()
        }),
        None => Err(failure(
            ExitClass::Usage,
            format!(
                "no digest is published for a file named {}; give the digest to compare with: \
                 --digest HEX",
                args.file.file_name().unwrap_or_default().display()
            ),
        )),
    }
}

fn expect_counts_of_name(key: &ProvingKey) -> anyhow::Result<()> {
    let Some(id) = circuit_named(key.path()) else {
        return Ok(());
    };
    match unexpected_counts(&id.info(), key.counts()).first() {
        None => Ok(()),
        Some((section, found, expected)) => Err(failure(
            ExitClass::Key,
            format!(
                "{}: named as the key of {id}, but of another circuit: section {section} holds \
                 {found} points, expected {expected}",
                key.path().display()
            ),
        )),
    }
}

impl CheckResult {
    fn new(
        key: &ProvingKey,
        report: &CheckReport,
        expected_digest: Option<KeyDigest>,
        seconds: f64,
    ) -> Self {
        let (remembered, record) = match &report.source {
            CheckSource::Remembered(path) => (true, Some(path.clone())),
            CheckSource::CheckedAndRecorded(path) => (false, Some(path.clone())),
            CheckSource::Checked | CheckSource::CheckedNotRecorded(_) => (false, None),
        };
        Self {
            file: key.path().to_owned(),
            file_bytes: key.file_bytes(),
            circuit_by_name: circuit_named(key.path()).map(|id| id.to_string()),
            points: report.check,
            digest: report.digest.to_string(),
            digest_compared: expected_digest.is_some(),
            remembered,
            record,
            seconds,
        }
    }

    fn write(&self, page: &mut Page) {
        let points = match self.points {
            PointCheck::OnCurve => "on the curve (--full checks the subgroup, too)",
            PointCheck::Subgroup => "on the curve and in the subgroup",
        };
        let digest = if self.digest_compared {
            "as expected"
        } else {
            "not compared; --digest compares it with the published one"
        };
        let source = match (&self.record, self.remembered) {
            (Some(path), true) => format!("remembered in {}", path.display()),
            (Some(path), false) => format!("read now, remembered in {}", path.display()),
            (None, _) => "read now".to_owned(),
        };
        page.fields(&[
            ("file", self.file.display().to_string()),
            ("size", units::bytes(self.file_bytes)),
            (
                "circuit by name",
                self.circuit_by_name
                    .clone()
                    .unwrap_or_else(|| "none of ours".to_owned()),
            ),
            ("all points", points.to_owned()),
            ("digest", format!("{} ({digest})", self.digest)),
            ("source", source),
            ("took", format!("{:.1} s", self.seconds)),
        ]);
    }
}
