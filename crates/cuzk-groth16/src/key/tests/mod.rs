//! Keys from bellperson, whole and damaged in every way that operators have seen.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use bellperson::groth16::generate_parameters;
use blstrs::{Bls12, G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::Group;
use group::prime::PrimeCurveAffine;
use tempfile::TempDir;

use super::*;
use crate::curve::decode_point_unchecked;
use crate::field::{Fp, Fp2};
use crate::setup::test_circuits::RandomCircuit;
use crate::verifying_key::VerifyingKey;

mod mutations;

/// A key of bellperson's in a folder of its own.
struct TestKey {
    folder: TempDir,
    bytes: Vec<u8>,
}

impl TestKey {
    fn new() -> Self {
        Self::of(&RandomCircuit {
            seed: 11,
            num_public: 3,
            num_products: 20,
        })
    }

    fn of(circuit: &RandomCircuit) -> Self {
        let [alpha, beta, gamma, delta, tau] = [3, 5, 7, 11, 13].map(Scalar::from);
        let (g1, g2) = (G1Projective::generator(), G2Projective::generator());
        let parameters = generate_parameters::<Bls12, _>(
            circuit.clone(),
            g1,
            g2,
            alpha,
            beta,
            gamma,
            delta,
            tau,
        )
        .expect("parameters");
        let mut bytes = Vec::new();
        parameters.write(&mut bytes).expect("write to memory");
        Self {
            folder: tempfile::tempdir().expect("folder"),
            bytes,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("test.params")
    }

    fn open_bytes(&self, bytes: &[u8]) -> Result<ProvingKey, KeyError> {
        fs::write(self.path(), bytes).expect("write");
        ProvingKey::open(self.path(), &OpenOptions::default())
    }

    fn open(&self) -> ProvingKey {
        self.open_bytes(&self.bytes).expect("good key")
    }

    /// The bytes with one bit flipped within a point of a vector.
    fn flipped(&self, section: Section, index: usize) -> Vec<u8> {
        let layout = KeyLayout::of_params(&self.bytes, 0).expect("good key");
        let mut bytes = self.bytes.clone();
        bytes[layout.range(section).start + index * section.point_bytes() + 50] ^= 4;
        bytes
    }
}

fn silent(_: KeyProgress) {}

const REQUEST: CheckRequest<'_> = CheckRequest {
    check: PointCheck::OnCurve,
    expected_digest: None,
    records: None,
};

#[test]
fn an_empty_file_is_refused_in_words_with_its_name() {
    let key = TestKey::new();
    let error = key.open_bytes(&[]).expect_err("empty");
    let text = error.to_string();
    assert!(
        text.ends_with("test.params: file is empty (0 bytes)"),
        "{text}"
    );
}

#[test]
fn a_missing_file_and_a_folder_are_refused_with_the_path() {
    let key = TestKey::new();
    let options = OpenOptions::default();
    let error = ProvingKey::open(key.path(), &options).expect_err("missing");
    assert!(
        error.to_string().contains("test.params: cannot open"),
        "{error}"
    );
    let error = ProvingKey::open(key.folder.path(), &options).expect_err("folder");
    assert!(matches!(error, KeyError::NotAFile { .. }), "{error}");
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let key = TestKey::new();
    let made = std::process::Command::new("mkfifo")
        .arg(key.path())
        .status()
        .expect("mkfifo is in every system");
    assert!(made.success());
    let error = ProvingKey::open(key.path(), &OpenOptions::default()).expect_err("a pipe");
    assert!(matches!(error, KeyError::NotAFile { .. }), "{error}");
    let error = VerifyingKey::read_file(key.path()).expect_err("a pipe");
    assert!(matches!(error, KeyError::NotAFile { .. }), "{error}");
}

#[test]
fn a_file_cut_anywhere_is_refused_with_section_expected_and_found() {
    let key = TestKey::new();
    let lengths = (1..key.bytes.len()).step_by(37);
    for length in lengths.chain([863, 864, 868, key.bytes.len() - 1]) {
        match key.open_bytes(&key.bytes[..length]) {
            Err(KeyError::Format {
                defect:
                    FormatError::HeaderCut {
                        expected, found, ..
                    }
                    | FormatError::PointsCut {
                        expected, found, ..
                    },
                ..
            }) => assert!(found == length as u64 && expected > found),
            other => panic!("unexpected {other:?}"),
        }
    }
}

#[test]
fn a_file_that_is_too_long_is_refused_unless_the_trailer_is_declared() {
    let key = TestKey::new();
    let mut bytes = key.bytes.clone();
    bytes.extend_from_slice(&[9; 100]);
    let error = key.open_bytes(&bytes).expect_err("too long");
    let text = error.to_string();
    let (expected, found) = (key.bytes.len(), bytes.len());
    assert!(
        text.contains(&format!("expected {expected} bytes")),
        "{text}"
    );
    assert!(text.contains(&format!("found {found}")), "{text}");
    let open = |trailer| {
        ProvingKey::open(
            key.path(),
            &OpenOptions {
                trailer_bytes: Some(trailer),
            },
        )
    };
    assert!(open(99).is_err());
    assert!(open(101).is_err());
    assert_eq!(open(100).expect("declared").trailer(), [9; 100]);
    assert!(key.open().trailer().is_empty());
}

#[test]
fn a_bad_point_of_the_verifying_key_is_found_when_the_file_is_opened() {
    let key = TestKey::new();
    let mut bytes = key.bytes.clone();
    bytes[868 + 2 * 96 + 50] ^= 1;
    assert!(matches!(
        key.open_bytes(&bytes),
        Err(KeyError::Format {
            defect: FormatError::Point {
                section: Section::Ic,
                index: 2,
                ..
            },
            ..
        })
    ));
}

#[test]
fn a_key_of_another_circuit_is_refused_with_the_vector_and_both_lengths() {
    let key = TestKey::new();
    let opened = key.open();
    let counts = opened.counts();
    let expect = |counts: &QueryCounts| counts.expect(&opened.counts(), opened.path());
    expect(&counts).expect("own circuit");
    let mut other = counts;
    other.l += 1;
    let text = expect(&other).expect_err("other circuit").to_string();
    let expected = format!("section l holds {} points, expected {}", counts.l, other.l);
    assert!(
        text.contains("test.params") && text.contains(&expected),
        "{text}"
    );
}

#[test]
fn a_flipped_bit_in_each_query_is_found_with_section_and_index() {
    let key = TestKey::new();
    let counts = key.open().counts();
    for section in [
        Section::H,
        Section::L,
        Section::A,
        Section::BG1,
        Section::BG2,
    ] {
        for index in [0, counts.of(section) as usize - 1] {
            let opened = key
                .open_bytes(&key.flipped(section, index))
                .expect("layout is whole");
            match opened.check_points(PointCheck::OnCurve, &silent) {
                Err(KeyError::Format {
                    defect:
                        FormatError::Point {
                            section: s,
                            index: i,
                            ..
                        },
                    ..
                }) => assert_eq!((s, i), (section, index)),
                other => panic!("unexpected {other:?}"),
            }
        }
    }
}

#[test]
fn the_first_of_two_bad_points_is_named() {
    let key = TestKey::new();
    let mut bytes = key.flipped(Section::A, 3);
    let later = key.flipped(Section::BG2, 1);
    let start = key.bytes.len() - 2 * 192;
    bytes[start..].copy_from_slice(&later[start..]);
    let error = key
        .open_bytes(&bytes)
        .expect("layout is whole")
        .check_points(PointCheck::OnCurve, &silent)
        .expect_err("two bad points");
    assert!(error.to_string().contains("section a index 3"), "{error}");
}

#[test]
fn a_point_outside_the_subgroup_passes_the_curve_check_only() {
    let key = TestKey::new();
    let layout = KeyLayout::of_params(&key.bytes, 0).expect("good key");
    let start = layout.range(Section::L).start + 96;
    let mut bytes = key.bytes.clone();
    // (0, 2) is on the curve and of order 3.
    bytes[start..start + 96].fill(0);
    bytes[start + 95] = 2;
    let opened = key.open_bytes(&bytes).expect("layout is whole");
    opened
        .check_points(PointCheck::OnCurve, &silent)
        .expect("on the curve");
    let error = opened
        .check_points(PointCheck::Subgroup, &silent)
        .expect_err("small order");
    assert!(
        error
            .to_string()
            .contains("section l index 1: point on the curve but not in the subgroup"),
        "{error}"
    );
    key.open()
        .check_points(PointCheck::Subgroup, &silent)
        .expect("good key");
}

#[test]
fn another_digest_is_refused_with_both_and_with_the_first_bad_point() {
    let key = TestKey::new();
    let digest = key.open().digest(&silent);
    assert_eq!(digest, KeyDigest::of_bytes(&key.bytes));
    let opened = key
        .open_bytes(&key.flipped(Section::H, 5))
        .expect("layout is whole");
    let text = opened
        .expect_digest(digest, &silent)
        .expect_err("flipped")
        .to_string();
    assert!(text.contains(&format!("expected {digest}")), "{text}");
    assert!(text.contains("section h index 5"), "{text}");
    let opened = key.open();
    opened.expect_digest(digest, &silent).expect("own digest");
    let text = opened
        .expect_digest(KeyDigest::of_bytes(b"other"), &silent)
        .expect_err("other digest")
        .to_string();
    assert!(!text.contains("bad point"), "{text}");
}

#[test]
fn a_manifest_made_from_an_empty_file_is_said_in_words() {
    let key = TestKey::new();
    let error = key
        .open()
        .expect_digest(KeyDigest::EMPTY_FILE, &silent)
        .expect_err("digest of nothing");
    assert!(
        error.to_string().contains("digest of an empty file"),
        "{error}"
    );
}

#[test]
fn a_check_is_remembered_until_the_file_changes() {
    let key = TestKey::new();
    let state = tempfile::tempdir().expect("folder");
    for place in [RecordPlace::BesideKey, RecordPlace::Folder(state.path())] {
        let opened = key.open();
        let request = CheckRequest {
            records: Some(place),
            ..REQUEST
        };
        let first = opened.check(&request, &silent).expect("good key");
        assert!(matches!(first.source, CheckSource::CheckedAndRecorded(_)));
        let units = AtomicU64::new(0);
        let second = opened
            .check(&request, &|_| {
                units.fetch_add(1, Ordering::Relaxed);
            })
            .expect("good key");
        assert!(matches!(second.source, CheckSource::Remembered(_)));
        assert_eq!((first.digest, units.into_inner()), (second.digest, 0));

        let damaged = key.flipped(Section::L, 0);
        let opened = key.open_bytes(&damaged).expect("layout is whole");
        let file = fs::File::open(key.path()).expect("open");
        let modified = file.metadata().expect("metadata").modified().expect("time");
        drop(opened);
        file.set_modified(modified + std::time::Duration::from_secs(1))
            .expect("set the time");
        let opened =
            ProvingKey::open(key.path(), &OpenOptions::default()).expect("layout is whole");
        opened.check(&request, &silent).expect_err("changed since");
    }
}

#[test]
fn a_remembered_check_still_compares_the_digest_and_is_repeated_for_a_deeper_one() {
    let key = TestKey::new();
    let opened = key.open();
    let request = CheckRequest {
        records: Some(RecordPlace::BesideKey),
        ..REQUEST
    };
    opened.check(&request, &silent).expect("good key");
    let other = CheckRequest {
        expected_digest: Some(KeyDigest::of_bytes(b"other")),
        ..request
    };
    assert!(matches!(
        opened.check(&other, &silent),
        Err(KeyError::Digest { .. })
    ));
    let deeper = CheckRequest {
        check: PointCheck::Subgroup,
        ..request
    };
    let report = opened.check(&deeper, &silent).expect("good key");
    assert!(matches!(report.source, CheckSource::CheckedAndRecorded(_)));
    let shallow = opened.check(&request, &silent).expect("good key");
    assert!(matches!(shallow.source, CheckSource::Remembered(_)));
    assert_eq!(shallow.check, PointCheck::Subgroup);
}

#[test]
fn a_record_that_cannot_be_written_does_not_refuse_the_key() {
    let key = TestKey::new();
    let not_a_folder = key.folder.path().join("file");
    fs::write(&not_a_folder, "").expect("write");
    let request = CheckRequest {
        records: Some(RecordPlace::Folder(&not_a_folder)),
        ..REQUEST
    };
    let report = key.open().check(&request, &silent).expect("good key");
    assert!(matches!(
        report.source,
        CheckSource::CheckedNotRecorded(KeyError::Io { .. })
    ));
}

#[test]
fn a_file_that_was_written_to_since_it_was_opened_is_refused() {
    let key = TestKey::new();
    let opened = key.open();
    let mut longer = key.bytes.clone();
    longer.push(0);
    fs::write(key.path(), &longer).expect("write");
    match opened.check(&REQUEST, &silent) {
        Err(KeyError::Changed {
            expected_bytes,
            found_bytes,
            ..
        }) => {
            assert_eq!(found_bytes, expected_bytes + 1);
        }
        other => panic!("unexpected {other:?}"),
    }
}

#[test]
fn progress_of_both_steps_ends_at_its_total() {
    let key = TestKey::of(&RandomCircuit {
        seed: 5,
        num_public: 1,
        num_products: 1500,
    });
    let opened = key.open();
    let (bytes, points) = (AtomicU64::new(0), AtomicU64::new(0));
    opened
        .check(&REQUEST, &|progress| {
            let (most, total) = match progress.step {
                KeyStep::Digest => (&bytes, opened.file_bytes()),
                KeyStep::Points => (&points, opened.counts().num_points()),
            };
            assert_eq!(progress.total, total);
            most.fetch_max(progress.done, Ordering::Relaxed);
        })
        .expect("good key");
    assert_eq!(bytes.into_inner(), opened.file_bytes());
    assert_eq!(points.into_inner(), opened.counts().num_points());
}

#[test]
fn bytes_that_are_read_are_those_that_are_mapped_and_none_beyond_the_section() {
    let key = TestKey::new();
    let opened = key.open();
    for section in Section::VECTORS {
        let mapped = opened.section_bytes(section);
        for first in [0, 1, mapped.len() / 2, mapped.len()] {
            let mut read = vec![0; mapped.len() - first];
            opened.read(section, first, &mut read).expect("inside");
            assert_eq!(read, mapped[first..], "{section} from {first}");
        }
        for first in [mapped.len(), usize::MAX] {
            let error = opened.read(section, first, &mut [0]).expect_err("beyond");
            assert!(
                matches!(&error, KeyError::Io { source, .. }
                    if source.kind() == std::io::ErrorKind::UnexpectedEof),
                "{error}"
            );
        }
    }
}

#[test]
fn queries_decode_to_the_points_of_bellperson_also_after_their_release() {
    let key = TestKey::new();
    let opened = key.open();
    let parameters =
        bellperson::groth16::Parameters::<Bls12>::read(&key.bytes[..], true).expect("own key");
    let queries = [
        (Section::H, &parameters.h),
        (Section::L, &parameters.l),
        (Section::A, &parameters.a),
        (Section::BG1, &parameters.b_g1),
    ];
    for (section, expected) in queries {
        opened.release(section, 0..expected.len());
        let points: Vec<G1Affine> = decoded::<Fp>(opened.section_bytes(section));
        assert_eq!(points, **expected);
    }
    let b_g2: Vec<G2Affine> = decoded::<Fp2>(opened.section_bytes(Section::BG2));
    assert_eq!(b_g2, *parameters.b_g2);

    let vk = opened.verifying_key();
    assert_eq!(vk.ic, parameters.vk.ic);
    assert_eq!(
        (vk.alpha_g1, vk.beta_g1),
        (parameters.vk.alpha_g1, parameters.vk.beta_g1)
    );
    assert_eq!(
        (vk.beta_g2, vk.gamma_g2),
        (parameters.vk.beta_g2, parameters.vk.gamma_g2)
    );
    assert_eq!(
        (vk.delta_g1, vk.delta_g2),
        (parameters.vk.delta_g1, parameters.vk.delta_g2)
    );
    let mut vk_bytes = Vec::new();
    parameters.vk.write(&mut vk_bytes).expect("write to memory");
    assert_eq!(vk.to_bytes(), vk_bytes);
    assert!(!bool::from(vk.alpha_g1.is_identity()));
}

fn decoded<F: SubgroupField>(bytes: &[u8]) -> Vec<F::BlstrsAffine> {
    bytes
        .chunks_exact(2 * F::BYTES)
        .map(|point| decode_point_unchecked::<F>(point).to_blstrs())
        .collect()
}
