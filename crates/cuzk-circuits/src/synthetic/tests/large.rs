//! The sizes of the main network: minutes and gigabytes in all, so ignored by default.

use std::fs;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::*;
use crate::{PoStRequest, SnapDealsRequest};

const GIB: u64 = 1 << 30;

/// What making a request cost.
struct Cost {
    making: Duration,
    /// Of the process, so far.
    peak_rss_bytes: u64,
    payload_bytes: usize,
}

fn peak_rss_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("the kernel counts it");
    let kib = line.trim().trim_end_matches(" kB");
    kib.parse::<u64>().expect("a number") << 10
}

fn payload_bytes(request: &ProofRequest) -> usize {
    match request {
        ProofRequest::PoRep(request) => request.vanilla_proof.len(),
        ProofRequest::SnapDeals(SnapDealsRequest { vanilla_proofs, .. })
        | ProofRequest::WindowPoSt(PoStRequest { vanilla_proofs, .. })
        | ProofRequest::WinningPoSt(PoStRequest { vanilla_proofs, .. }) => {
            vanilla_proofs.iter().map(Bytes::len).sum()
        }
    }
}

/// Makes the request in little memory, and upstream accepts all of its partitions.
#[expect(
    clippy::print_stderr,
    reason = "the numbers are what the test is run for"
)]
fn is_made_and_accepted(kind: SyntheticKind, size: SectorSize, num_partitions: usize) -> Statement {
    let spec = spec(kind, size, SectorData::Random);
    let begin = Instant::now();
    let request = spec.request().expect("a synthetic sector");
    let cost = Cost {
        making: begin.elapsed(),
        peak_rss_bytes: peak_rss_bytes(),
        payload_bytes: payload_bytes(&request),
    };
    let begin = Instant::now();
    let statement = request.decode().expect("a well-formed request");
    let decoding = begin.elapsed();
    let begin = Instant::now();
    statement.check_vanilla().expect("upstream accepts it");
    eprintln!(
        "{}: made in {:.2?} with a peak of {} MiB, {} bytes; decoded in {decoding:.2?}, verified \
         in {:.2?}",
        spec.circuit_id(),
        cost.making,
        cost.peak_rss_bytes >> 20,
        cost.payload_bytes,
        begin.elapsed(),
    );
    assert_eq!(statement.num_partitions(), num_partitions);
    assert!(cost.peak_rss_bytes < GIB, "{} bytes", cost.peak_rss_bytes);
    statement
}

const POREP: SyntheticKind = SyntheticKind::PoRep(SealVariant::V1_1);

#[test]
#[ignore = "seconds, and measures the memory of the process: run it alone"]
fn porep_at_512_mib_is_made_and_accepted() {
    is_made_and_accepted(POREP, SectorSize::Mib512, 1);
}

#[test]
#[ignore = "seconds, and measures the memory of the process: run it alone"]
fn porep_at_32_gib_is_made_and_accepted() {
    is_made_and_accepted(POREP, SectorSize::Gib32, 10);
}

#[test]
#[ignore = "seconds, and measures the memory of the process: run it alone"]
fn porep_at_64_gib_is_made_and_accepted() {
    is_made_and_accepted(POREP, SectorSize::Gib64, 10);
}

#[test]
#[ignore = "seconds, and measures the memory of the process: run it alone"]
fn snap_at_32_gib_is_made_and_accepted() {
    is_made_and_accepted(SyntheticKind::SnapDeals, SectorSize::Gib32, 16);
}

#[test]
#[ignore = "seconds, and measures the memory of the process: run it alone"]
fn snap_at_64_gib_is_made_and_accepted() {
    is_made_and_accepted(SyntheticKind::SnapDeals, SectorSize::Gib64, 16);
}

#[test]
#[ignore = "minutes on two cores, and measures the memory of the process: run it alone"]
fn window_post_at_32_gib_is_made_and_accepted() {
    let kind = SyntheticKind::WindowPoSt {
        num_sectors: MAX_SECTORS,
    };
    is_made_and_accepted(kind, SectorSize::Gib32, 1);
}

#[test]
#[ignore = "seconds, and measures the memory of the process: run it alone"]
fn winning_post_at_32_gib_is_made_accepted_and_satisfied() {
    let statement = is_made_and_accepted(SyntheticKind::WinningPoSt, SectorSize::Gib32, 1);
    is_satisfied(&statement, 0);
    has_public_inputs(&statement, 0);
}

#[test]
#[ignore = "seconds, and measures the memory of the process: run it alone"]
fn winning_post_at_64_gib_is_made_accepted_and_satisfied() {
    let statement = is_made_and_accepted(SyntheticKind::WinningPoSt, SectorSize::Gib64, 1);
    is_satisfied(&statement, 0);
    has_public_inputs(&statement, 0);
}

#[test]
#[ignore = "minutes and 5 GiB: 130 million constraints"]
fn porep_at_32_gib_satisfies_the_first_partition() {
    is_satisfied(
        &statement(spec(POREP, SectorSize::Gib32, SectorData::Random)),
        0,
    );
}

#[test]
#[ignore = "minutes and 4 GiB: 81 million constraints"]
fn snap_at_32_gib_satisfies_the_first_partition() {
    let kind = SyntheticKind::SnapDeals;
    is_satisfied(
        &statement(spec(kind, SectorSize::Gib32, SectorData::Random)),
        0,
    );
}
