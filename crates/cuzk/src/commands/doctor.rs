//! `cuzk doctor`: what this machine has for proving, and what it lacks.

use std::path::PathBuf;

use clap::Args;
use cuzk_circuits::CircuitId;
use cuzk_cuda::{CudaError, DeviceInfo, devices, resident_bytes};
use cuzk_engine::memory_limit;
use cuzk_groth16::{CardDescription, ProvingKey};
use serde::Serialize;

use crate::{
    environment::Concern,
    exit::{ExitClass, failure},
    keys::{KEYS_CAN_BE_MADE, KeyStore},
    output::{Page, describe},
    session::Session,
    units,
};

/// Show what this machine proves with: processor, NVIDIA cards, and the keys that fit them
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cuzk doctor\n  cuzk doctor --keys ./keys --json")]
pub(crate) struct DoctorArgs {
    /// The key folder [default: `FIL_PROOFS_PARAMETER_CACHE`, else the usual one]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    threads: usize,
    memory_bytes: Option<u64>,
    cards: Vec<Card>,
    /// Why there is no card.
    no_cards: Option<String>,
    key_folder: String,
    keys: Vec<Key>,
    /// Why the folder has none.
    no_keys: Option<String>,
    unusable_keys: Vec<UnusableKey>,
}

#[derive(Debug, Serialize)]
struct Card {
    #[serde(flatten)]
    description: CardDescription,
    free_bytes: u64,
}

#[derive(Debug, Serialize)]
struct Key {
    circuit: String,
    file_bytes: u64,
    /// Memory of a card that holds the key and proves with it.
    resident_bytes: u64,
    /// By card, as much of it as is free: whether the key stays there, or passes through in parts, once for several
    /// partitions that wait.
    placement: Vec<Placement>,
}

/// A key's file that holds no key.
#[derive(Debug, Serialize)]
struct UnusableKey {
    circuit: String,
    /// What is wrong with it, and the way out.
    defect: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Placement {
    Resident,
    Streamed,
}

pub(crate) fn run(args: &DoctorArgs, session: &Session) -> anyhow::Result<()> {
    session.announce(&[Concern::Threads, Concern::ParameterFolder])?;
    let folder = session.environment.parameter_folder(args.keys.as_deref())?;
    let threads = session.environment.threads(session.threads_option())?;
    let store = KeyStore::new(folder);
    if args.keys.is_some() {
        store.expect_folder()?;
    }
    let report = Report::new(threads.get(), &store, devices());
    session.output.result(&report, |page| report.write(page))?;
    match report.unusable_keys.len() as u64 {
        0 => Ok(()),
        unusable => Err(failure(
            ExitClass::Key,
            format!("{} cannot be used", units::counted(unusable, "key")),
        )),
    }
}

impl Report {
    fn new(threads: usize, store: &KeyStore, found: Result<Vec<DeviceInfo>, CudaError>) -> Self {
        let (cards, no_cards) = match found {
            Ok(found) if found.is_empty() => {
                (found, Some("the NVIDIA driver reports no card".to_owned()))
            }
            Ok(found) => (found, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let (mut keys, mut unusable_keys) = (Vec::new(), Vec::new());
        for (id, key) in store.present() {
            match key {
                Ok(key) => keys.push(Key::new(id, &key, &cards)),
                Err(error) => unusable_keys.push(UnusableKey {
                    circuit: id.to_string(),
                    defect: describe(&error),
                }),
            }
        }
        let no_keys = (keys.is_empty() && unusable_keys.is_empty()).then(|| {
            let folder = store.expect_folder().err();
            folder.map_or_else(
                || format!("the folder holds none; {KEYS_CAN_BE_MADE}"),
                |error| describe(&error),
            )
        });
        Self {
            version: env!("CARGO_PKG_VERSION"),
            threads,
            memory_bytes: memory_limit().map(|limit| limit.bytes),
            keys,
            no_keys,
            unusable_keys,
            cards: cards.iter().map(Card::new).collect(),
            no_cards,
            key_folder: store.folder().to_string(),
        }
    }

    fn write(&self, page: &mut Page) {
        let mut fields = vec![
            ("cuzk", self.version.to_owned()),
            (
                "processor",
                format!(
                    "{}, {} of memory",
                    units::counted(self.threads as u64, "thread"),
                    units::bytes_or_unknown(self.memory_bytes)
                ),
            ),
            ("key folder", self.key_folder.clone()),
        ];
        fields.extend(
            self.no_cards
                .as_ref()
                .map(|reason| ("NVIDIA cards", format!("none: {reason}"))),
        );
        page.fields(&fields);
        for card in &self.cards {
            page.line("");
            card.write(page);
        }
        page.line("");
        self.write_keys(page);
    }

    fn write_keys(&self, page: &mut Page) {
        if let Some(reason) = &self.no_keys {
            page.line(&format!("no keys: {reason}"));
        }
        for key in &self.unusable_keys {
            page.line(&format!("{} CANNOT BE USED: {}", key.circuit, key.defect));
        }
        if self.keys.is_empty() {
            return;
        }
        let mut heading = vec!["key".to_owned(), "file".to_owned()];
        heading.extend(
            self.cards
                .iter()
                .map(|card| format!("card {}", card.description.number)),
        );
        let rows = self.keys.iter().map(Key::row);
        let table: Vec<_> = std::iter::once(heading).chain(rows).collect();
        page.table(&table);
    }
}

impl Placement {
    const fn of(needed_bytes: u64, free_bytes: u64) -> Self {
        if needed_bytes <= free_bytes {
            Self::Resident
        } else {
            Self::Streamed
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Resident => "resident",
            Self::Streamed => "streamed",
        }
    }
}

impl Key {
    fn new(id: CircuitId, key: &ProvingKey, cards: &[DeviceInfo]) -> Self {
        let resident_bytes = resident_bytes(&key.counts());
        let placement = cards
            .iter()
            .map(|card| Placement::of(resident_bytes, card.free_memory));
        Self {
            circuit: id.to_string(),
            file_bytes: key.file_bytes(),
            resident_bytes,
            placement: placement.collect(),
        }
    }

    fn row(&self) -> Vec<String> {
        let mut row = vec![self.circuit.clone(), units::bytes(self.file_bytes)];
        row.extend(
            self.placement
                .iter()
                .map(|placement| placement.word().to_owned()),
        );
        row
    }
}

impl Card {
    fn new(info: &DeviceInfo) -> Self {
        Self {
            description: info.card(),
            free_bytes: info.free_memory,
        }
    }

    fn write(&self, page: &mut Page) {
        let card = &self.description;
        let kernels = match &card.kernels {
            Some(code) => format!("{code}, of those built: {}", card.built_for),
            None => format!(
                "NONE: this program has code for {}; build it with CUZK_CUDA_ARCHS={}",
                card.built_for,
                card.capability.replace('.', "")
            ),
        };
        page.fields(&[
            (&format!("card {}", card.number), card.name.clone()),
            ("uuid", card.uuid.clone()),
            (
                "memory",
                format!(
                    "{}, {} free",
                    units::bytes(card.memory_bytes),
                    units::bytes(self.free_bytes)
                ),
            ),
            ("driver", format!("CUDA {}", card.driver)),
            (
                "capability",
                format!(
                    "{}, {} multiprocessors",
                    card.capability, card.multiprocessors
                ),
            ),
            ("kernels", kernels),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::{Folder, Origin};

    fn card(capability: (i32, i32)) -> DeviceInfo {
        DeviceInfo {
            ordinal: 3,
            name: "NVIDIA H200".to_owned(),
            uuid: "GPU-0".to_owned(),
            capability,
            multiprocessors: 132,
            shared_memory: 226 << 10,
            total_memory: 139 << 30,
            free_memory: 138 << 30,
            driver_version: 13_000,
            kernels: "90,100",
        }
    }

    fn report(found: Result<Vec<DeviceInfo>, CudaError>) -> Report {
        let store = KeyStore::new(Folder {
            path: PathBuf::from("/none"),
            origin: Origin::Default,
        });
        Report::new(1, &store, found)
    }

    #[test]
    fn a_machine_without_a_card_says_why() {
        let no_driver = report(Err(CudaError::NoDriver));
        let reason = no_driver.no_cards.expect("a reason");
        assert!(reason.contains("no NVIDIA driver"), "{reason}");
        let none = report(Ok(Vec::new()));
        assert!(none.no_cards.is_some());
        assert!(none.cards.is_empty());
    }

    #[test]
    fn a_card_shows_the_kernels_that_it_runs_or_that_it_runs_none() {
        let report = report(Ok(vec![card((9, 0)), card((8, 6))]));
        assert_eq!(report.no_cards, None);
        let kernels: Vec<_> = report
            .cards
            .iter()
            .map(|card| card.description.kernels.as_deref())
            .collect();
        assert_eq!(kernels, [Some("sm_90"), None]);
        assert_eq!(report.cards[0].description.driver, "13.0");
    }

    #[test]
    fn a_key_stays_on_a_card_where_it_and_the_work_have_room_beside_what_others_use() {
        cuzk_testkit::keys::for_circuit("wpost-2k".parse().expect("a circuit"));
        let store = KeyStore::new(Folder {
            path: cuzk_testkit::keys::folder(),
            origin: Origin::Default,
        });
        let mut busy = card((9, 0));
        busy.free_memory = 1 << 20;
        let report = Report::new(1, &store, Ok(vec![card((9, 0)), busy]));
        let key = report.keys.iter().find(|key| key.circuit == "wpost-2k");
        let placement = &key.expect("the key").placement;
        assert_eq!(placement, &[Placement::Resident, Placement::Streamed]);
    }
}
