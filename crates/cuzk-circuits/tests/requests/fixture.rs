//! Sectors that all tests share, sealed once per process.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use cuzk_circuits::sector::{
    SealedSector, SectorSpec, UpdatedSector, porep_request, window_post_request,
    winning_post_request,
};
use cuzk_circuits::{
    PoRepRequest, PoStRequest, PoStVariant, SealProof, SealVariant, SectorSize, SnapDealsRequest,
};
use serde_json::{Value, json};

pub(crate) struct Fixture {
    pub(crate) sector: SealedSector,
    pub(crate) updated: UpdatedSector,
    pub(crate) porep: PoRepRequest,
    /// C1 of another sector of the same miner.
    pub(crate) other_porep: PoRepRequest,
    pub(crate) synthetic_porep: PoRepRequest,
    pub(crate) snap: SnapDealsRequest,
    pub(crate) winning: PoStRequest,
    /// Three sectors: one partition and a half.
    pub(crate) window_v1: PoStRequest,
    pub(crate) window: PoStRequest,
}

pub(crate) const RANDOMNESS: [u8; 32] = [0xd7; 32];
pub(crate) const MINER_ID: u64 = 1000;

static FIXTURE: OnceLock<Fixture> = OnceLock::new();

pub(crate) fn fixture() -> &'static Fixture {
    FIXTURE.get_or_init(make)
}

fn make() -> Fixture {
    let folder = tempfile::tempdir().expect("a folder");
    let seal = |sector_number, variant| {
        let spec = SectorSpec {
            seal_proof: SealProof {
                variant,
                sector_size: SectorSize::Kib2,
            },
            miner_id: MINER_ID,
            sector_number,
            seed: 42,
        };
        let folder = folder.path().join(sector_number.to_string());
        SealedSector::seal(&spec, &folder, &mut |_| ()).expect("a 2 KiB sector can be sealed")
    };
    let quiet = &mut |_| ();
    let sectors = [1, 2, 3].map(|number| seal(number, SealVariant::V1_1));
    let all: Vec<_> = sectors.iter().collect();
    let synthetic = seal(4, SealVariant::SyntheticPoRep);
    let updated = UpdatedSector::encode(&sectors[0], quiet).expect("an update");
    let mut window = |variant| window_post_request(&all, variant, RANDOMNESS, quiet);
    let window_v1 = window(PoStVariant::Window).expect("vanilla proofs");
    let window = window(PoStVariant::WindowV1_2).expect("vanilla proofs");
    Fixture {
        porep: porep_request(&sectors[0], quiet).expect("C1"),
        other_porep: porep_request(&sectors[1], quiet).expect("C1"),
        synthetic_porep: porep_request(&synthetic, quiet).expect("C1"),
        snap: updated.request(quiet).expect("vanilla proofs"),
        winning: winning_post_request(&sectors[0], RANDOMNESS, quiet).expect("vanilla proofs"),
        window_v1,
        window,
        updated,
        sector: sectors[0].clone(),
    }
}

/// The JSON inside the wrapper of a replication request.
pub(crate) fn c1_text(request: &PoRepRequest) -> String {
    let wrapper: Value = serde_json::from_slice(&request.vanilla_proof).expect("a wrapper");
    let inner = STANDARD
        .decode(wrapper["Phase1Out"].as_str().expect("a string"))
        .expect("base64");
    String::from_utf8(inner).expect("JSON is text")
}

/// `request` with another C1 output.
pub(crate) fn with_c1_text(request: &PoRepRequest, c1: impl AsRef<[u8]>) -> PoRepRequest {
    let wrapper = json!({
        "SectorNum": request.sector_number,
        "Phase1Out": STANDARD.encode(c1),
        "SectorSize": request.sector_size,
    });
    PoRepRequest {
        vanilla_proof: Bytes::from(wrapper.to_string()),
        ..request.clone()
    }
}

/// `request` with its C1 output edited.
pub(crate) fn with_c1(request: &PoRepRequest, edit: impl FnOnce(&mut Value)) -> PoRepRequest {
    let mut c1: Value = serde_json::from_str(&c1_text(request)).expect("JSON");
    edit(&mut c1);
    with_c1_text(request, c1.to_string())
}

/// The first challenge's vanilla proof in C1 output.
pub(crate) fn challenge(c1: &mut Value) -> &mut Value {
    &mut c1["vanilla_proofs"]["StackedDrg2KiBV1"][0][0]
}

/// 32 equal bytes as JSON.
pub(crate) fn bytes(byte: u8) -> Value {
    json!(vec![byte; 32])
}
