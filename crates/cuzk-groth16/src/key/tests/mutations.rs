//! Damaged bytes are read or refused, with no panic and no access beyond the file.

use std::fs;
use std::sync::LazyLock;

use blstrs::G2Affine;
use group::prime::PrimeCurveAffine;
use proptest::prelude::*;

use super::{TestKey, silent};
use crate::field::{Fp, Fp2};
use crate::key::{KeyLayout, OpenOptions, PointCheck, ProvingKey, Section, read_point};
use crate::verifying_key::VerifyingKey;

/// One change to a file's bytes.
#[derive(Clone, Debug)]
enum Mutation {
    Flip {
        at: prop::sample::Index,
        mask: u8,
    },
    Cut {
        at: prop::sample::Index,
    },
    Append {
        bytes: Vec<u8>,
    },
    Fill {
        at: prop::sample::Index,
        len: u8,
        value: u8,
    },
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        4 => (any::<prop::sample::Index>(), 1..=u8::MAX).prop_map(|(at, mask)| Mutation::Flip { at, mask }),
        1 => any::<prop::sample::Index>().prop_map(|at| Mutation::Cut { at }),
        1 => proptest::collection::vec(any::<u8>(), 1..200).prop_map(|bytes| Mutation::Append { bytes }),
        2 => (any::<prop::sample::Index>(), any::<u8>(), any::<u8>())
            .prop_map(|(at, len, value)| Mutation::Fill { at, len, value }),
    ]
}

fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation, range: std::ops::Range<usize>) {
    let range = range.start.min(bytes.len())..range.end.min(bytes.len());
    if range.is_empty() {
        return;
    }
    let place = |at: &prop::sample::Index| range.start + at.index(range.len());
    match mutation {
        Mutation::Flip { at, mask } => bytes[place(at)] ^= mask,
        Mutation::Cut { at } => bytes.truncate(place(at)),
        Mutation::Append { bytes: more } => bytes.extend_from_slice(more),
        Mutation::Fill { at, len, value } => {
            let start = place(at);
            let end = range.end.min(start + usize::from(*len));
            bytes[start..end].fill(*value);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The layout is where lengths are trusted or not; half of the changes hit the length fields' neighbourhood.
    #[test]
    fn layouts_of_mutated_files_are_read_or_refused_and_never_exceed_the_file(
        mutations in proptest::collection::vec(mutation(), 1..4),
        near_count in 0_usize..12,
    ) {
        let mut bytes = SMALL_LAYOUT.clone();
        let whole = bytes.len();
        let range = SMALL_COUNTS.get(near_count).map_or(0..whole, |at| *at..at + 4);
        for change in &mutations {
            mutate(&mut bytes, change, range.clone());
        }
        if let Ok(layout) = KeyLayout::of_params(&bytes, 0) {
            for section in Section::HEADER.into_iter().chain(Section::VECTORS) {
                let range = layout.range(section);
                prop_assert!(range.end <= bytes.len());
                prop_assert_eq!(range.len() as u64, layout.counts().of(section) * section.point_bytes() as u64);
            }
            prop_assert_eq!(layout.counts().file_bytes(), bytes.len() as u64);
        }
        let _ = KeyLayout::of_verifying_key(&bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_points_are_refused_or_are_points(bytes in mutated_points()) {
        if let Ok(point) = read_point::<Fp>(&bytes[..96], PointCheck::OnCurve) {
            prop_assert!(point.is_on_curve() && !point.is_infinity());
        }
        if let Ok(point) = read_point::<Fp2>(&bytes, PointCheck::OnCurve) {
            prop_assert!(point.is_on_curve() && !point.is_infinity());
        }
    }

    #[test]
    fn mutated_verifying_keys_are_refused_or_encode_to_themselves(
        mutations in proptest::collection::vec(mutation(), 1..3),
    ) {
        let mut bytes = VERIFYING_KEY.clone();
        let whole = bytes.len();
        for change in &mutations {
            mutate(&mut bytes, change, 0..whole);
        }
        if let Ok(key) = VerifyingKey::from_bytes(&bytes) {
            prop_assert_eq!(key.to_bytes(), bytes);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_key_files_are_refused_or_checked_without_a_panic(
        mutations in proptest::collection::vec(mutation(), 1..3),
    ) {
        let mut bytes = KEY.bytes.clone();
        let whole = bytes.len();
        for change in &mutations {
            mutate(&mut bytes, change, 0..whole);
        }
        let file = tempfile::NamedTempFile::new().expect("file");
        fs::write(file.path(), &bytes).expect("write");
        let Ok(key) = ProvingKey::open(file.path(), &OpenOptions::default()) else {
            return Ok(());
        };
        let changed = bytes != KEY.bytes;
        prop_assert_eq!(key.check_points(PointCheck::OnCurve, &silent).is_err(), changed);
    }
}

static KEY: LazyLock<TestKey> = LazyLock::new(TestKey::new);

static VERIFYING_KEY: LazyLock<Vec<u8>> = LazyLock::new(|| KEY.bytes[..868 + 4 * 96].to_vec());

/// A small well-formed layout; its points are zeros.
static SMALL_LAYOUT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut bytes = vec![0; 864];
    for (section, count) in Section::VECTORS.into_iter().zip([1_u32, 1, 2, 2, 1, 1]) {
        bytes.extend_from_slice(&count.to_be_bytes());
        bytes.resize(bytes.len() + count as usize * section.point_bytes(), 0);
    }
    bytes
});

/// Offsets of the length fields of [`SMALL_LAYOUT`].
static SMALL_COUNTS: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let layout = KeyLayout::of_params(&SMALL_LAYOUT, 0).expect("well formed");
    Section::VECTORS
        .into_iter()
        .map(|section| layout.range(section).start - 4)
        .collect()
});

fn mutated_points() -> impl Strategy<Value = Vec<u8>> {
    let generator = G2Affine::generator().to_uncompressed();
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 192),
        (0_usize..192, any::<u8>()).prop_map(move |(at, mask)| {
            let mut bytes = generator.to_vec();
            bytes[at] ^= mask;
            bytes
        }),
        (0_usize..192, 0_u8..8).prop_map(|(at, bit)| {
            let mut bytes = vec![0; 192];
            bytes[0] = 0x40;
            bytes[at] ^= 1 << bit;
            bytes
        }),
    ]
}
