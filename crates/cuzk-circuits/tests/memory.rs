//! Junk must not cost memory. Alone in its process, because it looks at the process's peak.

use bytes::Bytes;
use cuzk_circuits::{PoRepRequest, decode_porep};

const MIB: usize = 1 << 20;

#[test]
fn junk_of_the_largest_accepted_size_leaves_memory_unchanged() {
    let request = |vanilla_proof: Vec<u8>| PoRepRequest {
        registered_proof: 8,
        sector_size: 32 << 30,
        miner_id: 1000,
        sector_number: 1,
        vanilla_proof: Bytes::from(vanilla_proof),
    };
    // The first use fills upstream's tables.
    decode_porep(&request(Vec::new())).expect_err("nothing");
    let lists = format!(
        "{{\"SectorNum\":1,\"SectorSize\":{},\"Phase1Out\":[{}",
        32_u64 << 30,
        "[],".repeat(30 * MIB)
    );
    for junk in [
        vec![b'{'; 100 * MIB],
        vec![0; 200 * MIB],
        lists.into_bytes(),
    ] {
        let request = request(junk);
        reset_peak();
        let before = peak_bytes();
        decode_porep(&request).expect_err("junk");
        let growth = peak_bytes().saturating_sub(before);
        assert!(growth < MIB, "{growth} bytes more");
    }
}

/// Sets the kernel's peak of this process to what it uses now.
fn reset_peak() {
    std::fs::write("/proc/self/clear_refs", "5").expect("Linux has this file");
}

fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has this file");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|value| value.trim().strip_suffix(" kB"));
    kilobytes
        .and_then(|value| value.trim().parse::<usize>().ok())
        .expect("a number of kilobytes")
        * 1024
}
