//! Replication requests that must be refused before their vanilla proof is looked at.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cuzk_circuits::{PoRepRequest, decode_porep};

use crate::fixture::{MINER_ID, c1_text, fixture, with_c1_text};

/// A wrapper to be refused: what is wrong, the text made from the good one, parts of the message.
type TextCase = (&'static str, fn(&str) -> String, &'static [&'static str]);
/// A header to be refused: what is wrong, the edit, parts of the message.
type HeaderCase = (&'static str, fn(&mut PoRepRequest), &'static [&'static str]);

pub(crate) fn expect_refused(what: &str, request: &PoRepRequest, parts: &[&str]) {
    let error = match decode_porep(request) {
        Ok(statement) => panic!("{what}: accepted as {statement:?}"),
        Err(error) => error.to_string(),
    };
    for part in parts {
        assert!(error.contains(part), "{what}: {part:?} is not in {error:?}");
    }
    let len = error.len();
    assert!(len < 2000, "{what}: {len} bytes of message");
}

const WRAPPERS: &[TextCase] = &[
    (
        "nothing",
        |_| String::new(),
        &["vanilla_proof at . (byte 0)"],
    ),
    (
        "words",
        |_| "hello".into(),
        &["at . (byte 0)", "expected value"],
    ),
    ("a list", |_| "[1,2]".into(), &["vanilla_proof at "]),
    (
        "a byte-order mark",
        |good| format!("\u{feff}{good}"),
        &["vanilla_proof begins with a byte-order mark"],
    ),
    (
        "a tail",
        |good| format!("{good} x"),
        &["trailing characters"],
    ),
    (
        "two objects",
        |good| format!("{good}{good}"),
        &["trailing characters"],
    ),
    (
        "a missing key",
        |good| good.replacen(",\"SectorSize\":2048", "", 1),
        &["missing field `SectorSize`"],
    ),
    (
        "an unknown key",
        |good| good.replacen('{', "{\"Miner\":1,", 1),
        &["unknown field `Miner`"],
    ),
    (
        "another case",
        |good| good.replacen("SectorNum", "sectornum", 1),
        &["unknown field `sectornum`"],
    ),
    (
        "a key twice",
        |good| good.replacen('{', "{\"SectorNum\":1,", 1),
        &["duplicate field `SectorNum`"],
    ),
    (
        "a negative number",
        |good| number(good, "-1"),
        &["vanilla_proof at SectorNum", "-1"],
    ),
    (
        "a fraction",
        |good| number(good, "1.5"),
        &["vanilla_proof at SectorNum", "1.5"],
    ),
    (
        "not a number",
        |good| number(good, "NaN"),
        &["vanilla_proof at SectorNum (byte 13)"],
    ),
    (
        "another sector",
        |good| number(good, "2"),
        &["vanilla_proof.SectorNum is 2, expected 1"],
    ),
    (
        "another size",
        |good| good.replacen("2048", "8388608", 1),
        &["vanilla_proof.SectorSize is 8388608", "means 2048"],
    ),
    (
        "a number as payload",
        |good| good.replacen("\"Phase1Out\":\"", "\"Phase1Out\":7,\"X\":\"", 1),
        &["vanilla_proof at Phase1Out"],
    ),
    (
        "damaged base64",
        |good| payload(good, |base64| base64.replace_range(100..101, "!")),
        &["Phase1Out (byte 100)"],
    ),
    (
        "base64 with a line break",
        |good| payload(good, |base64| base64.insert_str(76, "\\n")),
        &["Phase1Out (byte 76)"],
    ),
    (
        "truncated base64",
        |good| payload(good, |base64| base64.truncate(1001)),
        &["Phase1Out (byte 100"],
    ),
    (
        "base64 without its end",
        |good| payload(good, |base64| base64.truncate(1000)),
        &["Phase1Out at vanilla_proofs", "(byte 749)", "EOF"],
    ),
];

const HEADERS: &[HeaderCase] = &[
    (
        "an unknown number",
        |r| r.registered_proof = 20,
        &["20 is unknown", "19"],
    ),
    (
        "another version",
        |r| r.registered_proof = 0,
        &["registered_proof is StackedDrg2KiBV1_1, the request says StackedDrg2KiBV1"],
    ),
    (
        "another size",
        |r| r.registered_proof = 6,
        &["sector_size is 2048", "StackedDrg8MiBV1_1 means 8388608"],
    ),
    (
        "another sector size",
        |r| r.sector_size = 2049,
        &["sector_size is 2049", "means 2048"],
    ),
    (
        "no sector size",
        |r| r.sector_size = 0,
        &["sector_size is 0"],
    ),
    (
        "non-interactive",
        |r| r.registered_proof = 15,
        &["NonInteractivePoRep", "aggregation is not available"],
    ),
    (
        "another miner",
        |r| r.miner_id = 1001,
        &["miner 1001, sector 1", "another sector"],
    ),
    (
        "another sector",
        |r| r.sector_number = 2,
        &["SectorNum is 1, expected 2"],
    ),
];

#[test]
fn the_wrapper_must_be_exact() {
    let good = String::from_utf8(fixture().porep.vanilla_proof.to_vec()).expect("text");
    for (what, edit, parts) in WRAPPERS {
        let bad = edit(&good);
        assert_ne!(bad, good, "{what}");
        let mut request = fixture().porep.clone();
        request.vanilla_proof = bad.into();
        expect_refused(what, &request, parts);
    }
}

#[test]
fn the_header_must_agree_with_the_payload() {
    for (what, edit, parts) in HEADERS {
        let mut request = fixture().porep.clone();
        edit(&mut request);
        expect_refused(what, &request, parts);
    }
}

#[test]
fn a_valid_proof_of_another_sector_is_refused() {
    let other = c1_text(&fixture().other_porep);
    expect_refused(
        "C1 of sector 2",
        &with_c1_text(&fixture().porep, other),
        &[&format!("miner {MINER_ID}, sector 1"), "another sector"],
    );
}

#[test]
fn huge_junk_is_refused_at_once() {
    let mut header = fixture().porep.clone();
    header.registered_proof = 8;
    header.sector_size = 32 << 30;
    let valid_base64 = format!(
        "{{\"SectorNum\":1,\"SectorSize\":34359738368,\"Phase1Out\":\"{}\"}}",
        STANDARD.encode(vec![b'['; 75_000_000])
    );
    for (what, payload, part) in [
        ("200 MB", "\0".repeat(200_000_000), "at most"),
        ("brackets", "[".repeat(100_000_000), "byte"),
        ("keys", "{\"a\":".repeat(20_000_000), "unknown field"),
        ("spaces", " ".repeat(100_000_000), "EOF"),
        ("base64 of brackets", valid_base64, "Phase1Out at "),
    ] {
        let mut request = header.clone();
        request.vanilla_proof = payload.into();
        let start = thread_time();
        expect_refused(what, &request, &[part]);
        let elapsed = thread_time().saturating_sub(start);
        assert!(elapsed < Duration::from_secs(1), "{what}: {elapsed:?}");
    }
}

/// The wrapper with another sector number.
fn number(good: &str, text: &str) -> String {
    good.replacen("\"SectorNum\":1", &format!("\"SectorNum\":{text}"), 1)
}

/// The wrapper with its base64 edited.
fn payload(good: &str, edit: impl FnOnce(&mut String)) -> String {
    const KEY: &str = "\"Phase1Out\":\"";
    let start = good.find(KEY).expect("a payload") + KEY.len();
    let end = start + good[start..].find('"').expect("an end");
    let mut base64 = good[start..end].to_owned();
    edit(&mut base64);
    format!("{}{base64}{}", &good[..start], &good[end..])
}

/// Time that this thread has run, so that a loaded machine does not count.
fn thread_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split(' ').next().and_then(|field| field.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}
