//! One real statement of each kind, and upstream's verdict on proofs of it.

use std::collections::BTreeMap;

use cuzk_circuits::sector::{
    SealedSector, SectorSpec, UpdatedSector, porep_request, window_post_request,
    winning_post_request,
};
use cuzk_circuits::{
    PoStProof, PoStVariant, ProofRequest, SealProof, SealVariant, SectorSize, Statement,
    UpdateProof,
};
use filecoin_proofs_api::{PublicReplicaInfo, SectorId, post, seal, update};
use tempfile::TempDir;

const RANDOMNESS: [u8; 32] = [0x2a; 32];
const SEAL: SealProof = SealProof {
    variant: SealVariant::V1_1,
    sector_size: SectorSize::Kib2,
};

/// Whether upstream accepts these bytes as a proof of the statement.
type Verifier = Box<dyn Fn(&[u8]) -> bool>;

/// A decoded statement with upstream's verifier for it.
pub(crate) struct Kind {
    pub(crate) statement: Statement,
    pub(crate) upstream_accepts: Verifier,
}

impl Kind {
    fn new(request: &ProofRequest, upstream_accepts: impl Fn(&[u8]) -> bool + 'static) -> Self {
        Self {
            statement: request.decode().expect("upstream's vanilla proof decodes"),
            upstream_accepts: Box::new(upstream_accepts),
        }
    }
}

fn sealed(folder: &TempDir, sector_number: u64) -> SealedSector {
    let spec = SectorSpec {
        seal_proof: SEAL,
        miner_id: 1000,
        sector_number,
        seed: 5,
    };
    let path = folder.path().join(sector_number.to_string());
    SealedSector::seal(&spec, &path, &mut |_| ()).expect("upstream seals a 2 KiB sector")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("the folder for temporary files is writable")
}

pub(crate) fn porep() -> Kind {
    let folder = folder();
    let sector = sealed(&folder, 1);
    let request = porep_request(&sector, &mut |_| ()).expect("upstream makes C1");
    Kind::new(&ProofRequest::PoRep(request), move |proof| {
        seal::verify_seal(
            SEAL.upstream(),
            sector.comm_r(),
            sector.comm_d(),
            sector.prover_id(),
            SectorId::from(sector.spec().sector_number),
            sector.ticket(),
            sector.seed(),
            proof,
        )
        .expect("upstream reads our key and the proof")
    })
}

pub(crate) fn snap() -> Kind {
    let folder = folder();
    let updated =
        UpdatedSector::encode(&sealed(&folder, 2), &mut |_| ()).expect("upstream encodes");
    let request = updated
        .request(&mut |_| ())
        .expect("upstream makes vanilla proofs");
    let proof = UpdateProof {
        sector_size: SEAL.sector_size,
    };
    Kind::new(&ProofRequest::SnapDeals(request), move |bytes| {
        update::verify_empty_sector_update_proof(
            proof.upstream(),
            bytes,
            updated.comm_r_old(),
            updated.comm_r_new(),
            updated.comm_d_new(),
        )
        .expect("upstream reads our key and the proof")
    })
}

pub(crate) fn window_post() -> Kind {
    let folder = folder();
    // Three sectors: two partitions, the second padded.
    let sectors: Vec<SealedSector> = (3..6).map(|number| sealed(&folder, number)).collect();
    let references: Vec<&SealedSector> = sectors.iter().collect();
    let variant = PoStVariant::Window;
    let request = window_post_request(&references, variant, RANDOMNESS, &mut |_| ())
        .expect("upstream makes vanilla proofs");
    let proof = PoStProof {
        variant,
        sector_size: SEAL.sector_size,
    };
    let replicas = replicas(proof, &references);
    let prover_id = sectors[0].prover_id();
    Kind::new(&ProofRequest::WindowPoSt(request), move |bytes| {
        post::verify_window_post(
            &RANDOMNESS,
            &[(proof.upstream(), bytes)],
            &replicas,
            prover_id,
        )
        .expect("upstream reads our key and the proofs")
    })
}

pub(crate) fn winning_post() -> Kind {
    let folder = folder();
    let sector = sealed(&folder, 7);
    let request = winning_post_request(&sector, RANDOMNESS, &mut |_| ())
        .expect("upstream makes vanilla proofs");
    let proof = PoStProof {
        variant: PoStVariant::Winning,
        sector_size: SEAL.sector_size,
    };
    let replicas = replicas(proof, &[&sector]);
    Kind::new(&ProofRequest::WinningPoSt(request), move |bytes| {
        post::verify_winning_post(&RANDOMNESS, bytes, &replicas, sector.prover_id())
            .expect("upstream reads our key and the proof")
    })
}

fn replicas(proof: PoStProof, sectors: &[&SealedSector]) -> BTreeMap<SectorId, PublicReplicaInfo> {
    sectors
        .iter()
        .map(|sector| {
            let info = PublicReplicaInfo::new(proof.upstream(), sector.comm_r());
            (SectorId::from(sector.spec().sector_number), info)
        })
        .collect()
}
