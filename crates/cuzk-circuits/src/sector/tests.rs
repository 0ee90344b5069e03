use std::io::Read as _;

use super::*;
use crate::registered::{PoStVariant, SealVariant};
use crate::{PoRepRequest, SectorSize};

fn spec(variant: SealVariant, sector_number: u64) -> SectorSpec {
    SectorSpec {
        seal_proof: SealProof {
            variant,
            sector_size: SectorSize::Kib2,
        },
        miner_id: 1000,
        sector_number,
        seed: 7,
    }
}

fn seal(spec: &SectorSpec, folder: &Path) -> SealedSector {
    SealedSector::seal(spec, folder, &mut |_| ()).expect("a 2 KiB sector can be sealed")
}

fn commit(spec: &SectorSpec) -> PoRepRequest {
    let folder = tempfile::tempdir().expect("a folder");
    porep_request(&seal(spec, folder.path()), &mut |_| ()).expect("C1 succeeds")
}

#[test]
fn the_same_seed_makes_the_same_request_and_another_seed_another_one() {
    let first = spec(SealVariant::V1_1, 1);
    let second = SectorSpec { seed: 8, ..first };
    assert_eq!(commit(&first), commit(&first));
    assert_ne!(commit(&first).vanilla_proof, commit(&second).vanilla_proof);
}

#[test]
fn every_interactive_variant_can_be_sealed() {
    for variant in [
        SealVariant::V1,
        SealVariant::V1_1,
        SealVariant::SyntheticPoRep,
    ] {
        let request = commit(&spec(variant, 2));
        assert!(request.vanilla_proof.len() > 100_000, "{variant:?}");
    }
}

#[test]
fn steps_are_reported_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut steps = Vec::new();
    let sector = SealedSector::seal(
        &spec(SealVariant::SyntheticPoRep, 3),
        folder.path(),
        &mut |step| steps.push(step),
    )
    .expect("a 2 KiB sector can be sealed");
    let mut progress = |step| steps.push(step);
    UpdatedSector::encode(&sector, &mut progress)
        .and_then(|updated| updated.request(&mut progress))
        .expect("an update can be proved");
    assert_eq!(
        steps,
        [
            SectorStep::WriteData,
            SectorStep::PreCommit1,
            SectorStep::PreCommit2,
            SectorStep::SyntheticProofs,
            SectorStep::EncodeUpdate,
            SectorStep::UpdateProofs,
        ]
    );
}

#[test]
fn a_proof_about_no_sector_or_about_mixed_miners_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = seal(&spec(SealVariant::V1_1, 1), &folder.path().join("1"));
    let other = SectorSpec {
        miner_id: 1001,
        ..spec(SealVariant::V1_1, 2)
    };
    let second = seal(&other, &folder.path().join("2"));
    let request = |sectors: &[&SealedSector]| {
        window_post_request(sectors, PoStVariant::Window, [1; 32], &mut |_| ())
    };
    assert!(matches!(request(&[]), Err(SectorError::NoSectors)));
    assert!(matches!(
        request(&[&first, &second]),
        Err(SectorError::MixedSectors { sector_number: 2 })
    ));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("occupied");
    fs::write(&file, "x").expect("a file");
    let error = SealedSector::seal(&spec(SealVariant::V1_1, 1), &file, &mut |_| ())
        .expect_err("a file is in the way");
    assert!(error.to_string().contains("occupied/cache"), "{error}");
}

#[test]
fn seeded_bytes_do_not_depend_on_how_they_are_read() {
    let spec = spec(SealVariant::V1_1, 1);
    let mut whole = Vec::new();
    SeededBytes::new(&spec, DataSource::Sealed, 1001)
        .read_to_end(&mut whole)
        .expect("reading memory");
    assert_eq!(whole.len(), 1001);
    let mut pieces = Vec::new();
    let mut stream = SeededBytes::new(&spec, DataSource::Sealed, 1001);
    let mut piece = [0; 7];
    loop {
        let count = stream.read(&mut piece).expect("reading memory");
        if count == 0 {
            break;
        }
        pieces.extend_from_slice(&piece[..count]);
    }
    assert_eq!(pieces, whole);
}
