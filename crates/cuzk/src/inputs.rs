//! Something real to prove, for those who have no sector at hand: at 2 KiB, sectors sealed by the
//! upstream crates themselves, in a folder that is gone afterwards; at other sizes, synthetic
//! sectors with valid vanilla proofs. All of it comes from fixed seeds, so every run proves the
//! same statements.

use cuzk_circuits::{
    Bytes32, CircuitId, Family, PoStProof, PoStVariant, ProofRequest, PublicData, PublicPoSt,
    PublicSeal, PublicUpdate, SealProof, SealVariant, SectorSize, StoredSector, UpdateProof,
    sector::{
        SealedSector, SectorError, SectorSpec, SectorStep, UpdatedSector, porep_request,
        window_post_request, winning_post_request,
    },
    synthetic::{SectorData, SyntheticKind, SyntheticSpec},
};
use tempfile::TempDir;

use crate::{
    exit::{ExitClass, OrExit as _, failure},
    output::Output,
};

/// The miner of all these sectors.
pub(crate) const MINER_ID: u64 = 1000;
/// Sectors that are sealed: as many as one `WindowPoSt` partition holds at 2 KiB.
const NUM_SECTORS: u64 = 2;
/// Where all content of the sectors comes from.
const SEED: u64 = 1;
/// Randomness of the chain for proofs of spacetime; its two top bits are clear.
const RANDOMNESS: [u8; 32] = [0x2a; 32];

/// Sectors of one size for all kinds of proofs.
#[derive(Debug)]
pub(crate) enum SectorSource {
    /// Of 2 KiB, sealed by upstream.
    Sealed(Sectors),
    /// Of a larger size, where only what a proof looks at exists.
    Synthetic(SectorSize),
}

impl SectorSource {
    /// Seals sectors where that takes seconds.
    ///
    /// # Errors
    /// As [`Sectors::seal`].
    pub(crate) fn new(size: SectorSize, output: &Output) -> anyhow::Result<Self> {
        match size {
            SectorSize::Kib2 => Sectors::seal(output).map(Self::Sealed),
            size => Ok(Self::Synthetic(size)),
        }
    }

    /// The request that a client would send about these sectors, and what the chain would know about sealed ones.
    ///
    /// # Errors
    /// As [`Sectors::request`] and [`synthetic_request`].
    pub(crate) fn request(
        &self,
        family: Family,
        output: &Output,
    ) -> anyhow::Result<(ProofRequest, Option<PublicData>)> {
        match self {
            Self::Sealed(sectors) => {
                let (request, public) = sectors.request(family, output)?;
                Ok((request, Some(public)))
            }
            Self::Synthetic(size) => {
                let id = CircuitId::new(family, *size);
                let num_sectors = match family {
                    Family::WindowPoSt => NUM_SECTORS as usize,
                    _ => 1,
                };
                Ok((synthetic_request(id, num_sectors, output)?, None))
            }
        }
    }
}

/// Sealed sectors of 2 KiB in a temporary folder.
#[derive(Debug)]
pub(crate) struct Sectors {
    // The folder is removed when the value is dropped.
    _folder: TempDir,
    sectors: Vec<SealedSector>,
}

impl Sectors {
    /// Seals them.
    ///
    /// # Errors
    /// Resource, when the temporary folder cannot be used; internal, when upstream fails.
    pub(crate) fn seal(output: &Output) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("cuzk-sectors-")
            .tempdir()
            .or_exit(ExitClass::Resource, || {
                "making a temporary folder for sectors".to_owned()
            })?;
        let step = output.step("sealing sectors of 2 KiB");
        let seal = |sector_number: u64| {
            let spec = SectorSpec {
                seal_proof: SealProof {
                    variant: SealVariant::V1_1,
                    sector_size: SectorSize::Kib2,
                },
                miner_id: MINER_ID,
                sector_number,
                seed: SEED,
            };
            let path = folder.path().join(sector_number.to_string());
            SealedSector::seal(&spec, &path, &mut |phase: SectorStep| {
                step.rename(&format!("sealing sector {sector_number}: {phase}"));
            })
        };
        let sectors =
            on_own_threads(|| (1..=NUM_SECTORS).map(seal).collect::<Result<Vec<_>, _>>())?
                .or_exit(ExitClass::Internal, || {
                    "sealing a sector of 2 KiB".to_owned()
                })?;
        Ok(Self {
            _folder: folder,
            sectors,
        })
    }

    /// The request that a client would send about these sectors, and what the chain would know.
    ///
    /// # Errors
    /// Internal, when upstream fails.
    pub(crate) fn request(
        &self,
        family: Family,
        output: &Output,
    ) -> anyhow::Result<(ProofRequest, PublicData)> {
        let step = output.step(&format!("making the vanilla proof of {family}"));
        let progress = |phase: SectorStep| step.rename(&format!("{family}: {phase}"));
        on_own_threads(|| self.vanilla_proof(family, progress))?
            .or_exit(ExitClass::Internal, || {
                format!("making the vanilla proof of {family}")
            })
    }

    fn vanilla_proof(
        &self,
        family: Family,
        mut progress: impl FnMut(SectorStep),
    ) -> Result<(ProofRequest, PublicData), SectorError> {
        let first = &self.sectors[0];
        match family {
            Family::PoRep => porep_request(first, &mut progress).map(|request| {
                let public = PublicData::PoRep(public_seal(first));
                (ProofRequest::PoRep(request), public)
            }),
            Family::SnapDeals => UpdatedSector::encode(first, &mut progress).and_then(|updated| {
                let public = PublicData::SnapDeals(public_update(first, &updated));
                let request = updated.request(&mut progress)?;
                Ok((ProofRequest::SnapDeals(request), public))
            }),
            Family::WindowPoSt => {
                let all: Vec<&SealedSector> = self.sectors.iter().collect();
                let variant = PoStVariant::WindowV1_2;
                let public = PublicData::WindowPoSt(public_post(&all, variant));
                window_post_request(&all, variant, RANDOMNESS, &mut progress)
                    .map(|request| (ProofRequest::WindowPoSt(request), public))
            }
            Family::WinningPoSt => {
                let public = PublicData::WinningPoSt(public_post(&[first], PoStVariant::Winning));
                winning_post_request(first, RANDOMNESS, &mut progress)
                    .map(|request| (ProofRequest::WinningPoSt(request), public))
            }
        }
    }
}

/// Runs upstream's work on threads that end with it, so that what it leaves in the heaps of its
/// threads is used again by those that prove, and does not count twice in their peak.
fn on_own_threads<R: Send>(work: impl FnOnce() -> R + Send) -> anyhow::Result<R> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(rayon::current_num_threads())
        .build()
        .map(|pool| pool.install(work))
        .or_exit(ExitClass::Resource, || "starting threads".to_owned())
}

fn public_seal(sector: &SealedSector) -> PublicSeal {
    let spec = sector.spec();
    PublicSeal {
        registered_proof: spec.seal_proof.to_string(),
        miner_id: spec.miner_id,
        sector_number: spec.sector_number,
        ticket: Bytes32(sector.ticket()),
        seed: Bytes32(sector.seed()),
        comm_r: Bytes32(sector.comm_r()),
        comm_d: Bytes32(sector.comm_d()),
    }
}

fn public_update(sector: &SealedSector, updated: &UpdatedSector) -> PublicUpdate {
    let sector_size = sector.spec().seal_proof.sector_size;
    PublicUpdate {
        registered_proof: UpdateProof { sector_size }.to_string(),
        comm_r_old: Bytes32(updated.comm_r_old()),
        comm_r_new: Bytes32(updated.comm_r_new()),
        comm_d_new: Bytes32(updated.comm_d_new()),
    }
}

fn public_post(sectors: &[&SealedSector], variant: PoStVariant) -> PublicPoSt {
    let proof = PoStProof {
        variant,
        sector_size: SectorSize::Kib2,
    };
    PublicPoSt {
        registered_proof: proof.to_string(),
        miner_id: MINER_ID,
        randomness: Bytes32(RANDOMNESS),
        sectors: sectors
            .iter()
            .map(|sector| StoredSector {
                number: sector.spec().sector_number,
                comm_r: Bytes32(sector.comm_r()),
            })
            .collect(),
    }
}

/// A request for a circuit of any size: about real sectors at 2 KiB, about synthetic ones otherwise.
///
/// # Errors
/// As [`Sectors::seal`] and [`Sectors::request`].
pub(crate) fn request_for(id: CircuitId, output: &Output) -> anyhow::Result<ProofRequest> {
    let source = SectorSource::new(id.sector_size, output)?;
    let (request, _) = source.request(id.family, output)?;
    Ok(request)
}

/// Refuses more than one sector for a kind that is about one.
///
/// # Errors
/// Usage, with the number.
pub(crate) fn check_sectors(id: CircuitId, num_sectors: usize) -> anyhow::Result<()> {
    if num_sectors == 1 || id.family == Family::WindowPoSt {
        return Ok(());
    }
    Err(failure(
        ExitClass::Usage,
        format!("--sectors {num_sectors} is for WindowPoSt, {id} is about one sector"),
    ))
}

/// A request about synthetic sectors, for a circuit of any size; more than one sector for `WindowPoSt` only.
///
/// # Errors
/// Usage, when the number of sectors is out of range.
pub(crate) fn synthetic_request(
    id: CircuitId,
    num_sectors: usize,
    output: &Output,
) -> anyhow::Result<ProofRequest> {
    let _step = output.step(&format!("making a synthetic sector for {id}"));
    let spec = SyntheticSpec {
        kind: SyntheticKind::current(id.family, num_sectors),
        sector_size: id.sector_size,
        seed: SEED,
        data: SectorData::Random,
    };
    spec.request().or_exit(ExitClass::Usage, || {
        format!("making a synthetic sector for {id}")
    })
}
