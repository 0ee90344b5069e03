//! `cuzk doctor`: what this machine has for proving, and what it lacks.

use std::path::PathBuf;

use clap::Args;
use cuzk_circuits::CircuitId;
use cuzk_cuda::{CudaError, DeviceInfo, devices, resident_bytes};
use cuzk_engine::memory_limit;
use cuzk_groth16::CardDescription;
use serde::Serialize;

use crate::{
    environment::{Concern, Folder},
    keys::KeyStore,
    output::Page,
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
    /// By card: whether the key stays there, or passes through for each proof.
    placement: Vec<Placement>,
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
    let report = Report::new(threads.get(), &folder, devices());
    session.output.result(&report, |page| report.write(page))
}

impl Report {
    fn new(threads: usize, folder: &Folder, found: Result<Vec<DeviceInfo>, CudaError>) -> Self {
        let (cards, no_cards) = match found {
            Ok(found) if found.is_empty() => {
                (found, Some("the NVIDIA driver reports no card".to_owned()))
            }
            Ok(found) => (found, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            threads,
            memory_bytes: memory_limit().map(|limit| limit.bytes),
            keys: keys(folder, &cards),
            cards: cards.iter().map(Card::new).collect(),
            no_cards,
            key_folder: folder.to_string(),
        }
    }

    fn write(&self, page: &mut Page) {
        page.fields(&[
            ("cuzk", self.version.to_owned()),
            (
                "processor",
                format!(
                    "{} threads, {} of memory",
                    self.threads,
                    units::bytes_or_unknown(self.memory_bytes)
                ),
            ),
            ("key folder", self.key_folder.clone()),
        ]);
        if let Some(reason) = &self.no_cards {
            page.fields(&[("NVIDIA cards", format!("none: {reason}"))]);
        }
        for card in &self.cards {
            page.line("");
            card.write(page);
        }
        page.line("");
        self.write_keys(page);
    }

    fn write_keys(&self, page: &mut Page) {
        if self.keys.is_empty() {
            page.line("no keys in the key folder");
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

/// The keys of the folder that can be opened, by circuit.
fn keys(folder: &Folder, cards: &[DeviceInfo]) -> Vec<Key> {
    let store = KeyStore::new(folder.clone());
    let present = CircuitId::all().filter(|id| store.params_path(&id.info()).exists());
    present
        .filter_map(|id| Some((id, store.open(id).ok()?)))
        .map(|(id, key)| {
            let needed = resident_bytes(&key.counts());
            Key {
                circuit: id.to_string(),
                file_bytes: key.file_bytes(),
                resident_bytes: needed,
                placement: cards
                    .iter()
                    .map(|card| Placement::of(needed, card.total_memory))
                    .collect(),
            }
        })
        .collect()
}

impl Placement {
    const fn of(needed_bytes: u64, card_bytes: u64) -> Self {
        if needed_bytes <= card_bytes {
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
    use crate::environment::Origin;

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
        let folder = Folder {
            path: PathBuf::from("/none"),
            origin: Origin::Default,
        };
        Report::new(2, &folder, found)
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
    fn a_key_stays_on_a_card_that_has_room_for_it_and_the_work() {
        assert_eq!(Placement::of(70 << 30, 139 << 30), Placement::Resident);
        assert_eq!(Placement::of(70 << 30, 24 << 30), Placement::Streamed);
    }
}
